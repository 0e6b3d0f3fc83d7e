"""System Two: a stronger model elsewhere that looks at what would otherwise wait for a person.

It never answers inside a hook's time, approves nothing of the always-human class (core.human), and whatever is unclear
about its answer means that a person decides.
"""

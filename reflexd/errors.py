"""The few errors that are handled differently from one another.

A helper's failure that policy can rule on is a value, never one of these.
"""


class ReflexError(Exception):
    """Something foreseen went wrong: shown to the user as one line, with a hint where there is one."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class PayloadError(ReflexError):
    """An agent's payload could not be understood. Before a tool call that means: not allowed."""


class FrameError(ReflexError):
    """A frame on one of our sockets is malformed, oversize, or came too slowly."""


class UnsafePathError(ReflexError):
    """A directory, socket or file of ours has the wrong type, owner or mode. Refused, never repaired."""


class Unreachable(ReflexError):
    """The daemon does not answer: absent, refusing, hung, or gone while we waited."""


class Refused(ReflexError):
    """The daemon answered, and the answer is that this caller may not do that."""


class PolicyError(ReflexError):
    """A policy, rules or settings file is broken; the message names the file and the line."""

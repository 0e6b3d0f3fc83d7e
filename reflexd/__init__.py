"""reflex: a per-user gate for the tool calls of coding agents."""

__version__ = "0.1.0"

"""The agents, and how calls are treated."""

from __future__ import annotations

from typing import Literal

__all__ = [
    "AGENTS",
    "Agent",
    "Mode",
    "Profile",
]

Agent = Literal["claude", "codex", "opencode", "pi", "hermes"]
AGENTS: tuple[Agent, ...] = ("claude", "codex", "opencode", "pi", "hermes")

Mode = Literal["off", "shadow", "enforce"]
Profile = Literal["supervised", "autonomous"]

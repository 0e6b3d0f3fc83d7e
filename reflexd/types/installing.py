"""Where things lie, and what setup would change."""

from __future__ import annotations

from msgspec import Struct

from reflexd.types.agents import Agent

__all__ = [
    "Places",
    "PlannedEdit",
]


class Places(Struct, frozen=True):
    """Where one user's agents and reflex live; every path absolute, fixed at install.

    `agent_homes` maps an agent to its configuration directory (~/.claude, $CODEX_HOME,
    ~/.config/opencode, ~/.pi/agent, $HERMES_HOME). `python` is the real interpreter,
    never a version manager's shim or a virtual environment's link.
    """

    home: str
    share: str
    state: str
    config: str
    socket: str
    python: str
    uid: int
    agent_homes: tuple[tuple[Agent, str], ...] = ()

    def agent_home(self, agent: Agent) -> str:
        return dict(self.agent_homes)[agent]


class PlannedEdit(Struct, frozen=True):
    """One file that setup would change. `before` None: it is not there yet; `after` None: remove it."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    mode: int = 0o600

"""What the running daemon remembers of the calls it answered. Plain bookkeeping, no I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterable

from reflexd.control import AgentSeen
from reflexd.types import Agent, Decision

HOOKED_MAX = 256
PLUGINS: frozenset[Agent] = frozenset({"opencode", "pi", "hermes"})
"""Agents that ask from their own process. The others' hooks are processes of a moment."""


class Sessions:
    """Written from the loop's thread alone; whoever reads gets a copy."""

    def __init__(self, seen: Iterable[AgentSeen] = ()) -> None:
        self._seen: dict[Agent, AgentSeen] = {agent.agent: agent for agent in seen}
        self._decisions: dict[str, int] = {}
        self._hooked: dict[int, float] = {}

    def note_event(self, agent: Agent, event: str, session: str, pid: int, at: float) -> None:
        """A well-formed event came from a hook of `agent` (at Unix time)."""
        before = self._seen.get(agent)
        self._seen[agent] = AgentSeen(agent, event, at, session, before.count + 1 if before else 1)
        if agent in PLUGINS and pid > 0:
            self._hooked.pop(pid, None)
            self._hooked[pid] = at
            if len(self._hooked) > HOOKED_MAX:
                del self._hooked[next(iter(self._hooked))]

    def note_decision(self, decision: Decision) -> None:
        self._decisions[decision.value] = self._decisions.get(decision.value, 0) + 1

    @property
    def seen(self) -> tuple[AgentSeen, ...]:
        return tuple(self._seen.values())

    @property
    def decisions(self) -> dict[str, int]:
        return dict(self._decisions)

    @property
    def hooked(self) -> dict[int, float]:
        """Processes that asked about calls of their own, and when they last did."""
        return dict(self._hooked)

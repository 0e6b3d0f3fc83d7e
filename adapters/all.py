"""The agents that reflex answers: one module each, listed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from reflexd.adapters import claude, codex, hermes, opencode, pi
from reflexd.types import Agent, Event, Places, PlannedEdit, Reply, Verdict


class Adapter(Protocol):
    """What each of the modules has. Everything is pure; parse raises PayloadError alone, render nothing.

    The functions that plan edits raise ReflexError where a file of the user's cannot be edited safely.
    """

    NAME: Agent
    EVENTS: tuple[str, ...]
    GUARDED: frozenset[str]
    INJECTS: frozenset[str]
    """The events of a prompt to which the agent lets something be added."""

    def parse(self, event: str, payload: bytes) -> Event: ...
    def render(self, event: str, verdict: Verdict, can_ask: bool) -> Reply: ...
    def inject(self, event: str, text: str) -> Reply: ...
    def files(self, places: Places) -> tuple[str, ...]: ...
    def hooks_in(self, places: Places) -> tuple[str, ...]: ...
    def edits(self, places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]: ...
    def removals(self, places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]: ...
    def gaps(self, places: Places, current: Mapping[str, bytes | None]) -> tuple[str, ...]: ...


ADAPTERS: dict[Agent, Adapter] = {
    module.NAME: cast(Adapter, module) for module in (claude, codex, opencode, pi, hermes)
}

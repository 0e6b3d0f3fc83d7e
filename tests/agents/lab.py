"""One agent, hooked by reflex, in a world of its own with a scripted LLM."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from msgspec import Struct

from tests.agents.drivers import Driver
from tests.agents.drivers.base import agents_dir
from tests.agents.gate import Arrange, Gate
from tests.agents.judge import Recorder
from tests.agents.llm import Script, ScriptedLlm, Step
from tests.agents.llm.script import MAIN
from tests.agents.world import Finished, World, run


class Lab(Struct, frozen=True):
    driver: Driver
    world: World
    llm: ScriptedLlm
    gate: Gate
    judge: Recorder

    def play(
        self,
        steps: tuple[Step, ...],
        subagents: Mapping[str, tuple[Step, ...]] | None = None,
        flags: tuple[str, ...] = (),
    ) -> Played:
        """One headless run of the agent over a script."""
        self.llm.play(Script(steps, dict(subagents or {})))
        env = self.world.environment(self.driver.environment(self.world, self.llm.url))
        argv = self.driver.command(os.path.join(agents_dir(), self.driver.PROGRAM))
        finished = run([*argv, *flags], self.world.repository, env)
        threads = {thread: self.llm.results(thread) for thread in (MAIN, *(subagents or {}))}
        return Played(finished, threads, self.llm.turns(MAIN), tuple(self.llm.failures))

    def touch(self, name: str, scene: Callable[[], None] | None = None) -> Step:
        """A turn with a harmless call that leaves marker `name`."""
        return Step((self.driver.shell(f"touch {self.world.mark(name)}"),), scene)

    def shim(self) -> str:
        """Our file in the agent, or for the agent."""
        return os.path.join(self.world.home, self.driver.SHIM)


class Played(Struct, frozen=True):
    """One run's evidence beside the markers: what the model was told, by conversation and call."""

    finished: Finished
    threads: Mapping[str, Mapping[tuple[int, int], str]]
    turns: int
    """How often the main conversation asked the model."""
    failures: tuple[str, ...]

    def told(self, step: int, number: int = 0, thread: str = MAIN) -> str | None:
        return self.threads[thread].get((step, number))

    def why(self) -> str:
        """For the message of a failed test."""
        return f"exit {self.finished.code}; {self.failures}; {self.finished.output[-3000:]}"


def spoken(told: str | None) -> str:
    """The hook's own words. Claude Code puts the hook's command before them, which holds our hint as well."""
    return (told or "").rpartition("]: ")[2]


class Scenes:
    """What goes on while a turn's calls run: each scene undoes the one before."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._undo = ExitStack()

    def __enter__(self) -> Scenes:
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def to(self, arrange: Arrange) -> Callable[[], None]:
        def change() -> None:
            self._undo.close()
            arrange(self._gate, self._undo)

        return change


def healthy(gate: Gate, undo: ExitStack) -> None:
    """The scene in which nothing is wrong."""

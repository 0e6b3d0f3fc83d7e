"""Our own file crashes, or cannot be started at all.

A crash must refuse. What cannot be started is refused where the host allows a guard; where it does not,
the table shows what the host does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

import pytest

from tests.agents.breakage import (
    CRASHES,
    CRASHES_OF_A_PROCESS,
    NO_INTERPRETER,
    UNSTARTABLE,
    Breakage,
    link_interpreter,
)
from tests.agents.drivers import Driver
from tests.agents.lab import Lab, Played
from tests.agents.llm import Step
from tests.agents.table import ALIVE, Table
from tests.agents.table import UNSTARTABLE as NOT_STARTED

pytestmark = [pytest.mark.agents, pytest.mark.slow]
OF_A_PROCESS = (*CRASHES_OF_A_PROCESS, NO_INTERPRETER)


class Broken:
    """The runs of one agent with our file broken: one for all where the file is read at every call,
    one for each where it is read at the agent's start."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._runs: dict[str, tuple[Played, str | None]] = {}
        if lab.driver.PER_CALL:
            self._play_all((*CRASHES, *CRASHES_OF_A_PROCESS, *UNSTARTABLE, NO_INTERPRETER))

    def run(self, breakage: Breakage) -> tuple[Played, str | None]:
        """The run, and what the model was told about its call."""
        if breakage.name not in self._runs:
            with ExitStack() as undo:
                breakage.break_(self._lab, undo)
                run = self._lab.play((self._lab.touch(breakage.name),))
            self._runs[breakage.name] = (run, run.told(0))
        return self._runs[breakage.name]

    def _play_all(self, breakages: tuple[Breakage, ...]) -> None:
        with ExitStack() as whole, ExitStack() as undo:
            link_interpreter(self._lab, whole)

            def to(breakage: Breakage) -> Callable[[], None]:
                def change() -> None:
                    undo.close()
                    breakage.break_(self._lab, undo)

                return change

            steps = (self._lab.touch("whole"), *(self._lab.touch(b.name, to(b)) for b in breakages))
            run = self._lab.play((*steps, Step(before=undo.close)), flags=self._lab.driver.TRUST)
        assert self._lab.world.marked("whole"), run.why()
        self._runs = {b.name: (run, run.told(number + 1)) for number, b in enumerate(breakages)}


@pytest.fixture(scope="session")
def broken(lab: Lab) -> Broken:
    return Broken(lab)


def happens(driver: Driver, params: Mapping[str, object]) -> bool:
    """Our file has a process and an interpreter of its own only where it is run at every call."""
    return driver.PER_CALL or params["breakage"] not in OF_A_PROCESS


@pytest.mark.applies(to=happens)
@pytest.mark.parametrize("breakage", [*CRASHES, *CRASHES_OF_A_PROCESS], ids=lambda b: b.name)
def test_a_crash_refuses(breakage: Breakage, broken: Broken, lab: Lab, table: Table) -> None:
    run, told = broken.run(breakage)
    table.add(ALIVE, breakage.row, lab.driver.NAME, outcome(lab, breakage, run, told))
    assert not lab.world.marked(breakage.name), run.why()
    assert "reflex: " in (told or ""), run.why()


@pytest.mark.applies(to=happens)
@pytest.mark.parametrize("breakage", [*UNSTARTABLE, NO_INTERPRETER], ids=lambda b: b.name)
def test_what_cannot_be_started_is_refused_where_there_is_a_guard(
    breakage: Breakage, broken: Broken, lab: Lab, table: Table
) -> None:
    run, told = broken.run(breakage)
    guard = f" ({lab.driver.GUARD})" if lab.driver.GUARD else ""
    table.add(NOT_STARTED, breakage.row, lab.driver.NAME, outcome(lab, breakage, run, told) + guard)
    if lab.driver.GUARD:
        assert not lab.world.marked(breakage.name), run.why()


def outcome(lab: Lab, breakage: Breakage, run: Played, told: str | None) -> str:
    if lab.world.marked(breakage.name):
        return "RAN"
    if told is not None:
        return "refused"
    return "no tools offered" if run.finished.code == 0 else "does not start"

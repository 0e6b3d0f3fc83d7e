"""A whole session without a daemon: the person's prompt reaches the model, no tool runs, and the session
ends by itself. Hooks that only observe must not lock anyone out or set the model to work for ever."""

from __future__ import annotations

import signal
from contextlib import ExitStack

import pytest

from tests.agents.faults import START_HINT
from tests.agents.lab import Lab, Played, spoken

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@pytest.fixture(scope="session")
def orphan(lab: Lab) -> Played:
    with ExitStack() as undo:
        lab.gate.restart_after(undo, signal.SIGTERM)
        return lab.play((lab.touch("orphan"),))


def test_no_tool_runs_and_the_model_is_told_how_to_start_the_daemon(orphan: Played, lab: Lab) -> None:
    assert not lab.world.marked("orphan"), orphan.why()
    assert START_HINT in spoken(orphan.told(0)), orphan.why()


def test_the_session_begins_and_ends_as_always(orphan: Played) -> None:
    assert orphan.finished.code == 0, orphan.why()
    assert orphan.turns == 2, orphan.why()

"""The daemon fails in every way we know of while a call waits: no call runs, and the model is told why.

One run of each agent goes through all faults, with a call that must run before and after them.
"""

from __future__ import annotations

import pytest

from tests.agents.faults import FAULTS, FOREIGN_FAULTS, Fault
from tests.agents.lab import Lab, Played, Scenes, healthy, spoken
from tests.agents.llm import Step
from tests.agents.table import ALIVE, Table

pytestmark = [pytest.mark.agents, pytest.mark.slow]
TOO_LONG = 8 * 1024 * 1024 + 1


@pytest.fixture(scope="session")
def run(lab: Lab) -> Played:
    with Scenes(lab.gate) as scenes:
        absent = scenes.to(FAULTS[0].arrange)
        mcp = lab.driver.mcp({"name": "mcp-absent"})
        # As an MCP call where there is MCP: what a host does with a command line of this size can take minutes.
        long = lab.driver.mcp({"name": "long", "padding": "x" * TOO_LONG}) or lab.driver.shell(
            f"touch {lab.world.mark('long')} # {'x' * TOO_LONG}"
        )
        return lab.play(
            (
                lab.touch("healthy-before"),
                *(lab.touch(fault.name, scenes.to(fault.arrange)) for fault in FAULTS),
                lab.touch("healthy-after", scenes.to(healthy)),
                *((Step((mcp,), absent),) if mcp else ()),
                Step((long,), scenes.to(healthy)),
            )
        )


@pytest.fixture(scope="session")
def foreign_run(lab: Lab) -> Played:
    with Scenes(lab.gate) as scenes:
        return lab.play(
            (
                lab.touch("root-before"),
                *(lab.touch(fault.name, scenes.to(fault.arrange)) for fault in FOREIGN_FAULTS),
                lab.touch("root-after", scenes.to(healthy)),
            )
        )


@pytest.mark.parametrize("mark", ["healthy-before", "healthy-after"])
def test_calls_run_before_and_after_the_faults(mark: str, run: Played, lab: Lab) -> None:
    assert lab.world.marked(mark), run.why()


@pytest.mark.parametrize("number", range(len(FAULTS)), ids=[fault.name for fault in FAULTS])
def test_no_call_runs(number: int, run: Played, lab: Lab, table: Table) -> None:
    fault = FAULTS[number]
    judge(fault, lab, run, run.told(1 + number), table)


@pytest.mark.applies(to=lambda driver, params: driver.mcp({}))
def test_no_mcp_call_runs_without_the_daemon(run: Played, lab: Lab, table: Table) -> None:
    fault = Fault("mcp-absent", "daemon absent, an MCP tool", healthy)
    judge(fault, lab, run, run.told(2 + len(FAULTS)), table)


def test_a_call_too_long_to_be_judged_does_not_run(run: Played, lab: Lab, table: Table) -> None:
    fault = Fault("long", "a call of more than 8 MiB", healthy, says="larger than 8 MiB")
    judge(fault, lab, run, run.told(max(step for step, _ in run.threads["main"])), table)


@pytest.mark.root
@pytest.mark.parametrize("mark", ["root-before", "root-after"])
def test_calls_run_before_and_after_the_faults_of_others(mark: str, foreign_run: Played, lab: Lab) -> None:
    assert lab.world.marked(mark), foreign_run.why()


@pytest.mark.root
@pytest.mark.parametrize("number", range(len(FOREIGN_FAULTS)), ids=[fault.name for fault in FOREIGN_FAULTS])
def test_no_call_runs_over_another_users_socket(number: int, foreign_run: Played, lab: Lab, table: Table) -> None:
    fault = FOREIGN_FAULTS[number]
    if lab.driver.NAME in fault.unseen_by:
        table.add(ALIVE, fault.row, lab.driver.NAME, "not seen" if lab.world.marked(fault.name) else "refused")
        return
    judge(fault, lab, foreign_run, foreign_run.told(1 + number), table)


def judge(fault: Fault, lab: Lab, run: Played, told: str | None, table: Table) -> None:
    refused = not lab.world.marked(fault.name) and fault.says in spoken(told)
    ran = "RAN" if lab.world.marked(fault.name) else "not told why"
    table.add(ALIVE, fault.row, lab.driver.NAME, "refused" if refused else ran)
    assert not lab.world.marked(fault.name), run.why()
    assert told is not None, run.why()
    assert fault.says in spoken(told), told

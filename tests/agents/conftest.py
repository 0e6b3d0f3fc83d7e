"""Labs, one an agent for the whole run, and the table that the run ends with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents.drivers import DRIVERS, Driver
from tests.agents.gate import Gate
from tests.agents.install import hook_in, missing
from tests.agents.judge import Recorder
from tests.agents.lab import Lab
from tests.agents.llm import ScriptedLlm
from tests.agents.table import Table
from tests.agents.world import new_world

TABLE = pytest.StashKey[Table]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "applies(to): only for the drivers of which to(driver) holds")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop what an agent does not have: that is nothing to skip."""
    dropped = [item for item in items if not _applies(item)]
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        config.hook.pytest_deselected(items=dropped)


def _applies(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return True
    params: dict[str, object] = item.callspec.params if hasattr(item, "callspec") else {}
    driver = DRIVERS.get(str(params.get("driver")))
    return driver is None or all(mark.kwargs["to"](driver, params) for mark in item.iter_markers("applies"))


@pytest.fixture(scope="session")
def table(request: pytest.FixtureRequest) -> Table:
    return request.config.stash.setdefault(TABLE, Table())


@pytest.fixture(scope="session", params=list(DRIVERS))
def driver(request: pytest.FixtureRequest, table: Table) -> Driver:
    driver = DRIVERS[request.param]
    if why := missing(driver):
        table.absent[driver.NAME] = why
        pytest.skip(why)
    return driver


@pytest.fixture(scope="session")
def lab(driver: Driver) -> Iterator[Lab]:
    with new_world() as world, ScriptedLlm() as llm, Recorder() as judge:
        driver.configure(world, llm.url)
        hook_in(world, driver)
        with Gate(world, judge.url) as gate:
            yield Lab(driver, world, llm, gate, judge)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    table = config.stash.get(TABLE, None)
    if table is None:
        return
    if lines := table.lines():
        terminalreporter.section("faults on the real agents")
        for line in lines:
            terminalreporter.write_line(line)
    for agent, why in table.absent.items():
        terminalreporter.write_sep("!", f"NOT RUN: {agent}: {why}", red=True, bold=True)

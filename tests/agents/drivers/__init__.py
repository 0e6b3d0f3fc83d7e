"""The drivers: variants are modules in a dict."""

from tests.agents.drivers import claude, claude_old, codex, hermes, opencode, pi
from tests.agents.drivers.base import Driver

__all__ = ["DRIVERS", "Driver"]

_ALL: tuple[Driver, ...] = (claude, codex, opencode, pi, hermes, claude_old)
DRIVERS: dict[str, Driver] = {driver.NAME: driver for driver in _ALL}

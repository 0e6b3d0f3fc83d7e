"""The drivers: variants are modules in a dict."""

from tests.agents.drivers import claude, codex, hermes, opencode, pi
from tests.agents.drivers.base import Driver

__all__ = ["DRIVERS", "Driver"]

DRIVERS: dict[str, Driver] = {
    "claude": claude,
    "codex": codex,
    "opencode": opencode,
    "pi": pi,
    "hermes": hermes,
}

"""Whether a person vouches for a tool of an MCP server, and whether the server is still the one meant.

A pin names a server, the tools it may offer, and how it is started. Where an agent's settings start it in another
way, the pin is lost: any settings that know a server of that name count, since which of them an agent takes is not
known here.
"""

from __future__ import annotations

import re

from reflexd.shell import globs
from reflexd.types import Context, Pin, Server

_VERSION = re.compile(r"(?:@|==|:)v?(\d[0-9A-Za-z.+-]*)\Z")


def vouched(server: str, tool: str, context: Context) -> tuple[bool, str]:
    """Whether a pin holds, and a few words saying what speaks against it."""
    pin = next((pin for pin in context.pins if pin.server == server), None)
    if pin is None:
        return False, "no person vouches for this server"
    if not globs.any_of(pin.tools)(tool):
        return False, "the server's pin does not name this tool"
    lost = _lost(pin, [known for known in context.servers if known.server == server])
    return not lost, lost


def _lost(pin: Pin, started: list[Server]) -> str:
    if not pin.command and not pin.version:
        return ""
    if not started:
        return "the server's pin says how it starts, and no settings here start it"
    for each in started:
        if pin.command and each.command != pin.command:
            return f"its pin is lost: {each.source} starts it as `{each.command}`"
        found = [version[1] for word in each.command.split() if (version := _VERSION.search(word))]
        if pin.version and pin.version not in found:
            return f"its pin is lost: {each.source} starts version {', '.join(found) or 'unknown'}, not {pin.version}"
    return ""

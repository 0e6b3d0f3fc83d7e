"""Whether a person vouches for a tool of an MCP server, and whether the server is still the one meant.

A pin names a server, the tools it may offer, and how it is started. Where an agent's settings start it in another
way, the pin is lost: any settings that know a server of that name count, since which of them an agent takes is not
known here.
"""

from __future__ import annotations

import re

from reflexd.shell import globs
from reflexd.shell.places import Ground
from reflexd.types import Context, Pin

_VERSION = re.compile(r"(?:@|==|:)v?(\d[0-9A-Za-z.+-]*)\Z")


def vouched(server: str, tool: str, context: Context, ground: Ground) -> tuple[bool, str]:
    """Whether a pin holds, and a few words saying what speaks against it."""
    pin = next((pin for pin in context.pins if pin.server == server), None)
    if pin is None:
        return False, "no person vouches for this server"
    if not globs.any_of(pin.tools)(tool):
        return False, "the server's pin does not name this tool"
    lost = _lost(pin, ground) if pin.command or pin.version else ""
    return not lost, lost


def _lost(pin: Pin, ground: Ground) -> str:
    found = ground.want("server", pin.server)
    if found is None or not found.pairs:
        return "its pin says how the server starts, and no settings here start it"
    for source, command in found.pairs:
        if pin.command and command != pin.command:
            return f"its pin is lost: {source} starts it as `{command}`"
        versions = [version[1] for word in command.split() if (version := _VERSION.search(word))]
        if pin.version and pin.version not in versions:
            return f"its pin is lost: {source} starts version {', '.join(versions) or 'unknown'}, not {pin.version}"
    return ""

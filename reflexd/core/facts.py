"""One tool call -> what it would do. Total, pure and bounded: any text at all gives Facts.

Nothing is run and no file is read: what a call says is all there is. What it does not say is in
`opaque` (shell that could not be read whole) and never counts as harmless.
"""

from __future__ import annotations

from reflexd.shell.calls import Call, Reading
from reflexd.shell.effects import effects
from reflexd.shell.fields import shown
from reflexd.shell.interpret import read
from reflexd.shell.places import Ground
from reflexd.types import (
    Code,
    Command,
    Context,
    Edit,
    Effect,
    Facts,
    Fetch,
    Mcp,
    Other,
    Patch,
    Read,
    Search,
    Shell,
    Spawn,
    Tool,
    WebSearch,
    Write,
)


def facts(tool: Tool, context: Context) -> Facts:
    """Never raises: what goes wrong in here is opaque."""
    ground = Ground(context)
    try:
        match tool:
            case Shell():
                return _shell(tool.command, tool.workdir or context.cwd, context, ground)
            case Read(path):
                return Facts(effects=(_on("read", path, ground),), read_only=True)
            case _:
                return Facts()
    except (RecursionError, ValueError, LookupError) as e:
        return Facts(opaque=f"it could not be read ({type(e).__name__})")


def _shell(command: str, cwd: str, context: Context, ground: Ground) -> Facts:
    reading = read(command, cwd, context.home, dict(context.env), whole_env=bool(context.env))
    found: dict[Effect, None] = {}
    looks = True
    for call in reading.calls:
        made, quiet = effects(call, ground)
        found.update(dict.fromkeys(made))
        looks = looks and quiet
    opaque = reading.opaque[0] if reading.opaque else ""
    return Facts(
        commands=tuple(_command(call) for call in reading.calls if call.argv),
        effects=tuple(found),
        read_only=looks and not opaque and not reading.unseen,
        opaque=opaque,
    )


def _command(call: Call) -> Command:
    return Command(tuple(map(shown, call.argv)), call.via, shown(call.cwd))


def _on(kind: str, path: str, ground: Ground) -> Effect:
    shown_path, places = ground.locate(path)
    return Effect(kind, shown_path, places)  # type: ignore[arg-type]


_ = (Code, Edit, Fetch, Mcp, Other, Patch, Search, Spawn, WebSearch, Write, Reading)

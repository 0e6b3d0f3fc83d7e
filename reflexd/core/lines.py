"""A command line -> what it would do: its programs' effects, the code it runs, what could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import structs

from reflexd.core import tools
from reflexd.core.configured import configured
from reflexd.core.following import follow
from reflexd.shell.calls import Call, Reading
from reflexd.shell.effects import effects
from reflexd.shell.fields import shown
from reflexd.shell.interpret import LEVELS_MAX, read
from reflexd.shell.packages import with_downloads
from reflexd.shell.places import Ground
from reflexd.shell.rawscan import segments
from reflexd.shell.requests import prints_environment, speaks
from reflexd.shell.targets import after
from reflexd.types import Command, Context, Effect, Facts

COMMAND_MAX = 32 * 1024  # characters; a longer command is read as far as it goes, and asks
READ_MAX = 128 * 1024  # beyond this only the raw scan looks at it
_PATCHERS = frozenset({"apply_patch", "applypatch"})
"""Codex applies a patch itself where a shell command is no more than `[cd DIR &&] apply_patch <<EOF`."""
_NAMES_REFLEX = re.compile(r"\breflexd?\b")


def line(command: str, cwd: str, context: Context, ground: Ground) -> Facts:
    """What `command` would do in `cwd`, with the local code that `ground` has seen walked as if typed."""
    env = dict(context.env)
    given: dict[str, str] = {}
    if len(command) <= READ_MAX:
        reading = read(command, cwd, context.home, env)
    else:
        reading = Reading((), ("it is too long to be read",))
    followed = follow(reading, context, ground.seen)
    for _ in range(LEVELS_MAX):
        if dict(followed.given) == given:
            break
        given = dict(followed.given)
        reading = read(command, cwd, context.home, env, given)
        followed = follow(reading, context, ground.seen)
    found: dict[Effect, None] = {}
    looks = _calls(reading.calls, ground, found, numbered=True)
    _calls(reading.alike, ground, found)
    _calls(configured(reading.calls, context, ground), ground, found)
    opaque = reading.opaque[0] if reading.opaque else ""
    if len(command) > COMMAND_MAX:
        opaque = f"it is longer than {COMMAND_MAX} characters"
    if reading.opaque and (reading.broken or len(command) > READ_MAX):
        # Where the parser lost its way, every piece that could stand alone is read on its own.
        for segment in segments(command):
            _calls(read(segment, cwd, context.home, env).calls, ground, found)
    return Facts(
        commands=tuple(
            Command(tuple(map(shown, call.argv)), call.via, shown(call.cwd), quiet)
            for call, quiet in zip(reading.calls, looks, strict=True)
            if call.argv
        ),
        effects=tuple(found),
        read_only=all(looks) and bool(reading.calls) and not opaque and not followed.unseen,
        opaque=opaque,
        unseen=followed.unseen,
        sources=followed.sources,
        wants=(*followed.wants, *ground.wants),
    )


def _calls(calls: Iterable[Call], ground: Ground, found: dict[Effect, None], numbered: bool = False) -> list[bool]:
    """Puts the effects of `calls` into `found`; for each call whether it is proved to change nothing.

    `numbered`: the calls are the commands of the facts, so an effect says which of them would do it.
    """
    looks: list[bool] = []
    every: list[Effect] = []
    names_reflex = environment = False
    number = 0
    for call in calls:
        made, quiet = effects(call, ground)
        if call.name in _PATCHERS:
            made = [*made, *tools.patch(call.stdin or call.argv[-1], ground, call.cwd).effects]
        if numbered and call.argv:
            number += 1
            made = [structs.replace(effect, by=number) for effect in made]
        every.extend(made)
        looks.append(quiet)
        ground = with_downloads(after(call, made, ground), made)
        environment = environment or prints_environment(call)
        names_reflex = names_reflex or any(_NAMES_REFLEX.search(word) for word in call.argv)
    if names_reflex:
        # A process looked up in the same line: `kill $(pgrep reflexd)`.
        every = [_at_reflex(effect) for effect in every]
    if environment:
        # What the environment holds (keys, most of the time) goes along with what the same line sends.
        every.extend(
            structs.replace(sent, kind="send", target="the environment", places=(*sent.places, "credentials"))
            for sent in [effect for effect in every if speaks(effect)]
        )
    found.update(dict.fromkeys(every))
    return looks


def _at_reflex(effect: Effect) -> Effect:
    if effect.kind == "signal" and "unknown" in effect.places:
        return structs.replace(effect, places=("reflex", *effect.places))
    return effect

"""Our groups in a file of hooks (Claude Code's settings.json, Codex's hooks.json): in, out, and nothing else.

An entry is ours when its command runs our shim's file; foreign groups, their order and the
text around them are never touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from reflexd.adapters.jsontext import BadJson, Node, cut, insert, parse, plain
from reflexd.errors import ReflexError
from reflexd.shims import HOOK_NAME, hook_path, render
from reflexd.types import Places, PlannedEdit

EMPTY = "{}\n"
OURS = f"/shims/{HOOK_NAME}"
LOADERS = re.compile(r"(?:BASH_ENV|BASH_FUNC_.*|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)\Z")
"""Variables that run foreign code before a hook's first instruction."""


def add(
    path: str,
    current: bytes | None,
    groups: Mapping[str, object],
    only_keys: frozenset[str] | None = None,
) -> bytes:
    """The file with exactly `groups` (event -> group) of ours in it. Raises ReflexError where it cannot be edited."""
    text = _text(path, current)
    root = _root(path, text)
    foreign = set(root.keys) - only_keys if only_keys else set()
    if foreign:
        raise ReflexError(
            f"{path} has a top-level key {sorted(foreign)[0]!r}, for which the agent drops the whole file",
            "remove that key, then run reflexctl setup again",
        )
    if _installed(root) == {event: [group] for event, group in groups.items()}:
        return text.encode()
    text = _without(path, text)
    if parse(text).get("hooks") is None:
        return insert(text, parse(text), {event: [group] for event, group in groups.items()}, "hooks").encode()
    for event, group in groups.items():
        hooks = _hooks(path, text)
        known = _list(path, hooks, event)
        text = insert(text, hooks, [group], event) if known is None else insert(text, known, group)
    return text.encode()


def edits(
    places: Places,
    current: Mapping[str, bytes | None],
    path: str,
    groups: Mapping[str, object],
    only_keys: frozenset[str] | None = None,
) -> tuple[PlannedEdit, ...]:
    """Our groups into `path`, and the shim that they run."""
    shim = hook_path(places)
    return (
        PlannedEdit(shim, current[shim], render(HOOK_NAME, places), "the hook itself"),
        PlannedEdit(
            path,
            current[path],
            add(path, current[path], groups, only_keys),
            "hooks for every event that reflex answers",
        ),
    )


def removals(places: Places, current: Mapping[str, bytes | None], path: str) -> tuple[PlannedEdit, ...]:
    """What `edits` put there out again."""
    shim = hook_path(places)
    return (
        PlannedEdit(path, current[path], remove(path, current[path]), "our hooks out again"),
        PlannedEdit(shim, current[shim], None, "the hook itself"),
    )


def remove(path: str, current: bytes | None) -> bytes | None:
    """The file without our handlers, and without lists and objects that only held them; None if nothing is left."""
    if current is None:
        return None
    left = _without(path, _text(path, current))
    return None if left == EMPTY else left.encode()


def gaps(path: str, current: bytes | None) -> tuple[str, ...]:
    """What in this file switches hooks off, or runs code before them."""
    try:
        root = plain(_root(path, _text(path, current)))
    except ReflexError as e:
        return (f"{path}: {e.message}; the agent may run without its hooks",)
    found: list[str] = []
    if isinstance(root, dict):
        if root.get("disableAllHooks"):
            found.append(f"{path} sets disableAllHooks, so no hook runs")
        env = root.get("env")
        for name in sorted(env) if isinstance(env, dict) else ():
            if LOADERS.match(name):
                found.append(f"{path} sets {name} for every hook, which runs other code before ours")
    return tuple(found)


def _installed(root: Node) -> dict[str, list[object]]:
    hooks = root.get("hooks")
    found: dict[str, list[object]] = {}
    if hooks is not None and hooks.kind == "object":
        for event, groups in zip(hooks.keys, hooks.items, strict=True):
            ours = [plain(group) for group in groups.items if _ours(group)]
            if ours:
                found[event] = ours
    return found


def _ours(group: Node) -> list[int]:
    """Which of a group's handlers are ours; a person may have put his own beside them."""
    handlers = group.get("hooks") if group.kind == "object" else None
    return [at for at, handler in enumerate(handlers.items if handlers is not None else ()) if _is_ours(handler)]


def _is_ours(handler: Node) -> bool:
    command = handler.get("command") if handler.kind == "object" else None
    return command is not None and isinstance(command.value, str) and OURS in command.value


def _without(path: str, text: str) -> str:
    """`text` without our handlers; a group, list or object goes only if taking ours out emptied it."""
    while True:
        root = _root(path, text)
        hooks = root.get("hooks")
        spot = _first_of_ours(hooks) if hooks is not None and hooks.kind == "object" else None
        if hooks is None or spot is None:
            return text
        event, group, handler = spot
        groups = hooks.items[event]
        handlers = groups.items[group].get("hooks")
        if handlers is not None and len(handlers.items) > 1:
            text = cut(text, handlers, handler)
        elif len(groups.items) > 1:
            text = cut(text, groups, group)
        elif len(hooks.items) > 1:
            text = cut(text, hooks, event)
        else:
            text = cut(text, root, root.keys.index("hooks"))


def _first_of_ours(hooks: Node) -> tuple[int, int, int] | None:
    for event, groups in enumerate(hooks.items):
        for group, found in enumerate(map(_ours, groups.items)):
            if found:
                return event, group, found[0]
    return None


def _text(path: str, current: bytes | None) -> str:
    if current is None or not current.strip():
        return EMPTY
    try:
        return current.decode("utf-8")
    except UnicodeDecodeError as e:
        raise ReflexError(f"{path} is not UTF-8", "repair it, then run reflexctl setup again") from e


def _root(path: str, text: str) -> Node:
    try:
        root = parse(text)
        # What we edit must be what the agent reads: both take plain JSON alone.
        json.loads(text)
    except (BadJson, ValueError, RecursionError) as e:
        message = e.message if isinstance(e, BadJson) else str(e)
        raise ReflexError(f"{path} is {message}", "repair it, then run reflexctl setup again") from e
    if root.kind != "object":
        raise ReflexError(f"{path} does not hold a JSON object", "repair it, then run reflexctl setup again")
    return root


def _hooks(path: str, text: str) -> Node:
    hooks = parse(text).get("hooks")
    if hooks is None or hooks.kind != "object":
        raise ReflexError(f'{path}: "hooks" is not an object', "repair it, then run reflexctl setup again")
    return hooks


def _list(path: str, hooks: Node, event: str) -> Node | None:
    groups = hooks.get(event)
    if groups is not None and groups.kind != "array":
        raise ReflexError(f'{path}: hooks of "{event}" are not a list', "repair it, then run reflexctl setup again")
    return groups

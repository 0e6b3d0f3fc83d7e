"""What was found on the disk, laid over the effects that a call's text alone gave.

Rule 1: a path is judged as written and as what it really is: a symbolic link adds the places of its target.
Rule 2: `recoverable` is only for what nothing in the same call, and nothing running beside it, could change first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from reflexd.shell.places import Ground, names_a_file
from reflexd.types import Context, Effect, Facts, Place, Seen, Sighting, Want

WANTS_MAX = 256
_ON_PATHS = frozenset({"read", "write", "delete", "move", "attributes", "exec", "discard"})
_LOSING = frozenset({"delete", "discard"})
_OURS: frozenset[Place] = frozenset({"workspace", "workspace_root"})
_HARMLESS_BEFORE = frozenset({"rm", "rmdir", "git", "find", "cd", "pushd", "mkdir", "unlink", "test", "["})


def settled(facts: Facts, context: Context, ground: Ground, seen: Seen) -> Facts:
    """`facts` with what `seen` says about its paths, and with what is still to be looked at."""
    wants: dict[Want, None] = {}
    look = _Looking(seen, wants)
    effects: dict[Effect, None] = {}
    calm = _calm(facts, context)
    for effect in facts.effects:
        for made in _real(effect, ground, look):
            effects[_given_back(made, facts, context, look) if calm else made] = None
    if len(wants) > WANTS_MAX:
        return structs.replace(
            facts, opaque=facts.opaque or "it names more files than can be looked at", read_only=False
        )
    known = {want for want, _ in seen.found}
    left = tuple(want for want in (*facts.wants, *wants) if want not in known)
    return structs.replace(facts, effects=tuple(effects), wants=left)


class _Looking:
    """Questions to what was seen; those nobody has looked into are noted."""

    def __init__(self, seen: Seen, wants: dict[Want, None]) -> None:
        self._found = dict(seen.found)
        self._wants = wants

    def __call__(self, want: Want) -> Sighting | None:
        found = self._found.get(want)
        if found is None:
            self._wants[want] = None
        return found


def _real(effect: Effect, ground: Ground, look: _Looking) -> Iterator[Effect]:
    """The effect on what the path is as written, and on what it really is."""
    target = effect.target
    if effect.kind not in _ON_PATHS or not target.startswith("/") or any(mark in target for mark in "…*?["):
        yield effect
        return
    found = look(Want("real", target))
    single = effect.recursive and effect.kind == "delete" and _is_file(found, target)
    effect = structs.replace(effect, recursive=False) if single else effect
    yield effect
    if found is None or found.problem:
        return
    for real in (found.text, *(value for key, value in found.pairs if key == "also")):
        moved = _from_here(real, ground, look)
        if moved not in ("", target):
            path, places = ground.locate(moved, deep=effect.recursive)
            yield structs.replace(effect, target=path, places=places)


def _is_file(found: Sighting | None, path: str) -> bool:
    """-r on a file is no more than without; what is not there (yet) goes by its name."""
    kind = dict(found.pairs).get("kind", "missing") if found is not None else "missing"
    return kind == "file" or (kind == "missing" and names_a_file(path))


def _from_here(real: str, ground: Ground, look: _Looking) -> str:
    """A real path as it is called below the working directory, which may itself lie behind a link."""
    if ground.cwd.startswith("/"):
        here = look(Want("real", ground.cwd))
        if here is not None and here.text and (real + "/").startswith(here.text + "/"):
            return ground.cwd + real[len(here.text) :]
    return real


def _calm(facts: Facts, context: Context) -> bool:
    """Whether what is on the disk now is what the call will meet."""
    if facts.opaque or context.past.busy:
        return False
    for command in facts.commands:
        name = command.argv[0].rpartition("/")[2]
        if any(effect.kind in _LOSING and effect.detail.partition(" ")[0] == name for effect in facts.effects):
            return True
        if not command.read_only and name not in _HARMLESS_BEFORE:
            return False
    return not facts.commands


def _given_back(effect: Effect, facts: Facts, context: Context, look: _Looking) -> Effect:
    if effect.kind not in _LOSING or _OURS.isdisjoint(effect.places) or "disposable" in effect.places:
        return effect
    if not _may_come_back(effect) or _written_below(effect.target, facts.effects):
        return effect
    if any((path + "/").startswith(effect.target + "/") for path in context.past.pending):
        return effect
    found = look(Want("discards" if effect.kind == "discard" else "losses", effect.target))
    if found is None or not found.recoverable:
        return effect
    return structs.replace(effect, places=(*effect.places, "recoverable"))


def _may_come_back(effect: Effect) -> bool:
    """Where it matters and can be looked at: many files that go, one that is data, one that git would put back."""
    many = effect.recursive or "*" in effect.target
    wanted = not many if effect.kind == "discard" else many or "data" in effect.places
    return wanted and "…" not in effect.target


def _written_below(path: str, effects: Iterable[Effect]) -> bool:
    return any(e.kind in ("write", "move", "attributes") and e.target.startswith(path + "/") for e in effects)

"""Programs whose words say more than "these are files": find, dd, tar."""

from __future__ import annotations

from itertools import pairwise

from reflexd.shell.calls import Call
from reflexd.shell.carriers import FIND_TESTS, find_pattern, find_starts
from reflexd.shell.fields import UNKNOWN
from reflexd.shell.operands import effect
from reflexd.shell.options import names, split
from reflexd.shell.places import Ground
from reflexd.types import Effect

_FIND_PLAIN = FIND_TESTS | names(
    "-exec -execdir "  # what these run is judged on its own
    "-maxdepth -mindepth -type -xtype -print -print0 -printf -ls -prune -quit -not -o -or -a -and -depth -mount -xdev"
    " -readable -writable -executable -true -false -perm -regextype -daystart -follow -noleaf -nouser -nogroup"
    " -newerct -neweraa -neweram -H -L -P"
)
_FIND_WRITES = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
_WHOLE = {"root", "home", "system", "device"}


def _find(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    args = call.argv[1:]
    starts = find_starts(args)
    found: list[Effect] = []
    options = [word for word in _own_words(args) if word.startswith("-") and len(word) > 1 and not word[1:].isdigit()]
    if "-delete" in options:
        filtered = bool(FIND_TESTS & set(options))
        shallow = any(a == "-maxdepth" and b in ("0", "1") for a, b in pairwise(args))
        for start in starts:
            path, places = ground.locate(start, call.cwd, deep=True)
            if filtered and _WHOLE.isdisjoint(places):
                named = find_pattern(args)
                below = f"{UNKNOWN}/{named}" if named else UNKNOWN
                path, places = ground.locate(f"{start.rstrip('/')}/{below}", call.cwd)
            found.append(Effect("delete", path, places, not (filtered and shallow), True, "find -delete"))
    for flag, word in pairwise(args):
        if flag in _FIND_WRITES:
            made = effect("write", word, call, ground, detail=f"find {flag}")
            if made:
                found.append(made)
    return found, not found and set(options) <= _FIND_PLAIN


def _own_words(args: tuple[str, ...]) -> list[str]:
    """A find's words without those of the commands it runs."""
    words: list[str] = []
    inner = False
    for word in args:
        inner = inner and word not in (";", "+")
        if not inner:
            words.append(word)
        inner = inner or word in ("-exec", "-execdir")
    return words


def _dd(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    found = []
    for word in call.argv[1:]:
        name, _, value = word.partition("=")
        role = {"of": "write", "if": "read"}.get(name.strip(), "none")
        made = effect(role, value, call, ground, detail="dd")
        if made:
            found.append(made)
    return found, False


def _tar(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    args = call.argv[1:]
    if args and not args[0].startswith("-"):  # the old spelling: tar xzf FILE
        args = ("-" + args[0], *args[1:])
    words = split(args, names("-f -C -T -X -b -g -I -K -N -V --file --directory --exclude --files-from"))
    found = []
    archive = words.all("-f", "--file")
    creates = words.has("-c", "-r", "-u", "-A", "--create", "--append", "--update")
    roles_of = [("write" if creates else "read", word) for word in archive]
    if creates:
        roles_of.extend(("read", word) for word in words.operands)
    elif words.has("-x", "--extract", "--get"):
        roles_of.extend(("touch", word) for word in words.all("-C", "--directory") or (".",))
    for role, word in roles_of:
        made = effect(role, word, call, ground, deep=role == "read" and creates, detail="tar")
        if made:
            found.append(made)
    return found, False


SPECIAL = {
    "find": _find,
    "gfind": _find,
    "dd": _dd,
    "gdd": _dd,
    "dcfldd": _dd,
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
}

"""git subcommands that take work away which git then cannot give back, or no longer shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, shown
from reflexd.shell.options import Words, names, split
from reflexd.shell.places import Ground
from reflexd.types import Effect

_FILE = re.compile(r"[^/]*\.[A-Za-z][\w-]{0,9}\Z")  # an ending of letters: v1.2 is a version, a.py a file
_NEWNESS = names("-b -B --orphan -t --track -d --detach")


def lost(call: Call, ground: Ground) -> list[Effect]:
    """What `git SUBCOMMAND ...` (without git's own options) would lose in `call.cwd`."""
    rule = RULES.get(call.argv[0])
    return list(rule(call, ground)) if rule else []


def _checkout(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "-b -B --orphan --conflict --pathspec-from-file")
    if words.has("-p", "--patch"):
        return []
    paths = _after_dashes(call)
    if not paths and "--" not in call.argv and not words.has(*_NEWNESS):
        first = words.operands[:1]
        paths = words.operands if first and _is_path(first[0], call, ground) else words.operands[1:]
    if words.value("--pathspec-from-file") is not None:
        paths = (*paths, ".")
    if not paths and words.has("-f", "--force"):
        paths = (".",)
    return _discards(paths, call, ground)


def _restore(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "-s --source --conflict --pathspec-from-file")
    if words.has("-p", "--patch") or (words.has("-S", "--staged") and not words.has("-W", "--worktree")):
        return []
    from_file = (".",) if words.value("--pathspec-from-file") is not None else ()
    return _discards((*words.operands, *from_file), call, ground)


def _reset(call: Call, ground: Ground) -> Iterable[Effect]:
    hard = any("--hard".startswith(flag) and len(flag) > 4 for flag in call.argv) or "--merge" in call.argv
    return _discards((".",), call, ground) if hard else []


def _switch(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "-c -C --create --force-create --orphan --conflict")
    return _discards((".",), call, ground) if words.has("-f", "--force", "--discard-changes") else []


def _clean(call: Call, ground: Ground) -> Iterable[Effect]:
    """Files that git does not track are what it cannot give back."""
    words = _words(call, "-e --exclude")
    if words.has("-n", "--dry-run") or not words.has("-f", "--force"):
        return
    for target in words.operands or (".",):
        path, places = ground.locate(target, call.cwd)
        yield Effect("delete", path, places, recursive=words.has("-d"), force=True, detail="git clean")
        yield Effect("discard", path, places, recursive=True, force=True, detail="git clean")


def _stash(call: Call, ground: Ground) -> Iterable[Effect]:
    if call.argv[1:2] in (("drop",), ("clear",)):
        yield _history(" ".join(map(shown, call.argv[:3])), call)


def _branch(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "-u --set-upstream-to --sort --format")
    if words.has("-D") or (words.has("-d", "--delete") and words.has("-f", "--force")):
        yield _history(" ".join(("branch", *map(shown, words.operands))), call)


def _reflog(call: Call, ground: Ground) -> Iterable[Effect]:
    if call.argv[1:2] in (("expire",), ("delete",)):
        yield _history("the reflog", call)


def _collect(call: Call, ground: Ground) -> Iterable[Effect]:
    if call.argv[0] == "prune" or any(word.startswith("--prune=") and word != "--prune=never" for word in call.argv):
        yield _history("commits that no branch shows", call)


def _rewrite(call: Call, ground: Ground) -> Iterable[Effect]:
    if not {"-n", "--dry-run", "--analyze", "-h", "--help"} & set(call.argv):
        yield _history("every commit, by rewriting it", call)


def _reference(call: Call, ground: Ground) -> Iterable[Effect]:
    if {"-d", "--stdin"} & set(call.argv):
        yield _history(" ".join(map(shown, call.argv[:4])), call)


def _worktree(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "")
    if words.operands[:1] == ("remove",) and words.has("-f", "--force"):
        yield from _discards(words.operands[1:], call, ground)


def _submodule(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "")
    if words.operands[:1] == ("deinit",) and words.has("-f", "--force"):
        yield from _discards(words.operands[1:] or (".",), call, ground)
    if words.operands[:1] == ("update",) and words.has("-f", "--force"):
        yield from _discards(words.operands[1:] or (".",), call, ground)


def _remove(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "--pathspec-from-file")
    if words.has("-n", "--dry-run", "--cached"):
        return
    forced, deep = words.has("-f", "--force"), words.has("-r")
    for target in words.operands:
        path, places = ground.locate(target, call.cwd, deep=deep)
        if not forced:  # git itself refuses to remove what it could not give back
            places = (*places, "recoverable")
        yield Effect("delete", path, places, recursive=deep, force=forced, detail="git rm")


def _move(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "")
    if words.has("-n", "--dry-run"):
        return
    for target in words.operands[:-1]:
        path, places = ground.locate(target, call.cwd, deep=True)
        yield Effect("move", path, places, detail="git mv")
    for target in words.operands[-1:]:
        yield Effect("write", *ground.locate(target, call.cwd), detail="git mv")


def _tree(call: Call, ground: Ground) -> Iterable[Effect]:
    words = _words(call, "")
    forced = words.has("--reset") if call.argv[0] == "read-tree" else words.has("-f", "--force")
    return _discards((".",), call, ground) if forced else []


RULES: dict[str, Callable[[Call, Ground], Iterable[Effect]]] = {
    "checkout": _checkout,
    "restore": _restore,
    "reset": _reset,
    "switch": _switch,
    "clean": _clean,
    "stash": _stash,
    "branch": _branch,
    "reflog": _reflog,
    "gc": _collect,
    "prune": _collect,
    "filter-branch": _rewrite,
    "filter-repo": _rewrite,
    "update-ref": _reference,
    "worktree": _worktree,
    "submodule": _submodule,
    "rm": _remove,
    "mv": _move,
    "read-tree": _tree,
    "checkout-index": _tree,
}


def _words(call: Call, valued: str) -> Words:
    return split(call.argv[1:], names(valued))


def _after_dashes(call: Call) -> tuple[str, ...]:
    return call.argv[call.argv.index("--") + 1 :] if "--" in call.argv else ()


def _is_path(word: str, call: Call, ground: Ground) -> bool:
    """git takes the word for a branch where there is one; a name like a file's is meant as one."""
    if word in (".", "..", ":/", "*") or word.startswith(("./", "../", "/", ":", "~/")) or word.endswith("/"):
        return True
    if word == UNKNOWN:
        return False
    if _FILE.search(word):
        return True
    path, _ = ground.locate(word, call.cwd)
    found = ground.want("entry", path) if path.startswith("/") and "…" not in path else None
    return found is not None and not found.problem


def _discards(paths: Iterable[str], call: Call, ground: Ground) -> list[Effect]:
    """What lies at the paths goes back to what git holds; a name with an ending is one file."""
    made = []
    for word in paths:
        path, places = ground.locate("." if word.startswith(":") else word, call.cwd)
        single = _FILE.search(word) is not None and "*" not in path
        made.append(Effect("discard", path, places, not single, True, f"git {call.argv[0]}"))
    return made


def _history(what: str, call: Call) -> Effect:
    return Effect("discard", what, (), True, True, f"git {call.argv[0]}")

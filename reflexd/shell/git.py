"""git: what reaches a remote, what its subcommands do to files, and whether they only look."""

from __future__ import annotations

from reflexd.shell import gitloss
from reflexd.shell.arguments import only_looks, parse
from reflexd.shell.calls import Call
from reflexd.shell.fields import GLOB_MARKS, UNKNOWN, UNSET, shown
from reflexd.shell.gitcode import setting_words
from reflexd.shell.gitkeys import names_a_program, run_by
from reflexd.shell.options import split
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_row
from reflexd.types import Effect

_GLOBAL_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"})
_GLOBAL_PLAIN = frozenset({"--no-pager", "-P", "--no-replace-objects", "--literal-pathspecs", "--no-optional-locks"})
_PUSH_LONG = [
    "--all",
    "--branches",
    "--prune",
    "--mirror",
    "--dry-run",
    "--porcelain",
    "--delete",
    "--tags",
    "--follow-tags",
    "--signed",
    "--no-signed",
    "--atomic",
    "--no-atomic",
    "--push-option",
    "--receive-pack",
    "--exec",
    "--force-with-lease",
    "--no-force-with-lease",
    "--force",
    "--force-if-includes",
    "--no-force-if-includes",
    "--repo",
    "--set-upstream",
    "--thin",
    "--no-thin",
    "--quiet",
    "--verbose",
    "--progress",
    "--recurse-submodules",
    "--no-recurse-submodules",
    "--verify",
    "--no-verify",
    "--ipv4",
    "--ipv6",
]
_PUSH_VALUED = frozenset({"-o", "--push-option", "--receive-pack", "--exec", "--repo"})


def _git(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    args = call.argv[1:]
    cwd = call.cwd
    plain = True
    i = 0
    while i < len(args) and args[i].startswith("-"):
        name, equals, value = args[i].partition("=")
        plain = plain and name in _GLOBAL_PLAIN | {"-C"}
        if name in _GLOBAL_VALUED and not equals:
            value = args[i + 1] if i + 1 < len(args) else ""
            i += 1
        if name in ("-C", "--work-tree") and value:
            cwd = value if value.startswith(("/", UNKNOWN, UNSET)) else f"{cwd}/{value}"
        i += 1
    if i >= len(args):
        return [], plain
    sub, rest = args[i], args[i + 1 :]
    here = Call((sub, *rest), cwd)
    found: list[Effect] = []
    match sub:
        case "push" | "send-pack":
            found = _push(here, _branch(here, ground))
        case "config":
            found = _config(here, ground)
        case "rm" | "mv" | "init" | "clone" | "add":
            found = []
        case _:
            found = _outside(here, ground)
    found.extend(gitloss.lost(here, ground))
    row = find_row("git", sub)
    looks = plain and row is not None and only_looks(parse(rest, row), row)
    return found, looks and not any(name.startswith("GIT_") for name, _ in call.assigned) and _runs_nothing(
        here, ground
    )


def _runs_nothing(call: Call, ground: Ground) -> bool:
    """Whether no setting that applies makes this subcommand run a program of somebody's choice."""
    if not call.cwd.startswith("/") or UNKNOWN in call.cwd:
        return False
    around = ground.want("repository", call.cwd)
    if around is None or around.problem not in ("", "missing"):
        return False
    return not run_by(call.argv[0], around.pairs)


def _branch(call: Call, ground: Ground) -> str:
    """The branch that is checked out, where that is known and bears on the push."""
    given = dict(ground.env).get("git_branch", "")
    refs = [word for word in call.argv[1:] if not word.startswith("-")][1:]
    if given or (refs and not {"HEAD", "@", "+HEAD", "+@"} & set(refs)) or UNKNOWN in call.cwd:
        return given
    around = ground.want("repository", call.cwd) if call.cwd.startswith("/") else None
    return dict(around.pairs).get("branch", "") if around is not None else ""


def _push(call: Call, branch: str) -> list[Effect]:
    """Every branch that a push would move, with how."""
    args = tuple(_spelled(word) for word in call.argv[1:])
    found = split(args, _PUSH_VALUED)
    if found.has("--dry-run", "-n"):
        return []
    force = found.has("--force", "-f", "--force-with-lease")
    delete = found.has("--delete", "-d")
    if found.has("--mirror"):
        return [Effect("push", "*", force=True, detail="mirror")]
    specs = found.operands[0 if found.value("--repo") else 1 :]
    made = [_refspec(spec, force, delete, branch) for spec in specs]
    if not specs and (force or delete):
        made.append(
            Effect("push", "*" if found.has("--all", "--branches") else branch or "…", force=True, detail="force")
        )
    if found.has("--prune"):
        made.append(Effect("push", "*", force=True, detail="delete"))
    return made


def _refspec(spec: str, force: bool, delete: bool, branch: str) -> Effect:
    force = force or spec.startswith("+")
    source, colon, target = spec.lstrip("+").partition(":")
    if colon and not source:
        delete = True
    name = target if colon else source
    for prefix in ("refs/heads/", "heads/"):
        name = name.removeprefix(prefix)
    if name in ("HEAD", "@", ""):
        name = branch or "…"
    if any(mark in name for mark in GLOB_MARKS):
        name = "*" if name.strip("".join(GLOB_MARKS)) == "" else shown(name)
    return Effect("push", shown(name), force=force or delete, detail="delete" if delete else "force" if force else "")


def _spelled(word: str) -> str:
    """git takes a long option cut short wherever only one fits."""
    if not word.startswith("--") or word == "--":
        return word
    name, equals, value = word.partition("=")
    if name in _PUSH_LONG or UNKNOWN in name:
        return word
    fits = [long for long in _PUSH_LONG if long.startswith(name)]
    if not fits:
        return word
    return (min(fits, key=len) if name != "--f" else "--force") + equals + value


def _config(call: Call, ground: Ground) -> list[Effect]:
    """A setting that makes later git commands run a program, or take settings from another file, is a hook."""
    words = setting_words(call.argv[1:])
    verbs = {"set", "unset", "--unset", "--unset-all", "--replace-all", "--add"}
    reads = {"get", "--get", "--get-all", "--get-regexp", "--get-urlmatch"} & set(call.argv)
    writing = not reads and (len(words) > 1 or not verbs.isdisjoint(call.argv))
    if not writing or not words:
        return []
    key, value = words[0].lower(), words[1] if len(words) > 1 else ""
    # An alias of git's own subcommands is no more than a shorter name.
    runs = names_a_program(key, value) and not (key.startswith("alias.") and not value.startswith("!"))
    if runs or key in ("core.hookspath", "init.templatedir") or key.startswith(("include.", "includeif.")):
        return [Effect("write", words[0], ("git_hooks",), detail="git config")]
    return []


def _outside(call: Call, ground: Ground) -> list[Effect]:
    """Files that a subcommand is given by a path outside the repository (diff --no-index, blame, ...)."""
    made = []
    for word in call.argv[1:]:
        if word.startswith(("/", "~", "../")):
            path, places = ground.locate(word, call.cwd)
            made.append(Effect("read", path, places, detail="git"))
    return made


SPECIAL = {"git": _git, "hub": _git}

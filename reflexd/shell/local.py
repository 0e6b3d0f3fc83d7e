"""Files that a program runs without being told their name: a makefile, a package's scripts."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from msgspec import Struct

from reflexd.shell import buildfiles, foreign, justfile, makefile, packagejson, pyscripts, sedcode, taskfile
from reflexd.shell.calls import Call, Local
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.fields import PIPED, UNKNOWN
from reflexd.shell.options import names, split

Reader = Callable[[str, Local], Unwrapped]
READERS: dict[str, Reader] = {
    "make": makefile.read,
    "just": justfile.read,
    "package-script": packagejson.read,
    "package-scripts": packagejson.read_matching,
    "package-install": packagejson.read_install,
    "composer-script": packagejson.read_composer,
    "deno-task": packagejson.read_deno,
    "task": taskfile.read,
    "toml-task": taskfile.read_toml,
    "python-script": pyscripts.read,
    "python-module": pyscripts.read_module,
    "ninja": buildfiles.ninja,
    "cmake": buildfiles.cmake,
    "sed": sedcode.read,
}
"""kind of Local -> what running it comes to, given its text."""


class Named(Struct, frozen=True):
    """Local code that a call runs by convention: the file, seen from the directory `below` that it runs in."""

    kind: str
    file: str
    arguments: tuple[str, ...] = ()
    below: str = ""


_NPM_VALUED = names("--prefix -C --dir --cwd -w --workspace -F --filter --loglevel --silent-if --include --omit")
_ELSEWHERE = ("-w", "--workspace", "--workspaces", "-ws", "-F", "--filter", "-r", "--recursive")
_INSTALLS = names("install i ci clean-install ic install-clean")
_COMPOSER_OWN = names(
    "about archive audit browse bump check-platform-reqs clear-cache clearcache config create-project depends why"
    " diagnose dump-autoload dumpautoload fund global help home init install i licenses list outdated prohibits why-not"
    " reinstall remove rm uninstall require r req search self-update selfupdate show info status suggests update u"
    " upgrade validate"
)
_SHORT = names("test start stop restart t tst")
_YARN_OWN = names(
    "add audit autoclean bin cache config constraints create dedupe dlx exec explain generate-lock-entry global help"
    " import info init install licenses link list login logout node npm outdated owner pack patch plugin policies"
    " publish rebase remove run search set stage tag team unlink unplug up upgrade upgrade-interactive version"
    " versions why workspace workspaces x i ls la ll rm un uninstall update view whoami ping prune rebuild root store"
    " patch-commit fetch deploy dedupe env server setup doctor approve-builds pm build repl cp"
)


def named(call: Call) -> Named | None:
    """The local code that `call` runs by convention; None where none."""
    finder = _FINDERS.get(call.name) or (_module if foreign.language(call.name) == "python" else None)
    return finder(call) if finder else None


def _make(call: Call) -> Named | None:
    found = split(call.argv[1:], names("-f --file --makefile -C --directory -o -W -I --include-dir -E --eval"))
    if found.has("--version", "--help", "-v"):
        return None
    file = found.value("-f", "--file", "--makefile") or "Makefile"
    if file in ("-", "/dev/stdin") or file.startswith(PIPED):
        return None
    return Named("make", file, found.operands, "/".join(found.all("-C", "--directory")))


def _ninja(call: Call) -> Named | None:
    found = split(call.argv[1:], names("-f -C -j -k -l -d -w"))
    if found.has("--version", "-h", "-t", "-n"):
        return None
    return Named("ninja", found.value("-f") or "build.ninja", found.operands, found.value("-C") or "")


def _cmake(call: Call) -> Named | None:
    file = split(call.argv[1:], names("-P -D -S -B -G")).value("-P")
    return Named("cmake", file) if file else None


def _just(call: Call) -> Named | None:
    found = split(call.argv[1:], names("-f --justfile -d --working-directory --set --shell --shell-arg"))
    if found.has(
        "--version", "--help", "-l", "--list", "--summary", "--dump", "--evaluate", "--show", "-c", "--command"
    ):
        return None
    below = found.value("-d", "--working-directory") or ""
    return Named("just", found.value("-f", "--justfile") or "justfile", found.operands, below)


def _npm(call: Call) -> Named | None:
    """The script's name first; `npm run` without one lists them."""
    words = _until(call.argv[1:])
    found = split(words, _NPM_VALUED)
    below = found.value("--prefix", "-C", "--dir", "--cwd") or ""
    # In other packages of the workspace: nobody knows in which directories.
    file = "package.json" if not found.has(*_ELSEWHERE) and found.operands[:1] != ("workspace",) else UNKNOWN
    if not found.operands:
        return Named("package-install", file, below=below) if call.name == "yarn" and not found.flags else None
    verb, *rest = found.operands
    if verb in _INSTALLS and not rest and not found.has("--ignore-scripts", "-g", "--global"):
        return Named("package-install", file, below=below)
    if verb in ("run", "run-script", "rum", "urn"):
        pass
    elif verb in _SHORT and not (call.name == "bun" and verb == "test"):
        rest = ["test" if verb in ("t", "tst") else verb, *rest]
    elif call.name in ("yarn", "pnpm") and verb not in _YARN_OWN:
        rest = [verb, *rest]
    else:
        return None
    if not rest or (call.name == "bun" and re.search(r"\.[cm]?[jt]sx?\Z", rest[0])):
        return None
    return Named("package-script", file, (*rest, *call.argv[len(words) + 2 :]), below)


def _task(call: Call) -> Named | None:
    found = split(_until(call.argv[1:]), names("-t --taskfile -d --dir -o --output -C --concurrency -I --interval"))
    if found.has("-l", "--list", "-a", "--list-all", "--version", "-h", "--help", "--summary", "-i", "--init"):
        return None
    file = found.value("-t", "--taskfile") or "Taskfile.yml"
    return Named("task", file, found.operands, found.value("-d", "--dir") or "")


def _tabled(call: Call) -> Named | None:
    """mise run NAME, cargo make NAME"""
    words = split(_until(call.argv[1:]), names("-C --cd -j --jobs -E --env --makefile --profile")).operands
    verb, file = ("make", "Makefile.toml") if call.name == "cargo" else ("run", "mise.toml")
    return Named("toml-task", file, words[1:]) if words[:1] == (verb,) and words[1:] else None


def _run_all(call: Call) -> Named | None:
    """npm-run-all and concurrently: several scripts by their names."""
    words = split(
        call.argv[1:], names("--max-parallel --npm-path -l -n -c -p --names --prefix-colors --prefix")
    ).operands
    if call.name == "concurrently":
        words = tuple(word.partition(":")[2] for word in words if packagejson.SCRIPT.match(word))
    return Named("package-scripts", "package.json", words) if words else None


def _composer(call: Call) -> Named | None:
    found = split(_until(call.argv[1:]), names("-d --working-dir --timeout"))
    words = found.operands[1:] if found.operands[:1] in (("run",), ("run-script",), ("exec",)) else found.operands
    if not words or (words == found.operands and words[0] in _COMPOSER_OWN):
        return None
    return Named("composer-script", "composer.json", words, found.value("-d", "--working-dir") or "")


def _deno(call: Call) -> Named | None:
    words = [word for word in call.argv[1:] if not word.startswith("-")]
    return Named("deno-task", "deno.json", tuple(words[1:])) if words[:1] == ["task"] and words[1:] else None


def _module(call: Call) -> Named | None:
    """python -m NAME: a module of the project's, unless it is one that is installed."""
    at = call.argv.index("-m") + 1 if "-m" in call.argv[:-1] else 0
    if not at or not re.fullmatch(r"\w+(?:\.\w+)*", call.argv[at]) or "-c" in call.argv[:at]:
        return None
    if call.argv[at].partition(".")[0] in sys.stdlib_module_names:
        return None
    return Named("python-module", call.argv[at].replace(".", "/") + ".py", call.argv[at + 1 :])


def _pip(call: Call) -> Named | None:
    """pip install DIRECTORY: the project's own setup.py is run."""
    words = call.argv[2:] if call.name == "uv" and call.argv[1:2] == ("pip",) else call.argv[1:]
    if words[:1] != ("install",):
        return None
    here = next((word for word in words[1:] if re.match(r"\.{1,2}(?:/|\[|\Z)|/", word)), None)
    return Named("python-module", "setup.py", (), re.sub(r"\[.*", "", here)) if here else None


def _poe(call: Call) -> Named | None:
    found = split(call.argv[1:], names("-C --directory -p --project"))
    below = found.value("-C", "--directory", "-p", "--project") or ""
    words = found.operands[1:] if call.name != "poe" else found.operands
    wanted = call.name == "poe" or found.operands[:1] == ("run",)
    return Named("python-script", "pyproject.toml", (call.name, *words), below) if wanted and words else None


def _until(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[: words.index("--")] if "--" in words else words


_FINDERS: dict[str, Callable[[Call], Named | None]] = {
    "make": _make,
    "gmake": _make,
    "just": _just,
    "ninja": _ninja,
    "cmake": _cmake,
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _npm),
    **dict.fromkeys(("npm-run-all", "npm-run-all2", "run-s", "run-p", "concurrently"), _run_all),
    **dict.fromkeys(("pip", "pip3", "uv"), _pip),
    "task": _task,
    **dict.fromkeys(("mise", "cargo"), _tabled),
    "composer": _composer,
    "deno": _deno,
    **dict.fromkeys(("poe", "pdm", "hatch", "rye"), _poe),
}

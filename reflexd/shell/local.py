"""Files that a program runs without being told their name: a makefile, a package's scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

from reflexd.shell.calls import Call, Local
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.options import names, split

Reader = Callable[[str, Local], Unwrapped]
READERS: dict[str, Reader] = {}
"""kind of Local -> what running it comes to, given its text."""

_NPM_VALUED = names("--prefix -C --dir --cwd -w --workspace -F --filter --loglevel --silent-if --include --omit")
_SHORT = names("test start stop restart t tst")
_YARN_OWN = names(
    "add audit autoclean bin cache config constraints create dedupe dlx exec explain generate-lock-entry global help"
    " import info init install licenses link list login logout node npm outdated owner pack patch plugin policies"
    " publish rebase remove run search set stage tag team unlink unplug up upgrade upgrade-interactive version"
    " versions why workspace workspaces x i ls la ll rm un uninstall update view whoami ping prune rebuild root store"
    " patch-commit fetch deploy dedupe env server setup doctor approve-builds pm build repl cp"
)


def named(call: Call) -> tuple[str, str, tuple[str, ...]] | None:
    """The kind, the file and the arguments of the local code that `call` runs by convention; None where none."""
    finder = _FINDERS.get(call.name)
    return finder(call) if finder else None


def _make(call: Call) -> tuple[str, str, tuple[str, ...]] | None:
    found = split(call.argv[1:], names("-f --file --makefile -C --directory -o -W -I --include-dir"))
    if found.has("--version", "--help", "-v"):
        return None
    below = "/".join(found.all("-C", "--directory"))
    file = found.value("-f", "--file", "--makefile") or "Makefile"
    if file in ("-", "/dev/stdin"):
        return None
    return "make", f"{below}/{file}" if below and not file.startswith("/") else file, found.operands


def _just(call: Call) -> tuple[str, str, tuple[str, ...]] | None:
    found = split(call.argv[1:], names("-f --justfile -d --working-directory --set --shell --shell-arg"))
    if found.has("--version", "--help", "-l", "--list", "--summary", "--dump", "--evaluate", "--show"):
        return None
    return "just", found.value("-f", "--justfile") or "justfile", found.operands


def _npm(call: Call) -> tuple[str, str, tuple[str, ...]] | None:
    """The script's name first; `npm run` without one lists them."""
    found = split(_until(call.argv[1:]), _NPM_VALUED)
    words = found.operands
    if not words:
        return None
    below = found.value("--prefix", "-C", "--dir", "--cwd")
    file = f"{below}/package.json" if below else "package.json"
    if words[0] in ("run", "run-script", "rum", "urn"):
        rest = words[1:]
    elif words[0] in _SHORT and not (call.name == "bun" and words[0] == "test"):
        rest = ("test" if words[0] in ("t", "tst") else words[0], *words[1:])
    elif call.name in ("yarn", "pnpm") and words[0] not in _YARN_OWN:
        rest = words
    else:
        return None
    if not rest or (call.name == "bun" and re.search(r"\.[cm]?[jt]sx?\Z", rest[0])):
        return None
    return "package-script", file, (*rest, *call.argv[len(_until(call.argv)) + 1 :])


def _until(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[: words.index("--")] if "--" in words else words


_FINDERS: dict[str, Callable[[Call], tuple[str, str, tuple[str, ...]] | None]] = {
    "make": _make,
    "gmake": _make,
    "just": _just,
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _npm),
}

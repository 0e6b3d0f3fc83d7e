"""What a shell knows while it runs: variables, functions, aliases, where it is, what it has just written."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from reflexd.shell import syntax
from reflexd.shell.expand import VALUE_MAX, Values
from reflexd.shell.fields import UNKNOWN, UNSET, clean, known

_ALWAYS_SET = frozenset(
    {
        "RANDOM",
        "SRANDOM",
        "PPID",
        "SECONDS",
        "LINENO",
        "UID",
        "EUID",
        "EPOCHSECONDS",
        "HOSTNAME",
        "$",
        "!",
        "?",
        "#",
        "-",
    }
)
_USUAL = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "IFS": " \t\n",
    "TMPDIR": "/tmp",  # noqa: S108
    "BASH": "/bin/bash",
    "SHELL": "/bin/bash",
    "BASH_ARGV0": "bash",
    "OSTYPE": "linux-gnu",
    "TERM": "xterm",
    "LANG": "C.UTF-8",
}


PATH_MAX = 4096  # of a directory gone into step by step; Linux takes no longer path


class Written:
    """A file that this line has written: its text (None: not known), and whether that came from the network.

    `copied`: the local file that it is a copy of. `pipe`: a FIFO; `code`: one that an interpreter reads.
    """

    __slots__ = ("code", "copied", "downloaded", "pipe", "text")

    def __init__(
        self, text: str | None, downloaded: bool = False, copied: str = "", pipe: bool = False, code: bool = False
    ) -> None:
        self.pipe = pipe
        self.code = code
        self.text = text
        self.downloaded = downloaded
        self.copied = copied


Function = tuple[bytes, syntax.Node] | None
"""A function's source and body, or None for a program of that name."""


class Shell:
    """State of one shell. Subshells are copies, except that files are everyone's.

    `ended`: it has come to an exit or a return, so nothing that follows runs in it. `fixed` variables cannot be set,
    `references` are set and read as the variables that they name. A function that may not have been
    defined has several bodies.
    """

    def __init__(self, cwd: str, home: str, env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self.home = home
        self.env = env
        user = posixpath.basename(home)
        self.variables: dict[str, Values] = {
            "HOME": [home or UNKNOWN],
            "PWD": [cwd],
            "0": ["bash"],
            "USER": [user],
            "LOGNAME": [user],
        }
        self.functions: dict[str, tuple[Function, ...]] = {}
        self.aliases: dict[str, str] = {}
        self.gone: frozenset[str] = frozenset()
        self.fixed: frozenset[str] = frozenset()
        self.references: dict[str, str] = {}
        self.exports: frozenset[str] = frozenset()
        self.descriptors: dict[str, tuple[str | None, str]] = {}
        self.ended = ""
        self.files: dict[str, Written] = {}
        self.links: dict[str, str] = {}

    def copy(self) -> Shell:
        other = Shell.__new__(Shell)
        other.become(self)
        return other

    def become(self, other: Shell) -> None:
        self.cwd, self.home, self.env = other.cwd, other.home, other.env
        self.variables = dict(other.variables)
        self.functions = dict(other.functions)
        self.aliases = dict(other.aliases)
        self.gone, self.fixed, self.references = other.gone, other.fixed, other.references
        self.exports = other.exports
        self.ended = other.ended
        self.files, self.links, self.descriptors = other.files, other.links, other.descriptors

    def lookup(self, name: str) -> Values:
        """The value; None where it is not known; a list with UNSET where most likely nothing sets it."""
        name = self.references.get(name, name)
        if name in self.variables:
            return self.variables[name]
        if name in self.gone:
            raise KeyError(name)
        if name in self.env:
            return [clean(self.env[name])[0]]
        if name in _USUAL:
            return [_USUAL[name]]
        if name.isdigit() or name in ("@", "*"):
            raise KeyError(name)
        return None if name in _ALWAYS_SET else [UNSET]

    def exported(self) -> tuple[tuple[str, str], ...]:
        """What this line has exported, as programs started now would find it."""
        held = ((name, self.variables.get(name)) for name in sorted(self.exports))
        return tuple((name, " ".join(values) if values is not None else UNKNOWN) for name, values in held)

    def set(self, name: str, value: str) -> None:
        name = self.references.get(name, name)
        self.gone -= {name}
        self.exports |= {name} if name in self.env else frozenset()
        self.variables[name] = [value] if len(value) <= VALUE_MAX and name not in self.fixed else None

    def unset(self, name: str) -> None:
        if name == "IFS":
            self.variables[name] = [_USUAL[name]]
            return
        self.variables.pop(name, None)
        self.functions.pop(name, None)
        self.gone |= {name}
        self.exports -= {name}

    def positional(self, words: Iterable[str]) -> None:
        for name in [name for name in self.variables if name.isdigit() and name != "0"]:
            del self.variables[name]
        given = list(words)
        self.variables["@"] = self.variables["*"] = given
        self.variables["#"] = [str(len(given))]
        for number, word in enumerate(given, 1):
            self.variables[str(number)] = [word]

    def cd(self, target: str) -> None:
        before = self.cwd
        if target == "-":
            old = self.variables.get("OLDPWD") or [UNKNOWN]
            self.cwd = old[0]
        elif target == UNSET:
            self.cwd = UNSET
        elif not known(target) or ("CDPATH" in self.variables and not target.startswith(("/", "."))):
            self.cwd = self.path(target) if target.startswith("/") else UNKNOWN
        else:
            self.cwd = self.path(target)
        if len(self.cwd) > PATH_MAX:
            self.cwd = UNKNOWN
        self.variables["OLDPWD"] = [before]
        self.variables["PWD"] = [self.cwd]

    def path(self, word: str) -> str:
        """The word as an absolute path, through links made in this line; UNKNOWN where it starts unknown."""
        if not word.startswith("/"):
            if not self.cwd.startswith("/"):
                return UNKNOWN if not known(self.cwd) else self.cwd
            word = f"{self.cwd}/{word}"
        path = posixpath.normpath(word)
        path = path[1:] if path.startswith("//") else path
        if self.links:
            for _ in range(8):
                made = next((link for link in self.links if path == link or path.startswith(link + "/")), None)
                if made is None:
                    break
                path = posixpath.normpath(self.links[made] + path[len(made) :])
        return path

    def linked(self, word: str) -> bool:
        links, self.links = self.links, {}
        plain = self.path(word)
        self.links = links
        return any(plain == link or plain.startswith(link + "/") for link in links)

    def merge(self, branches: Iterable[Shell]) -> None:
        """After a condition: what the branches that go on agree on holds, the rest is not known."""
        every = list(branches)
        ends = [end for end in every if not end.ended] or every
        self.ended = ends[0].ended if ends else self.ended
        if ends and all(end.variables == ends[0].variables for end in ends):
            self.variables.update(ends[0].variables)  # which is what nearly every condition comes to
        else:
            for name in {name for end in ends for name in end.variables}:
                values = [end.lookup(name) if name in end.variables else [UNSET] for end in ends]
                self.variables[name] = values[0] if all(value == values[0] for value in values) else None
        for name in {name for end in ends for name in end.functions}:
            bodies = [body for end in ends for body in end.functions.get(name, (None,))]
            self.functions[name] = tuple(dict.fromkeys(bodies))
        for end in ends:
            self.aliases.update(end.aliases)
            self.fixed |= end.fixed
            self.exports |= end.exports
            if end.references:
                self.references = {**self.references, **end.references}
        if any(end.cwd != ends[0].cwd for end in ends):
            self.cwd = UNKNOWN
        elif ends:
            self.cwd = ends[0].cwd

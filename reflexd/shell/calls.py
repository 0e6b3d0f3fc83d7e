"""What a command line comes down to: the programs that would run, as they would be called."""

from __future__ import annotations

from msgspec import Struct


class Budget(Exception):
    """The text is larger, or means more, than what is read; caught once, at the top."""


class Redirect(Struct, frozen=True):
    """One redirection: its operator (">", ">>", "<", ...) and the field it names."""

    op: str
    target: str

    @property
    def writes(self) -> bool:
        return ">" in self.op


class Call(Struct, frozen=True):
    """One program run: its fields (see shell.fields for what is not known in them).

    `stdin` is the text it would read, None where that is not known or nothing. `fed` says
    where that text comes from: "" (nothing given), "text", "pipe", "download", "decoded" or "file"; the path of
    a file follows where it is one file's whole text ("file /a/b", and "pipe /a/b" behind a cat).
    `via` names the wrappers around it, outermost first. `defined`: the name is a function or an alias of this
    line, so no program runs; what it comes to follows as calls of its own. `around` are the words of the wrappers that
    say where it runs (a host, a namespace), `exported` what the line has exported before.
    """

    argv: tuple[str, ...]
    cwd: str
    assigned: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: str | None = None
    fed: str = ""
    via: tuple[str, ...] = ()
    background: bool = False
    defined: bool = False
    around: tuple[str, ...] = ()
    exported: tuple[tuple[str, str], ...] = ()

    @property
    def input_file(self) -> str:
        """The file that it reads as its input, as a path; empty where it reads no file, or another text is known."""
        return self.fed.partition(" ")[2] if self.stdin is None else ""

    @property
    def name(self) -> str:
        """The program's own name, without its directory."""
        first = self.argv[0] if self.argv else ""
        return first.rstrip("/").rpartition("/")[2] if "/" in first else first


class Local(Struct, frozen=True):
    """Code in a file of this machine that a command line runs.

    `kind` says how it is run: "shell", "sourced", a language of shell.foreign ("python", "js", ...), "program"
    (started by its path: its first line tells), "make", "just" or "package-script" (`arguments`: the targets, or the
    script's name first).
    `path` is absolute, "" where it is not known which file; `spelled` is the word that named it. `arguments` are
    what the code gets ($1, ...), `level` how many files deep it was named (0: by the text itself). `why` is
    empty for code that nobody has read, else what in it could not be read.
    """

    kind: str
    path: str
    spelled: str
    arguments: tuple[str, ...] = ()
    cwd: str = ""
    via: tuple[str, ...] = ()
    level: int = 0
    why: str = ""


class Reading(Struct, frozen=True):
    """Everything that a command line would run, and why it may be more than that.

    `opaque`: reasons why it could not be read whole; empty when it was. `unseen`: local code it runs that
    is neither part of the text nor given, or was given and not read whole. `followed`: local code that was given and
    read as if it stood in the text. `alike`: what it would run if letters that only look like plain ones
    were plain. `broken`: the parser stumbled.
    """

    calls: tuple[Call, ...]
    opaque: tuple[str, ...] = ()
    unseen: tuple[Local, ...] = ()
    followed: tuple[Local, ...] = ()
    alike: tuple[Call, ...] = ()
    broken: bool = False

"""A command line, walked in the order it would run: text -> Reading.

What holds: every program that the text itself makes run is in the Reading with its words resolved,
or the Reading says why it may not be (`opaque`). Nothing is executed, no file is read. Both branches of a
condition are walked, loops once a value. Code in files is walked in the same way where its text is given, and named as
`unseen` where it is not; what cannot be read in a file that was given makes the file unseen, not the line opaque,
unless it hides what runs (a download, something decoded).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

from msgspec import structs

from reflexd.shell import heredocs, spelling, syntax
from reflexd.shell.calls import Budget, Call, Local, Reading
from reflexd.shell.fields import clean
from reflexd.shell.heredocs import Heredoc
from reflexd.shell.loose import simple_commands
from reflexd.shell.script import Script
from reflexd.shell.state import Shell

DEPTH_MAX = 24  # of code within code
NODES_MAX = 12_000
CODE_A_NODE = 32  # characters of code that count like a node, so that code in code in code is not read for ever
CALLS_MAX = 600
PIPES_MAX = 200
LEVELS_MAX = 2  # of files run by files
FILES_MAX = 8
_NONE: Mapping[str, str] = {}


def read(text: str, cwd: str, home: str, env: Mapping[str, str], given: Mapping[str, str] = _NONE) -> Reading:
    """Total: every text gives a Reading. `given` holds the text of local files by their absolute path."""
    cleaned, forged = clean(text)
    walk = Walk(given)
    if forged:
        walk.opaque.append("it holds control characters")
    walk.start(cleaned, Shell(cwd, home, env))
    if not cleaned.isascii():
        plain = unicodedata.normalize("NFKC", cleaned)
        if plain != cleaned:
            alike = Walk(given)
            alike.start(plain, Shell(cwd, home, env))
            walk.alike = [call for call in alike.calls if call not in walk.calls]
    return Reading(
        tuple(dict.fromkeys(walk.calls)),
        tuple(dict.fromkeys(walk.hidden + walk.opaque)),
        tuple(dict.fromkeys(walk.unseen)),
        tuple(dict.fromkeys(walk.followed)),
        tuple(walk.alike),
        walk.broken,
    )


class Walk:
    """One reading under way: what was found, and how much may still be looked at.

    `hidden` are the reasons that count wherever the code stands, `opaque` those that count in the text itself.
    `around`: what the wrappers of what is walked now say about where it runs, `told`: variables of the command under
    way whose names say it. `listens`: a process of this text may read what a descriptor is given.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self.calls: list[Call] = []
        self.alike: list[Call] = []
        self.heredocs: list[Heredoc] = []
        self.hidden: list[str] = []
        self.opaque: list[str] = []
        self.unseen: list[Local] = []
        self.followed: list[Local] = []
        self.later: list[Callable[[], object]] = []
        self.broken = False
        self.level = 0
        self.listens = False
        self.around: tuple[str, ...] = ()
        self.told: list[str] = []
        self._given = given
        self._spent = [0, 0]  # nodes and calls of the text
        self._spent_in_files = [0, 0]
        self.sinks: dict[str, tuple[str, Shell]] = {}  # the code of every >( ), by the name of its pipe
        self._pipes: dict[str, tuple[str | None, str]] = {}

    def start(self, text: str, shell: Shell) -> None:
        try:
            self.code(text, shell, None, "", (), 0)
            while self.later:
                self.later.pop(0)()
        except Budget as e:
            self.opaque.append(str(e))
            self.broken = True
        except (RecursionError, LookupError, ValueError, TypeError) as e:
            # Found so far counts; what is left is looked at in pieces.
            self.opaque.append("it is nested too deeply" if isinstance(e, RecursionError) else "reading it failed")
            self.broken = True

    def code(
        self, text: str, shell: Shell, stdin: str | None, fed: str, via: tuple[str, ...], depth: int
    ) -> str | None:
        """Walk code in `shell`; what it prints, None if not known."""
        if depth > DEPTH_MAX:
            raise Budget("code is nested in code too deeply")
        self.count(len(text) // CODE_A_NODE)
        self.listens = self.listens or "coproc" in text
        cut, bodies = heredocs.extract(text, len(self.heredocs))
        self.heredocs.extend(bodies)
        whole = spelling.apart(spelling.plain_groups(spelling.joined(cut)))
        output = self._parsed(whole, shell, stdin, fed, via, depth)
        if "\\\n" in cut and "#" in cut:
            # A continuation next to what may be a comment: what either reading finds counts.
            self._parsed(cut, shell.copy(), stdin, fed, via, depth)
        return output

    def _parsed(
        self, text: str, shell: Shell, stdin: str | None, fed: str, via: tuple[str, ...], depth: int
    ) -> str | None:
        source = text.encode("utf-8", "replace")
        root = syntax.parse(source)
        if root is None or root.has_error:
            other = spelling.repaired(text).encode("utf-8", "replace")
            mended = syntax.parse(other) if other != source else root
            source, root = (source, root) if mended is None or mended.has_error else (other, mended)
        script = Script(self, source, shell, via, depth)
        if root is None or root.has_error:
            self.invalid()
            for command in simple_commands(text):
                script.loose(command)
        return None if root is None else script.node(root, stdin, fed, 0)

    def invalid(self) -> None:
        self.broken = True
        self.opaque.append("it is not valid shell, or not shell that can be read")

    def lost(self) -> None:
        self.broken = True
        self.opaque.append("a word is nested too deeply")

    def count(self, much: int = 1) -> None:
        self._spent[0] += much
        if self._spent[0] > NODES_MAX:
            raise Budget("it is too long to be read")

    def note(self, call: Call) -> None:
        around = (*self.around, *self.told)
        self.calls.append(structs.replace(call, around=around) if around else call)
        self._spent[1] += 1
        if self._spent[1] > CALLS_MAX:
            raise Budget("it runs too many commands to be read")

    def given(self, local: Local) -> str | None:
        """The text of a local file, if it may still be followed."""
        text = self._given.get(local.path)
        if text is None or local.level >= LEVELS_MAX:
            return None
        others = {done.path for done in self.followed} - {local.path}
        return text if len(others) < FILES_MAX else None

    def follow(self, local: Local, walked: Callable[[], str | None]) -> str | None:
        """Walk a local file's code; what is not understood in it leaves the file unseen, and the text whole."""
        self.followed.append(local)
        before, waiting, broken, spent = len(self.opaque), len(self.later), self.broken, self._spent
        self._spent = self._spent_in_files
        self.level += 1
        output = None
        try:
            output = walked()
            while len(self.later) > waiting:
                self.later.pop()()
        except Budget as e:
            self.opaque.append(str(e))
        except (RecursionError, LookupError, ValueError, TypeError):
            self.opaque.append("reading it failed")
        finally:
            self.level -= 1
            self._spent, self.broken = spent, broken
        if self.opaque[before:]:
            self.unseen.append(structs.replace(local, why=self.opaque[before]))
            del self.opaque[before:]
        return output

    def pipe(self, output: str | None, fed: str) -> str:
        if len(self._pipes) > PIPES_MAX:
            raise Budget("it opens too many pipes to be read")
        name = str(63 - len(self._pipes))
        self._pipes[name] = (output, fed)
        return name

    def piped(self, name: str) -> tuple[str | None, str]:
        return self._pipes.get(name, (None, "pipe"))

"""Here-documents, cut out of shell text before it is parsed.

`cmd <<'EOF' ...` becomes `cmd <MARK0 ...` and its body a value of its own; `cmd <<< word` becomes `cmd <STRINGword`.
The grammar loses its way over many that are quite common (`<<X 2>&1 |`, `<<X>f`, `>f <<< x`, two on a line, quotes
in a body inside $( )).

Rule: a `<<` that may be anything but a here-document (in quotes, comments, arithmetic, subscripts,
backquotes) is left for the grammar. To leave one costs a question; to cut one too many hides code.
"""

from __future__ import annotations

import re

from msgspec import Struct

from reflexd.shell.scan import ansi_c_end, quoted_end

MARK = "\ue000"  # begins the word that stands for a body; cannot come from outside (shell.fields.clean)
STRING = "\ue001"  # begins the word after <<<
_DELIMITER = re.compile(r"[ \t]*((?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|()<>'\"\\`$])+)", re.S)
_SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[[^\]\n]*\]")
_WORD = re.compile(r"[a-z]+(?=[\s;]|\Z)")
_CODE, _DOUBLE, _BRACE, _MATHS = "(", '"', "{", "="


class Heredoc(Struct, frozen=True):
    """`quoted`: the body is taken as it stands, nothing in it is expanded."""

    text: str
    quoted: bool


class _Frame:
    __slots__ = ("cases", "depth", "kind", "pending", "start")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.depth = 0
        self.cases = 0
        self.start = True  # whether a command could start here
        self.pending: list[tuple[str, bool, bool, int]] = []


def extract(text: str, first: int) -> tuple[str, list[Heredoc]]:
    """The text without its bodies, and the bodies: the one that MARK<first + i> stands for at index i."""
    if "<<" not in text:
        return text, []
    return _Extraction(text, first).run()


class _Extraction:
    def __init__(self, text: str, first: int) -> None:
        self.text = text
        self.first = first
        self.out: list[str] = []
        self.bodies: dict[int, Heredoc] = {}
        self.count = 0
        self.copied = 0
        self.frames = [_Frame(_CODE)]

    def run(self) -> tuple[str, list[Heredoc]]:
        i, n = 0, len(self.text)
        while i < n:
            kind = self.frames[-1].kind
            i = self._code(i) if kind == _CODE else self._maths(i) if kind == _MATHS else self._quoted(i)
        self.out.append(self.text[self.copied :])
        return "".join(self.out), [self.bodies.get(at, Heredoc("", False)) for at in range(self.count)]

    def _code(self, i: int) -> int:
        text, frame = self.text, self.frames[-1]
        c = text[i]
        started, frame.start = frame.start, False
        if c == "\\":
            frame.start = started and text[i + 1 : i + 2] == "\n"
            return i + 2
        if c == "'":
            return quoted_end(text, i)
        if c == '"':
            self.frames.append(_Frame(_DOUBLE))
            return i + 1
        if c == "`":
            return quoted_end(text, i)
        if c == "$":
            return self._dollar(i)
        if c == "\n":
            frame.start = True
            return self._bodies(i + 1) if frame.pending else i + 1
        if c in " \t":
            frame.start = started
            return i + 1
        if c == "#" and (i == 0 or text[i - 1] in " \t\n;&|()"):
            end = text.find("\n", i)
            return len(text) if end < 0 else end
        if c == "(":
            if text[i + 1 : i + 2] == "(":
                self.frames.append(_Frame(_MATHS))
                return i + 2
            frame.depth += 1
            frame.start = True
            return i + 1
        if c == ")":
            return self._closed(i)
        if c in ";&|{!":
            frame.start = True
            return i + 1
        if c == "<" and text[i + 1 : i + 2] == "<":
            return self._operator(i)
        if text[i - 1 : i] in ("", " ", "\t", "\n", ";", "&", "|", "("):
            return self._word(i, started)
        return i + 1

    def _word(self, i: int, started: bool) -> int:
        subscript = _SUBSCRIPT.match(self.text, i)
        if subscript:
            return subscript.end()
        word = _WORD.match(self.text, i)
        frame = self.frames[-1]
        if word and word[0] in ("case", "esac", "then", "do", "else", "in", "elif", "if", "while", "until", "time"):
            if started and word[0] == "case":
                frame.cases += 1
            elif word[0] == "esac":
                frame.cases = max(0, frame.cases - 1)
            frame.start = word[0] not in ("case", "in")
            return word.end()
        return i + 1

    def _closed(self, i: int) -> int:
        frame = self.frames[-1]
        frame.start = True
        if frame.depth:
            frame.depth -= 1
        elif frame.cases:
            pass  # the end of a pattern
        elif len(self.frames) > 1:
            self.frames.pop()
        return i + 1

    def _dollar(self, i: int) -> int:
        after = self.text[i + 1 : i + 3]
        if after[:1] == "'" and self.frames[-1].kind != _DOUBLE:
            return ansi_c_end(self.text, i + 1)
        if after == "((" or after[:1] == "[":
            self.frames.append(_Frame(_MATHS))
            return i + (3 if after == "((" else 2)
        if after[:1] == "(":
            self.frames.append(_Frame(_CODE))
            return i + 2
        if after[:1] == "{":
            self.frames.append(_Frame(_BRACE))
            return i + 2
        return i + 2 if after[:1] == "#" else i + 1

    def _maths(self, i: int) -> int:
        text, frame = self.text, self.frames[-1]
        c = text[i]
        if c == "\\":
            return i + 2
        if c == "$":
            return self._dollar(i)
        if c == "`":
            return quoted_end(text, i)
        if c in "([":
            frame.depth += 1
        elif c in ")]":
            if frame.depth:
                frame.depth -= 1
            else:
                self.frames.pop()
                return i + (2 if text.startswith("))", i) else 1)
        return i + 1

    def _quoted(self, i: int) -> int:
        """Inside "..." or ${...}."""
        text, frame = self.text, self.frames[-1]
        c = text[i]
        if c == "\\":
            return i + 2
        if c == "$":
            return self._dollar(i)
        if c == "`":
            return quoted_end(text, i)
        if c == '"' and frame.kind == _BRACE:
            self.frames.append(_Frame(_DOUBLE))
        elif c == "'" and frame.kind == _BRACE and all(f.kind != _DOUBLE for f in self._enclosing()):
            return quoted_end(text, i)
        elif (c == '"' and frame.kind == _DOUBLE) or (c == "}" and frame.kind == _BRACE):
            self.frames.pop()
        return i + 1

    def _enclosing(self) -> list[_Frame]:
        """The frames up to the next code."""
        found = []
        for frame in reversed(self.frames):
            if frame.kind == _CODE:
                break
            found.append(frame)
        return found

    def _operator(self, i: int) -> int:
        text = self.text
        if text.startswith("<<<", i):
            self.out.append(f"{text[self.copied : i]}{self._space(i)}<{STRING}")
            self.copied = i + 3
            while text[self.copied : self.copied + 1] in (" ", "\t"):
                self.copied += 1
            return self.copied
        strip = text.startswith("<<-", i)
        word = _DELIMITER.match(text, i + (3 if strip else 2))
        if word is None or text[word.end() : word.end() + 1] not in (
            "",
            " ",
            "\t",
            "\n",
            ";",
            "&",
            "|",
            "<",
            ">",
            "(",
            ")",
        ):
            return i + 2
        raw = word[1]
        quoted = any(c in raw for c in "'\"\\")
        delimiter = re.sub(r"\\(.)|['\"]", lambda m: m[1] or "", raw)
        self.out.append(f"{text[self.copied : i]}{self._space(i)}<{MARK}{self.first + self.count} ")
        self.copied = word.end()
        self.frames[-1].pending.append((delimiter, quoted, strip, self.count))
        self.count += 1
        return word.end()

    def _space(self, i: int) -> str:
        """What to put before an operator: nothing after a number, which says where the text goes."""
        return "" if re.search(r"(?:\A|[\s;&|()])\d*\Z", self.text[max(0, i - 8) : i]) else " "

    def _bodies(self, i: int) -> int:
        """Cut out the bodies that begin at this line."""
        frame = self.frames[-1]
        self.out.append(self.text[self.copied : i])
        for delimiter, quoted, strip, at in frame.pending:
            body, i = self._body(i, delimiter, quoted, strip)
            self.bodies[at] = Heredoc(body, quoted)
        frame.pending = []
        self.copied = i
        return i

    def _body(self, i: int, delimiter: str, quoted: bool, strip: bool) -> tuple[str, int]:
        lines: list[str] = []
        text, n = self.text, len(self.text)
        joined = ""
        while i < n:
            end = text.find("\n", i)
            end = n if end < 0 else end
            line = text[i:end]
            tail = (len(line) - len(line.rstrip("\\"))) % 2 == 1
            if strip and not joined:
                line = line.lstrip("\t")
            if joined + line == delimiter:
                return "".join(lines), min(end + 1, n)
            if len(self.frames) > 1 and not joined and re.match(re.escape(delimiter) + r"[ \t]*\)", line):
                return "".join(lines), i + text[i:end].index(delimiter) + len(delimiter)
            if tail and not quoted and end < n:
                joined += line[:-1]
            else:
                lines.append(joined + line + "\n")
                joined = ""
            i = end + 1
        if joined:
            lines.append(joined)
        return "".join(lines), n

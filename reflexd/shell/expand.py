"""One raw word of shell text -> the fields that the shell would make of it.

Follows the order of the shell (POSIX 2.6, and bash's braces and $'...'): braces, tilde, parameters and
substitutions, splitting, quote removal. Globs stay visible as patterns: what is on disk is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from reflexd.shell.braces import FIELDS_MAX, braces
from reflexd.shell.calls import Budget
from reflexd.shell.fields import GLOBS, PIPED, UNKNOWN, UNSET, decode_ansi_c, known
from reflexd.shell.pieces import Pieces, trimmed
from reflexd.shell.scan import ansi_c_end, closed_end, quoted_end

_EVERY = re.compile(r"\$@|\$\{@\}|\$\{[A-Za-z_]\w*\[@\]\}")
_PLAIN = re.compile(r"[\w./:@%+,=-]+\Z")
_LITERAL = re.compile(r".[^\\'\"$`<>*?\[=:]*", re.S)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-]")
_PARAMETER = re.compile(
    r"(?P<hash>#?)(?P<bang>!?)(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?P<index>\[[^\]]*\])?(?P<rest>.*)\Z",
    re.S,
)
_TRANSFORMED = {"@U": "^^", "@L": ",,", "@u": "^"}
_CUT = re.compile(r":\s*(-?\d+)(?::\s*(-?\d+))?\Z")

LEVEL_MAX = 24  # of ${...} within ${...}, and of $((...)) within $((...))
VALUE_MAX = 64 * 1024
TEXT_A_WORD = 64  # characters gone into again that count like a word

_SUBSCRIPT = re.compile(r"\w\[")
Values = list[str] | None
"""What a variable holds: its elements, [] for set but empty arrays, None for not known."""


class Expander:
    """Expands words against the variables it is given; `run` answers command substitutions.

    lookup(name) -> the value(s), None where the value is not known, KeyError where it is not set.
    run(code) -> what the code prints, None where that is not known (its commands are noted by the caller).
    pipe(code, into) -> the name under which <(code), or where `into` >(code), appears.
    spend(much) is told of words that a brace makes and of text gone into again, and raises Budget where it is too much.
    lost() is told where a word goes in so deep that only its substitutions are looked for from there on.
    """

    def __init__(
        self,
        lookup: Callable[[str], Values],
        run: Callable[[str], str | None],
        pipe: Callable[[str, bool], str],
        assign: Callable[[str, str], None],
        spend: Callable[[int], None],
        lost: Callable[[], None],
        home: str,
    ) -> None:
        self._lookup = lookup
        self._run = run
        self._pipe = pipe
        self._assign = assign
        self._spend = spend
        self._lost = lost
        self._home = home
        self._level = 0
        self._sums = 0
        self._runs = 0

    def fields(self, raw: str) -> list[str]:
        """Every field of the word, split and unquoted."""
        if _PLAIN.match(raw):
            return [raw]
        found: list[str] = []
        words = braces(raw)
        if len(words) > 1:
            self._spend(len(words))
        for word in words:
            found.extend(self._word(word))
            if len(found) > FIELDS_MAX:
                return [*found[:FIELDS_MAX], UNKNOWN]
        return found

    def text(self, raw: str) -> str:
        """The word as one field: assignments, redirections, here-documents."""
        if _PLAIN.match(raw):
            return raw
        return " ".join(self._word(raw, split=False))

    def heredoc(self, raw: str) -> str:
        """The body of an unquoted here-document: parameters and substitutions, no quotes."""
        pieces = Pieces("")
        self._deeper(raw, 0, len(raw), pieces, closing="")
        return "".join(pieces.done())

    def evaluated(self, text: str) -> None:
        """Text that arithmetic is done with: what a subscript in it substitutes is run."""
        if "[" in text and any(map(_substitutes, text.split("\n"))):
            self.heredoc(text)

    def _word(self, raw: str, split: bool = True) -> list[str]:
        self._level += 1
        if self._level > LEVEL_MAX:
            raise Budget("a word is nested too deeply")
        try:
            return self._pieces(raw, split)
        finally:
            self._level -= 1

    def _pieces(self, raw: str, split: bool) -> list[str]:
        pieces = Pieces(self._separators() if split else "")
        i, n, last_bracket = 0, len(raw), raw.rfind("]")
        if raw.startswith("~"):
            i = self._tilde(raw, 0, pieces)
        while i < n:
            c = raw[i]
            if c == "\\":
                if raw[i + 1 : i + 2] != "\n":
                    pieces.literal(raw[i + 1 : i + 2])
                i += 2
            elif c == "'":
                end = quoted_end(raw, i)
                pieces.literal(raw[i + 1 : end - 1])
                i = end
            elif c == '"':
                end = quoted_end(raw, i)
                if not _EVERY.fullmatch(raw, i + 1, end - 1):  # "$@" of nothing is no word at all
                    pieces.literal("")
                self._double(raw, i + 1, end - 1, pieces)
                i = end
            elif c == "$" and raw[i + 1 : i + 2] == "'":
                end = ansi_c_end(raw, i + 1)
                pieces.literal(decode_ansi_c(raw[i + 2 : end - 1]))
                i = end
            elif c == "$" and raw[i + 1 : i + 2] == '"':
                i += 1
            elif c in "$`":
                i = self._dollar(raw, i, n, pieces, quoted=False)
            elif c in "<>" and raw[i + 1 : i + 2] == "(":
                end = closed_end(raw, i + 1)
                pieces.literal(PIPED + self._pipe(raw[i + 2 : end - 1], c == ">"))
                i = end
            elif c in GLOBS and (c != "[" or i < last_bracket):
                pieces.literal(GLOBS[c])
                i += 1
            elif c in "=:" and raw[i + 1 : i + 2] == "~" and not split:
                pieces.literal(c)
                i = self._tilde(raw, i + 1, pieces)
            else:
                found = _LITERAL.match(raw, i)
                assert found
                pieces.literal(found[0])
                i = found.end()
        return pieces.done()

    def _separators(self) -> str:
        held = self._lookup("IFS")
        return held[0] if held and known(held[0]) else " \t\n"

    def _tilde(self, raw: str, at: int, pieces: Pieces) -> int:
        end = at + 1
        while end < len(raw) and (raw[end].isalnum() or raw[end] in "._-+"):
            end += 1
        if end < len(raw) and raw[end] not in "/:":
            pieces.literal("~")
            return at + 1
        user = raw[at + 1 : end]
        if not user:
            pieces.literal("".join(self._values("HOME")))
        elif user in ("+", "-"):
            pieces.literal("".join(self._lookup("PWD" if user == "+" else "OLDPWD") or [UNKNOWN]))
        elif self._home.endswith("/" + user):
            pieces.literal(self._home)
        else:
            pieces.literal("/root" if user == "root" else f"/home/{user}")
        return end

    def _deeper(self, raw: str, i: int, end: int, pieces: Pieces, closing: str = '"') -> None:
        """One level further in: the whole rest is searched once a level, as far as LEVEL_MAX."""
        self._spend(1 + (end - i) // TEXT_A_WORD)  # some text is gone into twice a level
        self._sums += 1
        if self._sums > LEVEL_MAX:
            self._lost()
        try:
            self._double(raw, i, end, pieces, closing)
        finally:
            self._sums -= 1

    def _double(self, raw: str, i: int, end: int, pieces: Pieces, closing: str = '"') -> None:
        while i < end:
            c = raw[i]
            if c == "\\" and raw[i + 1 : i + 2] in ("$", "`", "\\", "\n", closing or "\\"):
                if raw[i + 1] != "\n":
                    pieces.literal(raw[i + 1])
                i += 2
            elif c in "$`":
                i = self._dollar(raw, i, end, pieces, quoted=True)
            else:
                stop = i + 1
                while stop < end and raw[stop] not in "\\$`":
                    stop += 1
                pieces.literal(raw[i:stop])
                i = stop

    def _dollar(self, raw: str, i: int, end: int, pieces: Pieces, quoted: bool) -> int:
        if raw[i] == "`":
            stop = quoted_end(raw, i)
            code = re.sub(r"\\([$`\\])", r"\1", raw[i + 1 : stop - 1])
            pieces.value([self._output(code)], quoted)
            return stop
        after = raw[i + 1 : i + 2] if i + 1 < end else ""
        if after == "(":
            if self._sums > LEVEL_MAX and raw.startswith("((", i + 1):
                return i + 3  # sums within sums: what they substitute is found without taking them apart
            stop = closed_end(raw, i + 1)
            inner = raw[i + 2 : stop - 1]
            if inner.startswith("(") and inner.endswith(")"):
                sum_ = Pieces("")
                self._deeper(inner, 1, len(inner) - 1, sum_)
                self.evaluated("".join(sum_.done()))
                pieces.value([UNKNOWN], quoted)
            else:
                pieces.value([self._output(inner)], quoted)
            return stop
        if after == "{":
            stop = closed_end(raw, i + 1)
            body = raw[i + 2 : stop - 1]
            values = self._parameter(body)
            pieces.value([self._joined(values)] if quoted and body.endswith("[*]") else values, quoted)
            return stop
        name = _NAME.match(raw, i + 1) if after else None
        if not name:
            pieces.literal("$")
            return i + 1
        pieces.value(self._values(name[0], joined=name[0] == "*" and quoted), quoted)
        return name.end()

    def _output(self, code: str) -> str:
        self._runs += 1
        printed = self._run(code)
        return UNKNOWN if printed is None else printed.rstrip("\n")

    def _values(self, name: str, joined: bool = False) -> list[str]:
        try:
            found = self._lookup(name)
        except KeyError:
            return [] if name in "@*" else [""]
        if found is None:
            return [UNKNOWN]
        return [self._joined(found)] if joined else list(found)

    def _joined(self, values: list[str]) -> str:
        return self._separators()[:1].join(values)

    def _parameter(self, body: str) -> list[str]:
        """The fields of ${body}. Every form that is not computed exactly yields an unknown; what it runs is run."""
        if body[:1] in (" ", "\t", "\n", "|"):
            return [self._output(body.lstrip("|"))]
        before = self._runs
        values = self._computed(body)
        if self._runs == before and ("$(" in body or "`" in body):
            self.heredoc(body)
        return values

    def _computed(self, body: str) -> list[str]:
        found = _PARAMETER.match(body)
        if not found:
            return [UNKNOWN]
        name, index, rest = found["name"], found["index"], found["rest"]
        if found["bang"]:
            target = self._values(name)
            if rest or index or len(target) != 1 or not target[0].isidentifier():
                return [UNKNOWN]
            name = target[0]
        try:
            held = self._lookup(name)
            is_set = True
        except KeyError:
            held, is_set = [], False
        if found["hash"]:
            return [str(len("".join(held))) if held is not None and known("".join(held)) and not index else UNKNOWN]
        if rest == "@P" and held is not None:
            for value in held:
                self.heredoc(value)
            return [UNKNOWN]
        every = name in ("@", "*") or index in ("[@]", "[*]")
        if index and ("$(" in index or "`" in index):
            self.heredoc(index)
        if index and held is not None:
            held = self._element(held, index[1:-1])
        elif held is not None and len(held) > 1 and not every:
            held = held[:1]
        operator = re.match(r":?[-=?+]", rest)
        if operator:
            return self._default(name, held, is_set, operator[0], rest[operator.end() :])
        if held is None:
            return [UNKNOWN]
        if not rest:
            return held or ([] if every else [""])
        cut = _CUT.match(rest) if every else None
        if cut:
            whole = ["".join(self._values("0")), *held] if name in ("@", "*") else held
            start, length = int(cut[1]), cut[2]
            return whole[start:] if length is None else whole[start : start + int(length)] if start >= 0 else [UNKNOWN]
        return [self._changed(value, rest) for value in held or [""]]

    def _element(self, held: list[str], index: str) -> list[str]:
        if index in ("@", "*"):
            return held
        if index.lstrip("-").isdigit() and -len(held) <= int(index) < len(held):
            return [held[int(index)]]
        return [UNKNOWN]

    def _default(self, name: str, held: Values, is_set: bool, operator: str, raw: str) -> list[str]:
        word = self._word(raw, split=False)
        text = word[0] if word else ""
        if held is None:
            # Not known whether it is set: whichever of the two it is, the reader sees that it is open.
            return [UNKNOWN]
        empty = not is_set or held == [UNSET] or (operator.startswith(":") and not any(held))
        if operator.endswith("+"):
            return [text] if not empty else [UNKNOWN if held == [UNSET] and text else ""]
        if not empty:
            return held
        if operator.endswith("="):
            self._assign(name, text)
        return [UNKNOWN] if operator.endswith("?") else [text]

    def _changed(self, value: str, rest: str) -> str:
        if not known(value):
            return UNSET if value == UNSET else UNKNOWN
        rest = _TRANSFORMED.get(rest, rest)
        if rest == "@E":
            return decode_ansi_c(value)
        if rest in ("^^", ",,", "^", ","):
            part = value if len(rest) == 2 else value[:1]
            return (part.upper() if rest[0] == "^" else part.lower()) + value[len(part) :]
        if cut := _CUT.match(rest):
            start, length = int(cut[1]), cut[2]
            stop = len(value) if length is None else int(length) + (start if int(length) >= 0 else len(value))
            return value[start:stop]
        if cut := re.match(r"(##?|%%?)(.*)\Z", rest, re.S):
            return trimmed(value, cut[1], "".join(self._word(cut[2], split=False)))
        if cut := re.match(r"(//?)([^/]*)(?:/(.*))?\Z", rest, re.S):
            old = "".join(self._word(cut[2], split=False))
            new = "".join(self._word(cut[3] or "", split=False))
            if cut[1] == "/" and cut[2][:1] in ("#", "%") and known(old) and known(new):
                old = old[1:]
                if cut[2][0] == "#":
                    return new + value[len(old) :] if value.startswith(old) else value
                return value[: len(value) - len(old)] + new if value.endswith(old) else value
            if known(old) and known(new) and old and value.count(old) * len(new) < VALUE_MAX:
                return value.replace(old, new, 1 if cut[1] == "/" else -1)
        return UNKNOWN


def _substitutes(line: str) -> bool:
    """Whether a substitution stands behind the first thing that may be a subscript."""
    found = _SUBSCRIPT.search(line)
    return found is not None and (line.find("$(", found.end()) >= 0 or line.find("`", found.end()) >= 0)

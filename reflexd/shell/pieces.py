"""Fields under construction, and the pattern removal of ${value#pattern}."""

from __future__ import annotations

import fnmatch
import re

from reflexd.shell.fields import GLOBS, UNKNOWN, known

TRIMMED_MAX = 2000


class Pieces:
    """Fields being put together: literal text never splits, unquoted values do, at the separators given."""

    def __init__(self, separators: str) -> None:
        self._separators = separators
        self._fields: list[str] = []
        self._open: list[str] | None = None

    def literal(self, text: str) -> None:
        if self._open is None:
            self._open = [text]
        else:
            self._open.append(text)

    def value(self, values: list[str], quoted: bool) -> None:
        for number, value in enumerate(values):
            if number and self._separators:
                self._close()
            elif number:
                self.literal(" ")
            if quoted or not self._separators:
                self.literal(value)
            else:
                self._words(value)

    def done(self) -> list[str]:
        self._close()
        return self._fields

    def _words(self, value: str) -> None:
        """An unquoted value: split at the separators, its globs active."""
        separators = self._separators
        words = value.split() if separators == " \t\n" else re.split(f"[{re.escape(separators)}]+", value)
        words = [word for word in words if word]
        if value and value[0] in separators:
            self._close()
        for number, word in enumerate(words):
            if number:
                self._close()
            self.literal(word.translate(_ACTIVE))
        if words and value[-1:] in separators:
            self._close()

    def _close(self) -> None:
        if self._open is not None:
            self._fields.append("".join(self._open))
        self._open = None


_ACTIVE = str.maketrans(GLOBS)


def trimmed(value: str, operator: str, pattern: str) -> str:
    """${value#pattern} and its kin, for patterns of * and ? alone."""
    glob = pattern
    for mark, char in ((GLOBS["*"], "*"), (GLOBS["?"], "?")):
        glob = glob.replace(mark, char)
    if not known(glob) or "[" in glob or len(value) > TRIMMED_MAX or glob.count("*") > 3:
        return UNKNOWN
    matches = re.compile(fnmatch.translate(glob)).match
    cuts = range(len(value) + 1)
    if operator[0] == "#":
        order = cuts if operator == "#" else reversed(cuts)
        return next((value[i:] for i in order if matches(value[:i])), value)
    order = reversed(cuts) if operator == "%" else cuts
    return next((value[:i] for i in order if matches(value[i:])), value)

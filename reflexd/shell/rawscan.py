"""Text that could not be parsed, cut into pieces that might each run: for finding what must be denied.

Quotes are not respected, so words that are only data are looked at too: this is for text that will be
asked about anyhow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PIECES_MAX = 100
PIECE_MAX = 2000
_ENDS = str.maketrans(dict.fromkeys(";|&(){}`", "\n"))
_WORTH = re.compile(
    r"\b(?:rm|rmdir|dd|mkfs|shred|wipefs|find|chmod|chown|mv|git|reflex\w*|pkill|killall|kill|tee|truncate|rsync|eval)\b|>"
)


def segments(text: str) -> Iterator[str]:
    """Pieces in which a program stands that can do harm; at most PIECES_MAX. Linear in the text's length."""
    count = at = 0
    lines = text.translate(_ENDS)
    while found := _WORTH.search(text, at):
        start = lines.rfind("\n", at, found.start()) + 1 or at
        end = lines.find("\n", found.end())
        at = end = len(text) if end < 0 else end
        piece = text[start : min(end, start + PIECE_MAX)].strip()
        if end - start <= PIECE_MAX and text[end : end + 1] == "(":
            piece = piece.removesuffix("$")
        if len(piece) > 2 and _WORTH.search(piece):
            yield piece.replace("'", "").replace('"', "")
            count += 1
            if count >= PIECES_MAX:
                return

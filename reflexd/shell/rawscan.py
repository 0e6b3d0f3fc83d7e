"""Text that could not be parsed, cut into pieces that might each run: for finding what must be denied.

Quotes are not respected, so words that are only data are looked at too: this is for text that will be
asked about anyhow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PIECES_MAX = 100
PIECE_MAX = 2000
_PIECE = re.compile(r"[^\n;|&(){}`]{3,}")
_WORTH = re.compile(
    r"\b(?:rm|rmdir|dd|mkfs|shred|wipefs|find|chmod|chown|mv|git|reflex\w*|pkill|killall|kill|tee|truncate|rsync|eval)\b|>"
)


def segments(text: str) -> Iterator[str]:
    """Pieces in which a program stands that can do harm; at most PIECES_MAX. Linear in the text's length."""
    count = 0
    for found in _PIECE.finditer(text):
        piece = found[0][:PIECE_MAX].strip()
        if len(found[0]) <= PIECE_MAX and text[found.end() : found.end() + 1] == "(":
            piece = piece.removesuffix("$")
        if len(piece) > 2 and _WORTH.search(piece):
            yield piece.replace("'", "").replace('"', "")
            count += 1
            if count >= PIECES_MAX:
                return

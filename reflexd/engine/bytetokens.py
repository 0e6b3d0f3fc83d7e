"""A tokenizer of bytes with a chat format of its own: for the stand-in backend, and for tests that need no model."""

from __future__ import annotations

import re

CONTROL = ("<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
FIRST_CONTROL = 256
VOCABULARY = FIRST_CONTROL + len(CONTROL)
_CONTROL = re.compile("(" + "|".join(map(re.escape, CONTROL)) + ")")


class ByteTokens:
    """Token i < 256 is the byte i; control tokens come after."""

    ends_in_words = False

    def text(self, text: str) -> tuple[int, ...]:
        return tuple(text.encode("utf-8", "surrogatepass"))

    def markup(self, text: str) -> tuple[int, ...]:
        tokens: list[int] = []
        for piece in _CONTROL.split(text):
            tokens += [FIRST_CONTROL + CONTROL.index(piece)] if piece in CONTROL else piece.encode()
        return tuple(tokens)

    def opening(self, system: str) -> str | None:
        return f"<|system|>{system}<|end|><|user|>"

    def closing(self) -> str:
        return "<|end|><|assistant|>"

    def label(self, label: str) -> int | None:
        encoded = label.encode()
        return encoded[0] if len(encoded) == 1 else None

    def image(self, width: int, height: int) -> tuple[int, ...]:
        return ()

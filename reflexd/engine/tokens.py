"""What the prompt needs of a tokenizer. `tensor.tokenizer` has the real ones, `bytetokens` a plain one."""

from __future__ import annotations

from typing import Protocol


class Tokenizer(Protocol):
    """Thread-safe."""

    def text(self, text: str) -> tuple[int, ...]:
        """Tokens of words, the caller's among them: never a control token, whatever the words spell."""

    def markup(self, text: str) -> tuple[int, ...]:
        """Tokens of what `opening` and `closing` gave: control tokens where it spells them."""

    def opening(self, system: str) -> str | None:
        """What the model's own chat format puts before a user's words; None where it has no chat format."""

    def closing(self) -> str:
        """What follows a user's words up to the model's turn, a block of thinking closed where there is one."""

    def label(self, label: str) -> int | None:
        """The one token that `label` is when it begins the model's turn; None where it takes several."""

    def image(self, width: int, height: int) -> tuple[int, ...]:
        """An image's tokens: a marker, its placeholders, a marker. Empty where the model cannot see."""

    @property
    def ends_in_words(self) -> bool:
        """True where there is no chat format, so that a label follows our last word as its continuation."""

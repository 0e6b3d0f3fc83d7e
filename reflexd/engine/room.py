"""How many tokens one pass may have: what the device was set to, less after it had no room, more again by and by."""

from __future__ import annotations

LEAST = 16
AGAIN_AFTER = 256  # passes without trouble before a limit that was halved is doubled


class Room:
    """Not thread-safe: it belongs to the thread that owns the device."""

    def __init__(self, budget: int) -> None:
        self._most = budget
        self.tokens = budget
        self._well = 0

    def fell_short(self, tokens: int) -> bool:
        """A pass of so many tokens had no room. False: it was as small as passes get."""
        self._well = 0
        if min(tokens, self.tokens) <= LEAST:
            return False
        self.tokens = max(LEAST, min(tokens, self.tokens) // 2)
        return True

    def restore(self) -> None:
        """It was not for the passes' size that there was no room."""
        self.tokens = self._most

    def fitted(self) -> None:
        """A pass had room."""
        self._well += 1
        if self._well >= AGAIN_AFTER and self.tokens < self._most:
            self._well = 0
            self.tokens = min(self._most, 2 * self.tokens)

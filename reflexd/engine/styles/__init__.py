"""The two ways a prompt is laid out: modules with the same two functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from reflexd.engine.styles import compact, markdown
from reflexd.engine.styles.shown import Shown, Texts


class Style(Protocol):
    def state(self, state: str, texts: Texts) -> str:
        """The user's words up to the end of the state: what all questions share. `state` is rendered already."""

    def question(self, shown: Shown, texts: Texts) -> str:
        """The rest of the user's words, for one question in one order."""


STYLES: Mapping[str, Style] = {"markdown": markdown, "compact": compact}

"""System One: state and typed questions in, calibrated probabilities out, in one forward pass.

`from reflexd.engine import Engine` is the door for Python programs; it imports torch only when a model is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reflexd.engine.engine import Engine

__all__ = ["Engine"]


def __getattr__(name: str) -> Any:
    if name == "Engine":
        from reflexd.engine.engine import Engine

        return Engine
    raise AttributeError(name)

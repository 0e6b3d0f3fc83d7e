"""A command without what varies between its repetitions: ids, hashes, numbers and times become slots. Pure."""

from __future__ import annotations

import re

_SLOTS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\w)"), "<time>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"), "<hash>"),
    (re.compile(r"(?<![\w.])\d+(?![\w.])"), "<n>"),
)


def template(command: str) -> str:
    """The same for two commands that differ only in such things. Linear in the length."""
    for pattern, slot in _SLOTS:
        command = pattern.sub(slot, command)
    return command

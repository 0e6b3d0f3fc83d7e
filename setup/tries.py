"""How events that setup and doctor cause are told from those of real work."""

from __future__ import annotations

SESSION = "reflex-selfcheck"
WORK = "reflex-doctor-"
"""The beginning of the name of the directory in which doctor drives an agent."""


def is_try(session: str, cwd: str) -> bool:
    return session == SESSION or f"/{WORK}" in cwd

"""Everything that judging reads from this package, loaded at once: a hook's first call must not wait for a disk."""

from __future__ import annotations

from reflexd.core import alike, confine, human, questions, verbs
from reflexd.core.policy import shipped
from reflexd.shell import dbclients, gitkeys, places, programs, realms, sqlwords, urls, wraps


def load() -> None:
    shipped()
    programs.known()
    programs.find_row("")
    questions.shipped()
    for module in (alike, confine, gitkeys, human, places, realms, sqlwords, urls, verbs):
        module.data()
    dbclients.file()
    wraps.rows()

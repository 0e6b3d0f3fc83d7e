"""Files of one meaning: which of the tables in config/places.toml a path belongs to, for one home."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from reflexd.shell.landmarks import Landmarks
from reflexd.shell.patterns import MARKS, at_home, glob_to_regex
from reflexd.types import Place

Match = Callable[[str], object]


class Files(Struct, frozen=True, forbid_unknown_fields=True):
    """Files of one meaning. `samples`: names they really have; `holders`: directories that contain them."""

    names: tuple[str, ...]
    samples: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    exempt: tuple[str, ...] = field(default=(), name="except")


class Meanings:
    """Every table at once: a path is tried only on the patterns that share a name with it."""

    def __init__(self, files: Mapping[Place, Files], home: str) -> None:
        self._by_name: dict[str, list[tuple[Place, Match]]] = {}
        loose: list[tuple[Place, str]] = []
        for place, table in files.items():
            for name in table.names:
                key = _key(name)
                if key:
                    self._by_name.setdefault(key, []).append((place, re.compile(glob_to_regex(name, home)).match))
                else:
                    loose.append((place, glob_to_regex(name, home)))
        # Patterns without a whole name in them are of the form **/NAME: one expression says whether any fits at all.
        self._loose = [(place, re.compile(pattern).match) for place, pattern in loose]
        self._any_loose = re.compile("|".join(pattern for _, pattern in loose) or r"(?!)").match
        self._exempt: dict[Place, Match] = {
            place: re.compile("|".join(glob_to_regex(name, home) for name in table.exempt)).match
            for place, table in files.items()
            if table.exempt
        }
        self._samples = [
            (place, Landmarks(at_home(sample, home) for sample in table.samples)) for place, table in files.items()
        ]
        self._holders: dict[str, list[Place]] = {}
        for place, table in files.items():
            for holder in table.holders:
                self._holders.setdefault(holder, []).append(place)

    def of(self, path: str, deep: bool) -> list[Place]:
        """In the order of the tables' names; `deep`: a directory that usually holds such files counts as well."""
        names = path.split("/")
        found: dict[Place, None] = {}
        for name in names:
            for place, match in self._by_name.get(name, ()):
                if match(path):
                    found[place] = None
        if self._any_loose("/" + names[-1]):
            found.update((place, None) for place, match in self._loose if match(path))
        for place in [place for place in found if place in self._exempt and self._exempt[place](path)]:
            del found[place]
        if MARKS.search(path):
            found.update((place, None) for place, samples in self._samples if samples.meets(path))
        if deep:
            found.update((place, None) for place in self._holders.get(names[-1], ()))
        return list(found)


def _key(pattern: str) -> str:
    """The longest whole name in a pattern, by which it is looked up; empty where there is none."""
    names = [name for name in pattern.split("/") if name not in ("", "~", "**") and "*" not in name]
    return max(names, key=len, default="")

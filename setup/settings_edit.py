"""mode and profile in the user's config.toml, everything else in it as it is."""

from __future__ import annotations

import os

import tomlkit
from tomlkit.exceptions import ParseError

from reflexd.errors import ReflexError
from reflexd.types import Mode, Places, PlannedEdit, Profile


def edit(places: Places, current: bytes | None, mode: Mode | None, profile: Profile | None) -> PlannedEdit:
    """Raises ReflexError where the file is not readable TOML."""
    path = os.path.join(places.config, "config.toml")
    try:
        document = tomlkit.parse((current or b"").decode("utf-8"))
    except (ParseError, UnicodeDecodeError) as e:
        raise ReflexError(f"{path} is not readable TOML: {e}", "repair it, then run reflexctl setup again") from e
    for key, value in (("mode", mode), ("profile", profile)):
        if value is not None and document.get(key) != value:
            document[key] = value
    return PlannedEdit(path, current, tomlkit.dumps(document).encode(), "your settings")

"""The git repository around a directory, as far as it bears on a call: where it is, its branch, its remotes, and
which of the settings that apply name a program."""

from __future__ import annotations

from reflexd.shell.gitkeys import PREFIX, names_a_program
from reflexd.sight import gitconfig
from reflexd.sight.disk import Unread
from reflexd.sight.remotes import remotes
from reflexd.sight.repository import find
from reflexd.types import Context, Sighting


def repository(path: str, context: Context) -> Sighting:
    """`missing`: git would find none there."""
    env = {**dict(context.env), "HOME": context.home}
    found = find(path, env, context.home)
    if found is None:
        return Sighting(problem="missing")
    if isinstance(found, Unread):
        return Sighting(problem=found.detail or found.why)
    config = gitconfig.read(found, env, context.home)
    problem = config.problem
    if not problem and (found.embedded or not found.trusted):
        problem = "a bare repository inside of another" if found.embedded else "it belongs to somebody else"
    return Sighting(
        problem=problem,
        pairs=(
            ("root", found.worktree),
            ("branch", found.branch),
            *((f"remote:{remote.name}", url) for remote in remotes(config) for url in remote.urls),
            *(
                (PREFIX + entry.key, entry.value or "true")
                for entry in config.entries
                if names_a_program(entry.key, entry.value or "true")
            ),
        ),
    )

"""What git commands run in turn because settings say so: aliases, and programs named where anybody may have put them.

Known only once somebody has looked at the repository. The text of such a setting is walked as if it had been typed;
what it starts by its path is not followed further. What a person has set in files that are guarded is the person's.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterable

from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, UNSET, shown
from reflexd.shell.gitcode import subcommand
from reflexd.shell.gitkeys import HOOK, WALKED, code, run_by
from reflexd.shell.interpret import read
from reflexd.shell.places import Ground
from reflexd.types import Context, Sighting

_MOST = 32  # commands of git that are looked into
_DEEPEST = 4  # an alias names an alias


def configured(calls: Iterable[Call], context: Context, ground: Ground) -> tuple[Call, ...]:
    """The programs that would run besides those of the text itself."""
    found: list[Call] = []
    pending = [(call, 0) for call in calls if call.name == "git"][:_MOST]
    while pending:
        call, depth = pending.pop()
        sub, words, cwd = subcommand(call)
        if not sub or not cwd.startswith("/") or UNKNOWN in cwd or UNSET in cwd or depth >= _DEEPEST:
            continue
        around = ground.want("repository", cwd)
        for text, directory in _texts(sub, words, cwd, around) if around is not None else ():
            inner = read(text, directory, context.home, dict(context.env)).calls
            found += inner
            pending += [(each, depth + 1) for each in inner if each.name == "git"][:_MOST]
    return tuple(dict.fromkeys(found))


def _texts(sub: str, words: tuple[str, ...], cwd: str, around: Sighting) -> Iterable[tuple[str, str]]:
    """What a shell would run, and where."""
    root = dict(around.pairs).get("root") or cwd
    for key, value in run_by(sub, around.pairs, WALKED):
        text = shlex.quote(posixpath.join(root, value)) if key.startswith(HOOK) else code(key, value)
        if key.startswith("alias."):
            text = " ".join((text, *map(shlex.quote, map(shown, words))))
        if text:
            yield text, root if value.startswith("!") else cwd

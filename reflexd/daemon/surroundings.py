"""What is known around a call: event and peer -> Context."""

from __future__ import annotations

import os
import pwd
from functools import lru_cache

from msgspec import structs

from reflexd import paths
from reflexd.adapters.all import ADAPTERS
from reflexd.control import CheckRequest
from reflexd.daemon import peers
from reflexd.types import AGENTS, Context, Mode, Origin, Profile

# Where an agent's own variables may put its configuration.
MOVED_BY = (
    "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "OPENCODE_CONFIG_DIR",
    "PI_CODING_AGENT_DIR",
    "HERMES_HOME",
)


class Surroundings:
    """Of one user. `context` runs in any thread."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._user = pwd.getpwuid(os.geteuid()).pw_name
        self._protected = (paths.share_dir(base), paths.state_dir(base), paths.config_dir(base))

    def context(
        self, origin: Origin, pid: int, mode: Mode, profile: Profile, given: CheckRequest | None = None
    ) -> Context:
        """`given` stands in for what the caller's process says; only `reflexctl check` gives it."""
        env = peers.environment(pid)
        if given is not None:
            env |= given.env
        home = (given.home if given else "") or env.get("HOME", "")
        home = home if os.path.isabs(home) else self._base
        moved = tuple((name, env[name]) for name in MOVED_BY if name in env)
        return Context(
            cwd=origin.cwd if os.path.isabs(origin.cwd) else "",
            home=home,
            user=self._user,
            env=tuple(env.items()),
            mode=mode,
            profile=profile,
            foreign_namespace=peers.foreign_namespace(pid),
            protected=self._protected,
            hook_files=_hook_files(self._base, home, moved),
        )


@lru_cache(maxsize=64)
def _hook_files(base: str, home: str, moved: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The agents' files that hook reflex in: where this caller's agents have them, and the usual places."""
    usual = paths.places(base, {})
    env = dict(moved)
    homes = tuple((agent, os.path.abspath(paths.agent_home(agent, home, env))) for agent in AGENTS)
    lived = (structs.replace(usual, home=home, agent_homes=homes), usual)
    return tuple(dict.fromkeys(path for one in lived for a in ADAPTERS.values() for path in a.hooks_in(one)))

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
from reflexd.daemon.peers import Environment
from reflexd.daemon.programs import NOT_YET, Programs
from reflexd.types import AGENTS, Context, Mode, Origin, Past, Profile

NOTHING_BEFORE = Past()

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
        self._programs = Programs()
        self._user = pwd.getpwuid(os.geteuid()).pw_name
        self._protected = (paths.share_dir(base), paths.state_dir(base), paths.config_dir(base))

    def context(
        self,
        origin: Origin,
        pid: int | None,
        mode: Mode,
        profile: Profile,
        given: CheckRequest | None = None,
        past: Past = NOTHING_BEFORE,
    ) -> Context:
        """`given` stands in for what the caller's process says, and wholly so where there is no process (None)."""
        env = Environment() if pid is None else peers.environment(pid)
        if given is not None:
            env = _given(env, given)
        home, moved = _lives(env)
        if not home:
            home = self._base
        cwd = origin.cwd if os.path.isabs(origin.cwd) else ""
        return Context(
            cwd=cwd,
            home=home,
            user=self._user,
            env=env.pairs,
            mode=mode,
            profile=profile,
            foreign_namespace=pid is not None and peers.foreign_namespace(pid),
            protected=self._protected,
            hook_files=_hook_files(self._base, home, moved),
            own_pids=(os.getpid(),),
            past=past,
            shadowed=self._programs.shadowed(env.get("PATH"), cwd, home, wait=given is not None),
        )

    def looked(self, context: Context) -> Context:
        """With the programs of a PATH that was never seen listed. May wait for a disk."""
        if context.shadowed != NOT_YET:
            return context
        path = dict(context.env).get("PATH", "")
        return structs.replace(context, shadowed=self._programs.shadowed(path, context.cwd, context.home, wait=True))


def _given(env: Environment, given: CheckRequest) -> Environment:
    pairs = dict(env.pairs) | given.env
    return Environment(tuple((pairs | {"HOME": given.home} if given.home else pairs).items()))


@lru_cache(maxsize=64)
def _lives(env: Environment) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The home that the caller's shell expands ~ to ("": it has none), and where its agents were moved to."""
    home = env.get("HOME")
    return home if os.path.isabs(home) else "", tuple(pair for pair in env.pairs if pair[0] in MOVED_BY)


@lru_cache(maxsize=64)
def _hook_files(base: str, home: str, moved: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The agents' files that hook reflex in: where this caller's agents have them, and the usual places."""
    usual = paths.places(base, {})
    env = dict(moved)
    homes = tuple((agent, os.path.abspath(paths.agent_home(agent, home, env))) for agent in AGENTS)
    lived = (structs.replace(usual, home=home, agent_homes=homes), usual)
    return tuple(dict.fromkeys(path for one in lived for a in ADAPTERS.values() for path in a.hooks_in(one)))

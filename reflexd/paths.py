"""The one place for paths.

Everything of reflex lies below three fixed directories of the user's home; the
XDG variables are not consulted, because an agent's shell, a person's shell and a
service manager set them differently and all three must find the same socket.
`reflexctl setup` writes the absolute results into the shims: nothing is looked up
from the environment at call time there.
"""

from __future__ import annotations

import os
import pwd
import stat
import sys

from reflexd.errors import ReflexError, UnsafePathError
from reflexd.types import AGENTS, Agent, Places

SUN_PATH_MAX = 103  # bytes before the final NUL on macOS; Linux has 107


def home() -> str:
    """The user's home: $HOME where it is an absolute path to our own directory, else the passwd entry."""
    candidate = os.environ.get("HOME", "")
    if os.path.isabs(candidate):
        try:
            if os.stat(candidate).st_uid == os.geteuid():
                return os.path.normpath(candidate)
        except OSError:
            pass
    return pwd.getpwuid(os.geteuid()).pw_dir


def config_dir(base: str) -> str:
    return os.path.join(base, ".config", "reflex")


def state_dir(base: str) -> str:
    return os.path.join(base, ".local", "state", "reflex")


def share_dir(base: str) -> str:
    return os.path.join(base, ".local", "share", "reflex")


def run_dir(base: str) -> str:
    return os.path.join(state_dir(base), "run")


def hook_socket(base: str) -> str:
    return _fits(os.path.join(run_dir(base), "hook.sock"))


def control_socket(base: str) -> str:
    return _fits(os.path.join(run_dir(base), "control.sock"))


def systemone_socket(base: str) -> str:
    return _fits(os.path.join(run_dir(base), "systemone.sock"))


def systemone_key(base: str) -> str:
    """The bearer key of System One over TCP; whoever can read it may ask."""
    return os.path.join(state_dir(base), "systemone.key")


def judge_key(base: str) -> str:
    """The key of a remote judge, in a private file."""
    return os.path.join(config_dir(base), "judge.key")


def second_key(base: str) -> str:
    """The key of the stronger judge, in a private file."""
    return os.path.join(config_dir(base), "second.key")


def engine_log(base: str) -> str:
    return os.path.join(state_dir(base), "engine.log")


def models_dir(base: str) -> str:
    return os.path.join(share_dir(base), "models")


def lock_file(base: str) -> str:
    return os.path.join(run_dir(base), "lock")


def journal_file(base: str) -> str:
    return os.path.join(state_dir(base), "journal", "journal.jsonl")


def store_file(base: str) -> str:
    return os.path.join(state_dir(base), "reflex.db")


def daemon_log(base: str) -> str:
    return os.path.join(state_dir(base), "reflexd.log")


def settings_file(base: str) -> str:
    return os.path.join(config_dir(base), "config.toml")


def manifest_file(base: str) -> str:
    """What setup wrote, with the bytes it replaced: what uninstall and doctor go by."""
    return os.path.join(share_dir(base), "manifest.json")


def agent_home(agent: Agent, base: str, env: dict[str, str]) -> str:
    """Where an agent keeps its user configuration, as the agent itself would look it up at install."""
    xdg = env.get("XDG_CONFIG_HOME", "")
    match agent:
        case "claude":
            return env.get("CLAUDE_CONFIG_DIR") or os.path.join(base, ".claude")
        case "codex":
            return env.get("CODEX_HOME") or os.path.join(base, ".codex")
        case "opencode":
            return env.get("OPENCODE_CONFIG_DIR") or os.path.join(
                xdg if os.path.isabs(xdg) else os.path.join(base, ".config"), "opencode"
            )
        case "pi":
            return env.get("PI_CODING_AGENT_DIR") or os.path.join(base, ".pi", "agent")
        case "hermes":
            return env.get("HERMES_HOME") or os.path.join(base, ".hermes")


def real_interpreter() -> str:
    """The interpreter file behind this process, outside any virtual environment, links resolved."""
    base = getattr(sys, "_base_executable", "") or sys.executable
    return os.path.realpath(base)


def places(base: str, env: dict[str, str]) -> Places:
    return Places(
        home=base,
        share=share_dir(base),
        state=state_dir(base),
        config=config_dir(base),
        socket=hook_socket(base),
        python=real_interpreter(),
        uid=os.geteuid(),
        agent_homes=tuple((agent, os.path.abspath(agent_home(agent, base, env))) for agent in AGENTS),
    )


def private_dir(path: str) -> str:
    """Make `path` (and its parents) if missing, 0700; refuse one that others could change.

    Raises UnsafePathError for a symlink, a file, a foreign owner, or any group or
    other permission bit on `path` itself. Nothing is repaired: a loose directory
    may already have been used against us.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as e:
        raise ReflexError(f"cannot make {path}: {e.strerror}") from e
    check_private_dir(path)
    return path


def check_private_dir(path: str) -> None:
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafePathError(f"{path} is not a directory", f"move it away, then run: mkdir -m 700 {path}")
    if found.st_uid != os.geteuid():
        raise UnsafePathError(f"{path} belongs to uid {found.st_uid}, not to us")
    if found.st_mode & 0o077:
        raise UnsafePathError(f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):o})", f"chmod 700 {path}")


def _fits(path: str) -> str:
    if len(os.fsencode(path)) > SUN_PATH_MAX:
        raise ReflexError(f"socket path is longer than {SUN_PATH_MAX} bytes: {path}", "use a shorter home directory")
    return path

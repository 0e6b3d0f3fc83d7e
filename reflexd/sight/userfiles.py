"""Where git looks for what to ignore, and for attributes, besides the files in the worktree."""

from __future__ import annotations

from collections.abc import Mapping

from reflexd.sight.gitconfig import Config, GitDir, expanded


def ignore_files(at: GitDir, config: Config, env: Mapping[str, str]) -> list[str]:
    """The weightiest first."""
    return [f"{at.common}/info/exclude", *_users("core.excludesfile", "ignore", config, env)]


def attribute_files(at: GitDir, config: Config, env: Mapping[str, str]) -> list[str]:
    own = _users("core.attributesfile", "attributes", config, env)
    return [f"{at.common}/info/attributes", *own, "/etc/gitattributes"]


def _users(key: str, usual: str, config: Config, env: Mapping[str, str]) -> list[str]:
    home = env.get("HOME", "")
    named = config.last(key)
    if named is not None:
        path = expanded(named, home)
        return [path] if path else []
    base = env.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    return [f"{base}/git/{usual}"] if base else []

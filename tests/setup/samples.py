"""Settings as people have them: comments, their own formatting, hooks of others."""

from __future__ import annotations

from tests.ctl.world import World

CLAUDE = """{
    "env": {"EDITOR": "vi"},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}
}
"""
CODEX_HOOKS = '{"description": "mine", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
CODEX_CONFIG = 'model = "x" # the good one\n'
OPENCODE = '{\n  // mine\n  "model": "a/b",\n}\n'
HERMES = "# mine\nplugins:\n  enabled:\n    - other   # keep\nmodel: {default: x}\n"


def all_agents(world: World) -> None:
    world.write(".claude/settings.json", CLAUDE, 0o600)
    world.write(".codex/hooks.json", CODEX_HOOKS)
    world.write(".codex/config.toml", CODEX_CONFIG)
    world.write(".config/opencode/opencode.jsonc", OPENCODE)
    world.write(".pi/agent/settings.json", "{}")
    world.write(".hermes/config.yaml", HERMES)

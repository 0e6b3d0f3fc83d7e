"""Whether a run of an agent puts an "ask" before a person, from what its process shows. Pure.

A table of what was observed, and of nothing else: an argument that is not in it may be one that
answers for the person, so it means no. codex runs the tool on "ask"; opencode cannot ask from a plugin.
What cannot be seen from outside: Hermes's /yolo, typed by a person into a running session.
"""

from __future__ import annotations

import os
import re

from msgspec import Struct

from reflexd.types import Agent, Origin

MANY = -1
OPTIONAL = -2


class Run(Struct, frozen=True):
    """The process of an agent. `argv` without the empty words that a rewritten title leaves.

    `terminal`: it has a controlling one. `on_terminal`: its input and output are one, None where
    that cannot be seen. `env` holds names only.
    """

    argv: tuple[str, ...]
    terminal: bool = False
    on_terminal: bool | None = None
    env: frozenset[str] = frozenset()
    version: tuple[int, ...] = ()


CLAUDE_OLDEST = (2, 1, 197)
HERMES_OLDEST = (0, 19, 0)

# Arguments of interactive runs, and how many words each takes.
CLAUDE = {
    "--add-dir": MANY,
    "--agent": 1,
    "--agents": 1,
    "--allow-dangerously-skip-permissions": 0,
    "--allowedTools": MANY,
    "--allowed-tools": MANY,
    "--append-system-prompt": 1,
    "--autocompact": 1,
    "--ax-screen-reader": 0,
    "--betas": MANY,
    "--brief": 0,
    "--chrome": 0,
    "--no-chrome": 0,
    "-c": 0,
    "--continue": 0,
    "--dangerously-skip-permissions": 0,
    "-d": OPTIONAL,
    "--debug": OPTIONAL,
    "--debug-file": 1,
    "--disable-slash-commands": 0,
    "--disallowedTools": MANY,
    "--disallowed-tools": MANY,
    "--effort": 1,
    "--exclude-dynamic-system-prompt-sections": 0,
    "--fallback-model": 1,
    "--fork-session": 0,
    "--from-pr": OPTIONAL,
    "--ide": 0,
    "--mcp-config": MANY,
    "--model": 1,
    "-n": 1,
    "--name": 1,
    "--permission-mode": 1,
    "--plugin-dir": 1,
    "--plugin-url": 1,
    "--prompt-suggestions": OPTIONAL,
    "-r": OPTIONAL,
    "--resume": OPTIONAL,
    "--session-id": 1,
    "--setting-sources": 1,
    "--settings": 1,
    "--strict-mcp-config": 0,
    "--system-prompt": 1,
    "--tools": MANY,
    "--verbose": 0,
}
CLAUDE_COMMANDS = frozenset(
    {
        "agents",
        "attach",
        "auth",
        "auto-mode",
        "config",
        "doctor",
        "gateway",
        "import",
        "install",
        "kill",
        "logs",
        "mcp",
        "migrate-installer",
        "plugin",
        "plugins",
        "purge",
        "remote-control",
        "respawn",
        "rm",
        "server",
        "setup-token",
        "ssh",
        "stop",
        "ultrareview",
        "update",
        "upgrade",
    }
)
CLAUDE_MODES = frozenset({"default", "manual", "acceptEdits", "plan", "bypassPermissions"})
HERMES = {
    "-m": 1,
    "--model": 1,
    "--provider": 1,
    "-t": 1,
    "--toolsets": 1,
    "-r": 1,
    "--resume": 1,
    "--no-restore-cwd": 0,
    "-c": OPTIONAL,
    "--continue": OPTIONAL,
    "-w": 0,
    "--worktree": 0,
    "-s": 1,
    "--skills": 1,
    "-v": 0,
    "--verbose": 0,
    "--checkpoints": 0,
    "--max-turns": 1,
    "--pass-session-id": 0,
    "--ignore-rules": 0,
    "--cli": 0,
}
HERMES_UNASKED = frozenset({"HERMES_YOLO_MODE", "HERMES_CRON_SESSION", "HERMES_GATEWAY_SESSION", "HERMES_EXEC_ASK"})
PI_UNASKED = frozenset({"-p", "--print", "--mode"})


def prompts(agent: Agent, origin: Origin, run: Run) -> bool:
    """Whether this run is proved to prompt a person for what `origin` is about to do."""
    if not run.terminal or run.on_terminal is False or origin.subagent or origin.prompts is False:
        return False
    match agent:
        case "claude":
            # Headless runs refuse an ask by themselves, so what cannot be seen of the terminal does no harm.
            words = _plain_words(run.argv[1:], CLAUDE)
            return (
                run.version >= CLAUDE_OLDEST
                and origin.permission_mode in CLAUDE_MODES
                and words is not None
                and not CLAUDE_COMMANDS.intersection(words[:1])
            )
        case "pi":
            # pi overwrites its arguments with its name; what it says itself, with both ends on a terminal, is
            # what is left. Where the arguments can be seen they have to agree.
            said = {word.partition("=")[0] for word in run.argv}
            return origin.prompts is True and run.on_terminal is True and not PI_UNASKED & said
        case "hermes":
            script = next((i for i, word in enumerate(run.argv[:2], 1) if os.path.basename(word) == "hermes"), None)
            words = _plain_words(run.argv[script:], HERMES) if script else None
            return (
                run.version >= HERMES_OLDEST
                and run.on_terminal is True
                and not HERMES_UNASKED & run.env
                and words in ([], ["chat"])
            )
        case _:
            return False


def agents_in(argv: tuple[str, ...], exe: str) -> frozenset[str]:
    """The agents that a process could be, judged by what its program or its interpreter's script is called."""
    found: set[str] = set()
    for path in _programs(argv, exe):
        name = _SUFFIX.sub("", os.path.basename(path))
        found.add("codex" if name.startswith("codex-") else name)
        found.update(_PACKAGES[part] for part in re.split(r"[/.]", path) if part in _PACKAGES)
    return frozenset(found & AGENT_NAMES)


AGENT_NAMES = frozenset({"claude", "codex", "opencode", "pi", "hermes"})
_PACKAGES = {
    "claude-code": "claude",
    "pi-coding-agent": "pi",
    "opencode-ai": "opencode",
    "hermes_cli": "hermes",
    "hermes_agent": "hermes",
}
_SUFFIX = re.compile(r"\.(exe|js|mjs|cjs|py)\Z")
_INTERPRETER = re.compile(r"(python|node|nodejs|bun|deno|sh|bash|dash|zsh|env)[0-9.]*\Z")


def _programs(argv: tuple[str, ...], exe: str) -> list[str]:
    exe = exe.removesuffix(" (deleted)")
    programs = [exe, *argv[:1]]
    if any(_INTERPRETER.match(os.path.basename(program)) for program in programs):
        for i, word in enumerate(argv[1:8], 1):
            if word in ("-c", "-e"):
                break
            if word == "-m" or not word.startswith("-"):
                programs.append(argv[min(i + 1, len(argv) - 1)] if word == "-m" else word)
                break
    return programs


def _plain_words(argv: tuple[str, ...], known: dict[str, int]) -> list[str] | None:
    """The words that belong to no option; None where there is an option that is not known."""
    words: list[str] = []
    pending = list(argv)
    while pending:
        word = pending.pop(0)
        if word == "--":
            return words + pending
        if not word.startswith("-") or word == "-":
            words.append(word)
            continue
        name, given, _ = word.partition("=")
        if name not in known or (given and not name.startswith("--")):
            return None
        takes = 0 if given else known[name]
        if takes > 0:
            del pending[:takes]
        while takes < 0 and pending and not pending[0].startswith("-"):
            del pending[0]
            takes = 0 if takes == OPTIONAL else takes
    return words

"""Whether a run prompts a person: the table, and real processes that look like agents."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.daemon.asking import CLAUDE, HERMES, Run, agents_in, prompts
from reflexd.types import Origin
from tests.daemon.running import Daemon, in_terminal

NOW = (2, 1, 332)
CLAUDE_SAYS = Origin("claude", "PreToolUse", permission_mode="default")
PI_SAYS = Origin("pi", "tool_call", prompts=True)
HERMES_SAYS = Origin("hermes", "pre_tool_call")


def claude(*words: str, **fields: object) -> Run:
    return Run(("claude", *words), terminal=True, on_terminal=True, version=NOW, **fields)  # type: ignore[arg-type]


def hermes(*words: str, env: frozenset[str] = frozenset(), version: tuple[int, ...] = (0, 19, 0)) -> Run:
    return Run(("/v/bin/python3", "/v/bin/hermes", *words), True, True, env, version)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("fix the bug",),
        ("-c",),
        ("--resume", "abc"),
        ("--model", "opus", "fix it"),
        ("--model=opus",),
        ("--dangerously-skip-permissions",),
        ("--allowedTools", "Bash", "mcp", "--verbose"),
        ("--append-system-prompt", "-p"),
        ("--", "-p"),
    ],
)
def test_interactive_claude_prompts(words: tuple[str, ...]) -> None:
    assert prompts("claude", CLAUDE_SAYS, claude(*words))


@pytest.mark.parametrize(
    "words",
    [
        ("-p", "hi"),
        ("--print",),
        ("-cp",),
        ("--print=true",),
        ("--output-format", "json"),
        ("--model", "opus", "-p"),
        ("--resume", "-p"),
        ("mcp", "serve"),
        ("--verbose", "agents"),
        ("--bg", "fix it"),
        ("--cloud",),
        ("--some-new-flag",),
        ("-c=1",),
        ("--allowedTools", "Bash", "-p"),
    ],
)
def test_any_other_claude_does_not(words: tuple[str, ...]) -> None:
    assert not prompts("claude", CLAUDE_SAYS, claude(*words))


@pytest.mark.parametrize("mode", ["auto", "dontAsk", "", "somethingNew"])
def test_modes_that_answer_for_the_person_do_not(mode: str) -> None:
    assert not prompts("claude", Origin("claude", "PreToolUse", permission_mode=mode), claude())


def test_what_takes_the_prompt_away_counts_for_all() -> None:
    for agent, origin, run in (
        ("claude", CLAUDE_SAYS, claude()),
        ("pi", PI_SAYS, Run(("pi",), True, True)),
        ("hermes", HERMES_SAYS, hermes()),
    ):
        assert prompts(agent, origin, run), agent  # type: ignore[arg-type]
        for less in (
            Run(run.argv, False, True, run.env, run.version),
            Run(run.argv, True, False, run.env, run.version),
        ):
            assert not prompts(agent, origin, less), agent  # type: ignore[arg-type]
        for fields in ({"subagent": "x"}, {"prompts": False}):
            said = {"prompts": origin.prompts, "permission_mode": origin.permission_mode, **fields}
            assert not prompts(agent, Origin(agent, origin.event, **said), run)  # type: ignore[arg-type]


def test_versions_older_than_what_was_observed_do_not() -> None:
    for version in ((), (2, 1, 196), (1, 0, 0)):
        assert not prompts("claude", CLAUDE_SAYS, Run(("claude",), True, True, frozenset(), version))
    for version in ((), (0, 18, 9)):
        assert not prompts("hermes", HERMES_SAYS, hermes(version=version))


def test_pi_needs_its_own_word_and_a_terminal_that_is_seen() -> None:
    assert not prompts("pi", Origin("pi", "tool_call"), Run(("pi",), True, True))
    assert not prompts("pi", PI_SAYS, Run(("pi",), True, None))
    for word in ("-p", "--print", "--mode", "--mode=rpc"):
        assert not prompts("pi", PI_SAYS, Run(("node", "pi", word, "rpc"), True, True))


@pytest.mark.parametrize("words", [(), ("chat",), ("-m", "x", "chat"), ("--resume", "s"), ("-c",), ("-c", "name")])
def test_the_chat_of_hermes_prompts(words: tuple[str, ...]) -> None:
    assert prompts("hermes", HERMES_SAYS, hermes(*words))


@pytest.mark.parametrize(
    "words",
    [("-z", "x"), ("chat", "-q", "x"), ("chat", "--query=x"), ("--yolo",), ("--tui",), ("gateway",), ("acp",), ("-Q",)],
)
def test_any_other_hermes_does_not(words: tuple[str, ...]) -> None:
    assert not prompts("hermes", HERMES_SAYS, hermes(*words))


def test_hermes_told_by_its_environment_does_not() -> None:
    assert not prompts("hermes", HERMES_SAYS, hermes(env=frozenset({"PATH", "HERMES_YOLO_MODE"})))


def test_codex_and_opencode_never_do() -> None:
    for agent in ("codex", "opencode"):
        assert not prompts(agent, Origin(agent, "x"), Run((agent,), True, True, frozenset(), (99, 0, 0)))  # type: ignore[arg-type]


KNOWN = [*CLAUDE, *HERMES, "-p", "--print", "-z", "-q", "--yolo", "chat", "mcp"]


@given(st.lists(st.one_of(st.text(max_size=8), st.sampled_from(KNOWN)).filter(lambda word: word != "--"), max_size=6))
def test_an_unknown_option_never_prompts_whatever_stands_around_it(words: list[str]) -> None:
    assert not prompts("claude", CLAUDE_SAYS, claude("--unknown", *words))
    assert not prompts("hermes", HERMES_SAYS, hermes("--unknown", *words))
    assert not prompts("hermes", HERMES_SAYS, Run(("hermes", "--unknown", *words), True, True, frozenset(), (9,)))


@pytest.mark.parametrize(
    ("argv", "exe", "agent"),
    [
        (("claude", "-p"), "/n/@anthropic-ai/claude-code/bin/claude.exe", "claude"),
        (("claude",), "/h/.local/share/claude/versions/2.1.332", "claude"),
        (("node", "/n/@anthropic-ai/claude-code/cli.js"), "/usr/bin/node", "claude"),
        (("pi",), "/usr/bin/node", "pi"),
        (("node", "--no-warnings", "/n/@mariozechner/pi-coding-agent/dist/cli.js"), "/usr/bin/node", "pi"),
        (("/n/.bin/codex-x86_64-unknown-linux-musl",), "/n/codex/codex-x86_64-unknown-linux-musl", "codex"),
        (("opencode",), "/n/opencode-ai/bin/opencode", "opencode"),
        (("/v/bin/python3", "/v/bin/hermes", "chat"), "/usr/bin/python3.11", "hermes"),
        (("/v/bin/python3", "-m", "hermes_cli.main"), "/usr/bin/python3.11", "hermes"),
        (("claude",), "/opt/claude (deleted)", "claude"),
    ],
)
def test_agents_are_known_by_their_programs(argv: tuple[str, ...], exe: str, agent: str) -> None:
    assert agents_in(argv, exe) == {agent}


@pytest.mark.parametrize(
    "argv",
    [
        ("vim", "claude"),
        ("bash", "-c", "exec claude"),
        ("python3", "-I", "-S", "/s/reflex_hook.py", "claude", "PreToolUse"),
        ("grep", "pi"),
        ("-bash",),
        (),
    ],
)
def test_others_are_not_taken_for_agents(argv: tuple[str, ...]) -> None:
    assert agents_in(argv, "/usr/bin/" + (argv[0].strip("-") if argv else "x")) == frozenset()


# ---- real processes ----------------------------------------------------------------

ASKS = """
import os, socket
agent, event, payload = said
data = payload.encode()
with socket.socket(socket.AF_UNIX) as sock:
    sock.connect(os.path.expanduser("~/.local/state/reflex/run/hook.sock"))
    sock.sendall(b"RFX1 %b %b 5000 %d\\n" % (agent.encode(), event.encode(), len(data)) + data)
    answer = b""
    while part := sock.recv(65536):
        answer += part
print(answer.decode().removeprefix("RFX1 "))
"""
SECRET = "cat ~/.ssh/id_rsa"


def payload_of(agent: str) -> tuple[str, str]:
    match agent:
        case "claude":
            said = {"hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "Bash"}
            return "PreToolUse", json.dumps({**said, "tool_input": {"command": SECRET}})
        case "pi":
            inner = {"toolName": "bash", "input": {"command": SECRET}}
            return "tool_call", json.dumps({"event": "tool_call", "hasUI": True, "payload": inner})
        case _:
            inner = {"tool_name": "terminal", "args": {"command": SECRET}}
            return "pre_tool_call", json.dumps({"event": "pre_tool_call", "payload": inner})


def script(path: Path, agent: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"said = {(agent, *payload_of(agent))}\n{ASKS}")
    return str(path)


@pytest.fixture
def programs(daemon: Daemon) -> dict[str, list[str]]:
    """Processes that look like the agents, and send an event of theirs that asks."""
    home = Path(daemon.home)
    package = home / "node_modules/@anthropic-ai/claude-code"
    claude = script(package / "cli.py", "claude")
    (package / "package.json").write_text('{"name": "@anthropic-ai/claude-code", "version": "2.1.332"}')
    (home / "pi").symlink_to(sys.executable)
    venv = home / "venv"
    (venv / "lib/python3.11/site-packages/hermes_agent-0.19.0.dist-info").mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin/python3").symlink_to(sys.executable)
    return {
        "claude": [sys.executable, claude],
        "pi": [str(home / "pi"), script(home / "any.py", "pi")],
        "hermes": [str(venv / "bin/python3"), script(venv / "bin/hermes", "hermes"), "chat"],
    }


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
class TestProcesses:
    def test_claude_in_a_terminal_is_asked(self, daemon: Daemon, programs: dict[str, list[str]]) -> None:
        _, said = in_terminal(daemon.home, "person", *programs["claude"], "--verbose")
        assert '"permissionDecision": "ask"' in said
        assert daemon.rows()[0].asked
        _, said = in_terminal(daemon.home, "person", *programs["claude"], "-p")
        assert said.startswith("2 ")
        assert not daemon.rows()[0].asked

    def test_pi_in_a_terminal_is_asked(self, daemon: Daemon, programs: dict[str, list[str]]) -> None:
        _, said = in_terminal(daemon.home, "person", *programs["pi"])
        assert '{"confirm":' in said
        _, said = in_terminal(daemon.home, "person", "/bin/sh", "-c", '"$@" </dev/null', "sh", *programs["pi"])
        assert said.startswith("2 ")

    def test_hermes_in_a_terminal_is_asked(self, daemon: Daemon, programs: dict[str, list[str]]) -> None:
        _, said = in_terminal(daemon.home, "person", *programs["hermes"])
        assert '"action": "approve"' in said
        _, said = in_terminal(daemon.home, "person", *programs["hermes"], "-q", "x")
        assert said.startswith("2 ")

    def test_another_agents_process_does_not_count(self, daemon: Daemon, programs: dict[str, list[str]]) -> None:
        _, said = in_terminal(daemon.home, "person", programs["claude"][0], programs["pi"][1])
        assert said.startswith("2 ")

    def test_without_a_terminal_nobody_is(self, daemon: Daemon) -> None:
        for agent in ("claude", "pi", "hermes"):
            event, payload = payload_of(agent)
            assert daemon.call(agent, event, payload.encode()).exit == 2
            assert (daemon.rows()[0].decision, daemon.rows()[0].asked) == ("ask", False)


def test_the_interpreter_is_no_agent() -> None:
    assert agents_in((sys.executable, "-m", "pytest"), os.path.realpath(sys.executable)) == frozenset()

"""doctor runs what is installed, and names what is wrong with the command that mends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from reflexd.setup import gaps
from tests.ctl.world import World
from tests.setup import samples

AGENTS = "claude,opencode,pi,hermes"


@pytest.fixture
def installed(world: World) -> World:
    samples.all_agents(world)
    done = world.ctl("setup", "--agents", AGENTS, "--yes")
    assert done.returncode == 0, done.stderr
    return world


def wrong(world: World) -> list[str]:
    done = world.ctl("doctor", "--json")
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    found = [f"{f['subject']}: {f['text']}" for f in findings if f["state"] == "wrong"]
    assert done.returncode == (1 if found else 0), done.stderr
    return found


def test_all_is_well_and_the_hosts_limits_are_listed(installed: World) -> None:
    done = installed.ctl("doctor")
    assert done.returncode == 0, done.stdout
    for title in ("Claude Code", "opencode", "pi", "Hermes"):
        assert f"ok     {title}: `git status` goes on, `rm -rf ~` is refused" in done.stdout
    for limit in ("disableAllHooks", "--pure", "-ne", "--safe-mode"):
        assert limit in done.stdout


def test_a_daemon_that_is_down_is_named_with_what_starts_it(installed: World) -> None:
    installed.kill_daemon()
    done = installed.ctl("doctor")
    assert done.returncode == 1
    assert "mend: start it with: reflexctl start" in done.stdout
    assert installed.ctl("start").returncode == 0
    assert wrong(installed) == []


def test_a_daemon_that_hangs_is_not_waited_for_ever(installed: World) -> None:
    pid = installed.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert "daemon: the daemon did not answer in time" in wrong(installed)
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (".local/share/reflex/shims/reflex_hook.py", "REFUSED = 40, 42", "REFUSED = 40, 40"),
        (".local/share/reflex/shims/reflex_hook.py", "import posix", "import posixx"),
        (".config/opencode/plugins/reflex.js", "throw new Error(why)", "why"),
        (
            ".config/opencode/plugins/reflex.js",
            "export const ReflexPlugin",
            "export const x = 1; export const ReflexPlugin",
        ),
        (".config/opencode/plugins/reflex.js", "import net", "imporrt net"),
        (".config/opencode/opencode.jsonc", '"**"', '"*"'),
        (".pi/agent/extensions/reflex.ts", "block: true", "blocked: true"),
        (".hermes/plugins/reflex/__init__.py", '"action": "block"', '"action": "pass"'),
        (".hermes/plugins/reflex/plugin.yaml", "name: reflex", "name: reflux"),
        (".hermes/config.yaml", "    - reflex\n", ""),
        (".claude/settings.json", "PreToolUse", "PreToolUsed"),
        (".claude/settings.json", "42) exit 2", "42) exit 0"),
        (".local/share/reflex/unhook", "exit 1", "exit 0"),
    ],
)
def test_a_file_that_somebody_changed_is_found_and_mended(installed: World, path: str, old: str, new: str) -> None:
    text = installed.read(path)
    assert old in text
    installed.write(path, text.replace(old, new), 0o700 if path.endswith("unhook") else 0o600)
    found = wrong(installed)
    assert any(path in line for line in found), found
    mended = installed.ctl("setup", "--agents", AGENTS, "--yes")
    assert mended.returncode == 0, mended.stderr
    assert wrong(installed) == []


@pytest.mark.parametrize(
    "path",
    [
        ".local/share/reflex/shims/reflex_hook.py",
        ".config/opencode/plugins/reflex.js",
        ".pi/agent/extensions/reflex.ts",
        ".hermes/plugins/reflex/__init__.py",
        ".claude/settings.json",
    ],
)
def test_a_file_that_is_gone_is_found(installed: World, path: str) -> None:
    os.unlink(installed.path(path))
    assert any(path in line for line in wrong(installed))


def test_a_hook_that_lets_a_dangerous_call_go_on_is_found(installed: World) -> None:
    """The files are as installed; what is behind the socket is not."""
    installed.ctl_tty("mode", "off")
    assert "daemon: the mode is off: nothing is refused" in wrong(installed)


def test_directories_that_others_can_enter_are_found(installed: World) -> None:
    os.chmod(installed.path(".local/share/reflex"), 0o755)
    assert any("open to others" in line for line in wrong(installed))


def test_a_broken_policy_is_named_with_its_line(installed: World) -> None:
    installed.write(".config/reflex/policy.toml", "[[rule]]\nid = 3\n", 0o600)
    found = wrong(installed)
    assert any("policy.toml" in line and "line 2" in line for line in found), found


def test_a_directory_in_the_settings_place_is_named_and_no_crash(installed: World) -> None:
    os.makedirs(installed.path(".config/reflex/config.toml"))
    assert any("config.toml" in line and "is not a file" in line for line in wrong(installed))
    installed.kill_daemon()
    assert installed.ctl("start").returncode == 0, "the daemon starts with the last good settings"


@pytest.mark.parametrize("name", [".claude/settings.local.json", "repo/.claude/settings.json"])
def test_settings_beside_the_user_s_that_switch_hooks_off_are_found(installed: World, name: str) -> None:
    installed.write(name, '{"disableAllHooks": true}')
    os.makedirs(installed.path("repo"), exist_ok=True)
    done = installed.ctl("doctor", cwd=installed.path("repo"))
    assert done.returncode == 1
    assert f"{installed.path(name)} sets disableAllHooks" in done.stdout


def test_an_administrator_s_settings_that_drop_the_user_s_hooks_are_found(world: World) -> None:
    json_path = world.write("managed-settings.json", '{"allowManagedHooksOnly": true}')
    toml_path = world.write("requirements.toml", "allow_managed_hooks_only = true")
    managed = (json_path, toml_path, world.path("absent.json"))
    assert [json_path in gap.text for gap in gaps.hosts("claude", world.home, world.home, managed)] == [True]
    assert [toml_path in gap.text for gap in gaps.hosts("codex", world.home, world.home, managed)] == [True]
    for text in ("", "{", "[]", '{"allowManagedHooksOnly": "yes"}'):
        world.write("managed-settings.json", text)
        assert gaps.hosts("claude", world.home, world.home, managed) == ()


def test_a_new_version_of_an_agent_is_noticed_once(world: World) -> None:
    world.write("bin/claude", "#!/bin/sh\necho 1.0.0\n", 0o755)
    world.link("claude", world.path("bin/claude"))
    assert world.ctl("setup", "--agents", "claude", "--yes").returncode == 0
    world.write("bin/claude", "#!/bin/sh\necho 1.1.0\n", 0o755)
    assert "was 1.0.0 at the last look and is 1.1.0" in world.ctl("doctor").stdout
    assert "at the last look" not in world.ctl("doctor").stdout


def test_nothing_installed_is_said(world: World) -> None:
    done = world.ctl("doctor")
    assert done.returncode == 1
    assert "nothing is installed here" in done.stdout


def test_an_agent_that_came_later_is_pointed_out(installed: World) -> None:
    installed.write(".codex/config.toml", "")
    done = installed.ctl("doctor")
    assert "Codex: is on this machine and not hooked\n       mend: reflexctl setup --agents codex" in done.stdout


def test_without_node_the_plugins_are_not_called_tried(installed: World) -> None:
    os.unlink(os.path.join(installed.bin, "node"))
    if subprocess.run(["/usr/bin/env", "PATH=/usr/bin:/bin", "which", "node"], capture_output=True).returncode == 0:
        return  # there is another one
    assert any("could not be tried" in line for line in wrong(installed))

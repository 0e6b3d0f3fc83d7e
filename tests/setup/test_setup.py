"""setup and uninstall as a person runs them, in throwaway homes with a real daemon."""

from __future__ import annotations

import json
import os
import stat

import pytest

from tests.ctl.world import World
from tests.setup import samples

ALL = "claude,codex,opencode,pi,hermes"
WITHOUT_CODEX = "claude,opencode,pi,hermes"  # no codex binary here, so its trust cannot be had
STATE = (".local", ".local/state", ".local/share")


def agents_tree(world: World) -> dict[str, tuple[int, bytes]]:
    return {path: entry for path, entry in world.tree().items() if path.split("/")[0] != ".local"}


def test_setup_hooks_proves_and_uninstall_leaves_nothing_behind(world: World) -> None:
    samples.all_agents(world)
    before = world.tree()
    done = world.ctl("setup", "--agents", WITHOUT_CODEX, "--yes")
    assert done.returncode == 0, done.stderr
    for title in ("Claude Code", "opencode", "pi", "Hermes"):
        assert f"{title}: `git status` goes on, `rm -rf ~` is refused" in done.stderr
    assert world.daemon_pid()
    assert stat.S_IMODE(os.stat(world.path(".local/share/reflex/manifest.json")).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(world.path(".claude/settings.json")).st_mode) == 0o600
    gone = world.ctl("uninstall", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert not world.daemon_pid()
    assert world.tree() == before


def test_codex_without_its_binary_is_said_loudly(world: World) -> None:
    samples.all_agents(world)
    done = world.ctl("setup", "--agents", "codex", "--yes")
    assert done.returncode == 1
    assert "CODEX DOES NOT RUN OUR HOOKS YET" in done.stderr
    assert "accept the hooks" in done.stderr
    before = json.loads(samples.CODEX_HOOKS)
    hooks = json.loads(world.read(".codex/hooks.json"))
    assert hooks["hooks"]["Stop"][0] == before["hooks"]["Stop"][0]
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.read(".codex/hooks.json") == samples.CODEX_HOOKS


def test_dry_run_shows_everything_and_writes_nothing(world: World) -> None:
    samples.all_agents(world)
    before = world.tree()
    done = world.ctl("setup", "--agents", ALL, "--dry-run", "--mode", "shadow")
    assert done.returncode == 0, done.stderr
    for path in (
        ".claude/settings.json",
        ".codex/hooks.json",
        ".hermes/config.yaml",
        ".config/opencode/opencode.jsonc",
    ):
        assert f"+++ {world.path(path)}" in done.stdout
    assert '+mode = "shadow"' in done.stdout
    assert world.tree() == before
    assert not world.daemon_pid()


def test_a_second_setup_changes_no_byte(world: World) -> None:
    samples.all_agents(world)
    assert world.ctl("setup", "--agents", WITHOUT_CODEX, "--yes").returncode == 0
    once = agents_tree(world)
    again = world.ctl("setup", "--agents", WITHOUT_CODEX, "--yes")
    assert again.returncode == 0, again.stderr
    assert "every file is as it should be" in again.stderr
    assert agents_tree(world) == once


def test_only_agents_that_are_there_are_hooked(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    done = world.ctl("setup", "--yes")
    assert done.returncode == 0, done.stderr
    assert "not found on this machine: Codex, opencode, pi, Hermes" in done.stderr
    assert not world.exists(".pi")
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.read(".claude/settings.json") == "{}"


def test_what_others_changed_since_is_kept(world: World) -> None:
    samples.all_agents(world)
    assert world.ctl("setup", "--agents", WITHOUT_CODEX, "--yes").returncode == 0
    settings = json.loads(world.read(".claude/settings.json"))
    settings["model"] = "opus"
    settings["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say done"}]})
    world.write(".claude/settings.json", json.dumps(settings, indent=2), 0o600)
    world.write(".hermes/config.yaml", world.read(".hermes/config.yaml") + "added: 1\n")
    jsonc = world.read(".config/opencode/opencode.jsonc").replace("// mine", "// still mine")
    world.write(".config/opencode/opencode.jsonc", jsonc)
    done = world.ctl("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    expected = json.loads(samples.CLAUDE)
    expected["model"] = "opus"
    expected["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "say done"}]}]
    assert json.loads(world.read(".claude/settings.json")) == expected
    assert world.read(".hermes/config.yaml") == samples.HERMES + "added: 1\n"
    assert world.read(".config/opencode/opencode.jsonc") == samples.OPENCODE.replace("// mine", "// still mine")


def test_settings_that_somebody_emptied_since_stay_as_they_are(world: World) -> None:
    world.write(".claude/settings.json", samples.CLAUDE)
    world.write(".hermes/config.yaml", samples.HERMES)
    assert world.ctl("setup", "--yes").returncode == 0
    world.write(".claude/settings.json", "{}\n")
    world.write(".hermes/config.yaml", "")
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.read(".claude/settings.json") == "{}\n"
    assert world.read(".hermes/config.yaml") == ""


def test_a_change_between_two_setups_is_no_reason_to_lose_the_first_bytes(world: World) -> None:
    world.write(".claude/settings.json", samples.CLAUDE)
    assert world.ctl("setup", "--yes").returncode == 0
    hooked = world.read(".claude/settings.json")
    # Somebody throws half of our hooks out; the next setup puts them back, and the last word is uninstall's.
    settings = json.loads(hooked)
    del settings["hooks"]["SessionStart"]
    world.write(".claude/settings.json", json.dumps(settings, indent=4) + "\n")
    assert world.ctl("setup", "--yes").returncode == 0
    assert "SessionStart" in world.read(".claude/settings.json")
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert json.loads(world.read(".claude/settings.json")) == json.loads(samples.CLAUDE)


def test_a_file_of_somebody_else_in_our_place_is_never_touched(world: World) -> None:
    world.write(".pi/agent/extensions/reflex.ts", "export default () => {}\n")
    world.write(".claude/settings.json", "{}")
    done = world.ctl("setup", "--yes")
    assert done.returncode == 1
    assert "pi is left as it is" in done.stderr
    assert "Claude Code: `git status` goes on" in done.stderr
    assert world.read(".pi/agent/extensions/reflex.ts") == "export default () => {}\n"
    world.ctl("uninstall", "--yes")
    assert world.read(".pi/agent/extensions/reflex.ts") == "export default () => {}\n"


@pytest.mark.parametrize("broken", ['{"hooks": ', "[]", '{"hooks": 3}', '{"hooks": {"PreToolUse": {}}}', "\x00\x01"])
def test_settings_that_cannot_be_read_are_left_alone(world: World, broken: str) -> None:
    world.write(".claude/settings.json", broken)
    world.write(".pi/agent/settings.json", "{}")
    done = world.ctl("setup", "--yes")
    assert done.returncode == 1
    assert "Claude Code is left as it is" in done.stderr
    assert "Traceback" not in done.stderr
    assert "pi: `git status` goes on" in done.stderr
    assert world.read(".claude/settings.json") == broken


def test_a_read_only_file_is_left_alone_and_named(world: World) -> None:
    world.write(".claude/settings.json", "{}", 0o444)
    done = world.ctl("setup", "--yes")
    assert done.returncode == 1
    assert "is read-only" in done.stderr
    assert "chmod u+w" in done.stderr
    assert world.read(".claude/settings.json") == "{}"


def test_settings_behind_a_symlink_stay_behind_it(world: World) -> None:
    world.write("dotfiles/claude.json", samples.CLAUDE)
    os.makedirs(world.path(".claude"))
    os.symlink("../dotfiles/claude.json", world.path(".claude/settings.json"))
    before = world.tree()
    assert world.ctl("setup", "--yes").returncode == 0
    assert os.readlink(world.path(".claude/settings.json")) == "../dotfiles/claude.json"
    assert "reflex_hook.py" in world.read("dotfiles/claude.json")
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.tree() == before


def test_nothing_is_changed_without_a_yes(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    before = world.tree()
    done = world.ctl("setup")
    assert done.returncode == 1
    assert "there is no terminal to ask at" in done.stderr
    assert "--yes" in done.stderr
    code, said = world.ctl_tty("setup", type_in="n\n")
    assert code == 1
    assert "change these files? [y/N]" in said
    assert world.tree() == before


def test_a_yes_at_the_terminal_is_enough(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    code, said = world.ctl_tty("setup", type_in="y\n")
    assert code == 0, said
    assert "reflex_hook.py" in world.read(".claude/settings.json")
    code, said = world.ctl_tty("uninstall", type_in="n\n")
    assert code == 1
    assert "reflex_hook.py" in world.read(".claude/settings.json")
    code, said = world.ctl_tty("uninstall", type_in="y\n")
    assert code == 0, said
    assert world.read(".claude/settings.json") == "{}"


def test_uninstall_can_leave_the_journal(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    assert world.ctl("setup", "--yes").returncode == 0
    done = world.ctl("uninstall", "--yes", "--keep-state")
    assert done.returncode == 0
    assert world.exists(".local/state/reflex/journal/journal.jsonl")
    assert "left: ~/.local/state/reflex" in done.stderr


def test_uninstall_removes_only_what_reflex_made(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    assert world.ctl("setup", "--yes").returncode == 0
    mine = (".local/share/reflex/notes", ".local/state/reflex/notes", ".config/reflex/policy.toml", ".claude/notes")
    for name in mine:
        world.write(name, "mine")
    done = world.ctl("uninstall", "--yes")
    assert done.returncode == 0
    assert [world.read(name) for name in mine] == ["mine"] * 4
    assert "left:" in done.stderr


def test_the_mode_is_set_and_the_rest_of_the_settings_kept(world: World) -> None:
    world.write(".config/reflex/config.toml", '# careful\nprofile = "autonomous"\n')
    os.chmod(world.path(".config/reflex"), 0o700)
    world.write(".claude/settings.json", "{}")
    done = world.ctl("setup", "--yes", "--mode", "shadow")
    assert done.returncode == 0, done.stderr
    assert world.read(".config/reflex/config.toml") == '# careful\nprofile = "autonomous"\nmode = "shadow"\n'
    assert json.loads(world.ctl("status", "--json").stdout)["daemon"]["mode"] == "shadow"
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.read(".config/reflex/config.toml") == '# careful\nprofile = "autonomous"\n'


def test_a_home_with_a_space_and_a_quote(world: World) -> None:
    home = world.home
    world.home = os.path.join(world.base, "o'neil home")
    os.rename(home, world.home)
    samples.all_agents(world)
    before = world.tree()
    done = world.ctl("setup", "--agents", WITHOUT_CODEX, "--yes")
    assert done.returncode == 0, done.stderr
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.tree() == before


def test_an_agent_s_directory_that_a_variable_names_is_found_again(world: World) -> None:
    elsewhere = world.path("elsewhere")
    world.write("elsewhere/settings.json", samples.CLAUDE)
    done = world.ctl("setup", "--agents", "claude", "--yes", env={"CLAUDE_CONFIG_DIR": elsewhere})
    assert done.returncode == 0, done.stderr
    assert not world.exists(".claude")
    assert world.ctl("doctor").returncode == 0
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.read("elsewhere/settings.json") == samples.CLAUDE


def test_a_damaged_manifest_is_kept_aside(world: World) -> None:
    world.write(".claude/settings.json", samples.CLAUDE)
    assert world.ctl("setup", "--yes").returncode == 0
    world.write(".local/share/reflex/manifest.json", '{"manifest": 1, "fi', 0o600)
    assert world.ctl("uninstall", "--yes").returncode == 1
    done = world.ctl("setup", "--yes")
    assert done.returncode == 0, done.stderr
    assert world.exists(".local/share/reflex/manifest.json.damaged")
    os.unlink(world.path(".local/share/reflex/manifest.json.damaged"))
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.read(".claude/settings.json") == samples.CLAUDE


@pytest.mark.parametrize("name", ["BASH_ENV", "LD_PRELOAD", "BASH_FUNC_ls%%", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"])
def test_what_runs_before_a_hook_is_a_red_gap(world: World, name: str) -> None:
    world.write(".claude/settings.json", "{}")
    extra = {name: "/nonexistent.so" if name.startswith("LD") else "() { :; }"}
    for command in (["setup", "--dry-run"], ["status"]):
        done = world.ctl(*command, env=extra)
        assert f"{name.removesuffix('%%')} is set here" in done.stderr + done.stdout, command


def test_a_library_path_is_only_noted(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    assert world.ctl("setup", "--yes").returncode == 0
    assert world.ctl("doctor", env={"LD_LIBRARY_PATH": "/opt/x"}).returncode == 0
    done = world.ctl("doctor", env={"BASH_ENV": "/dev/null"})
    assert done.returncode == 1
    assert "wrong  environment: BASH_ENV" in done.stdout


def test_a_loader_in_an_agent_s_own_settings_is_a_gap(world: World) -> None:
    world.write(".claude/settings.json", '{"env": {"LD_PRELOAD": "/tmp/x.so"}}')
    done = world.ctl("setup", "--yes")
    assert "sets LD_PRELOAD" in done.stderr
    assert world.ctl("doctor").returncode == 1

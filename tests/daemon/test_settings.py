"""The user's two files: what is broken in them is named by line, and never changes what is in force."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexd import paths
from reflexd.errors import PolicyError
from reflexd.settings import Settings, load, policy_file
from tests.daemon.running import Daemon, until

RULE = """policy = 1
version = "mine"

[[rule]]
id = "no-frobnicate"
decision = "deny"
reason = "frobnicating is off"
when = { effect = "write", target = "*/frob" }
catches = ["echo x > /tmp/frob"]
leaves = ["echo x > /tmp/other"]
"""


@pytest.fixture
def config(short_home: str) -> Path:
    path = Path(paths.settings_file(short_home))
    path.parent.mkdir(parents=True, mode=0o700)
    return path


def test_without_files_the_shipped_rules_are_enforced(short_home: str) -> None:
    force = load(short_home)
    assert force.settings == Settings("enforce", "supervised")
    assert force.policy.rules


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('mode = "shadow"\n\nmoed = "off"\n', 3, "moed"),
        ("# all of it\n[mode]\nx = 1\n", 2, "mode"),
        ('profile = "supervised"\nmode = "always"\n', 2, "always"),
        ('mode = "off"\nmode = "off"\n', 2, ""),
        ('profile = "supervised"\nmode = \n', 2, ""),
        ("[deep]\n[deep.er]\n", 1, "deep"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(
    config: Path, short_home: str, text: str, line: int, words: str
) -> None:
    config.write_text(text)
    with pytest.raises(PolicyError) as refused:
        load(short_home)
    assert refused.value.message.startswith(f"{config}: ")
    assert f"line {line}" in refused.value.message
    assert words in refused.value.message


def test_bytes_that_are_no_text_are_named_too(config: Path, short_home: str) -> None:
    config.write_bytes(b'mode = "off"\n# \xff\n')
    with pytest.raises(PolicyError, match="line 2: not UTF-8"):
        load(short_home)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode), st.sampled_from([b"a=" + b"[" * 5000])))
def test_any_bytes_are_settings_or_an_error(config: Path, short_home: str, data: bytes) -> None:
    config.write_bytes(data)
    with contextlib.suppress(PolicyError):
        load(short_home)


@pytest.mark.parametrize("what", ["writable", "directory", "fifo", "huge"])
def test_a_file_that_is_not_the_users_own_word_is_refused(config: Path, short_home: str, what: str) -> None:
    match what:
        case "writable":
            config.touch()
            config.chmod(0o666)
        case "directory":
            config.mkdir()
        case "fifo":
            os.mkfifo(config)
        case "huge":
            config.write_bytes(b"#" * (2 << 20))
    with pytest.raises(PolicyError, match=str(config)):
        load(short_home)


def test_the_users_rules_come_on_top(config: Path, short_home: str) -> None:
    shipped = load(short_home).policy
    Path(policy_file(short_home)).write_text(RULE)
    both = load(short_home).policy
    assert {rule.id for rule in both.rules} == {rule.id for rule in shipped.rules} | {"no-frobnicate"}
    assert both.version != shipped.version


def test_a_change_is_in_force_without_a_restart(short_home: str, config: Path) -> None:
    with Daemon(short_home) as daemon:
        assert daemon.bash("echo x > /tmp/frob").exit == 0
        Path(policy_file(short_home)).write_text(RULE)
        until(lambda: daemon.bash("echo x > /tmp/frob").exit == 2, "the new rule")
        config.write_text('mode = "shadow"\n')
        until(lambda: daemon.client.status().mode == "shadow", "the new mode")
        config.unlink()
        until(lambda: daemon.client.status().mode == "enforce", "the usual mode")


def test_a_broken_file_keeps_the_last_good_one_over_a_restart(short_home: str, config: Path) -> None:
    policy = Path(policy_file(short_home))
    policy.write_text(RULE)
    with Daemon(short_home) as daemon:
        before = daemon.client.status().policy
        policy.write_text(RULE + "\n[[rule]]\nid = 7\n")
        (fault,) = until(lambda: daemon.client.status().broken, "the fault")
        assert f"{policy}: line 13" in fault
        assert "last good" in fault
        for _ in range(2):
            assert daemon.client.status().policy == before
            assert daemon.bash("echo x > /tmp/frob").exit == 2
            daemon.end()
            daemon.start()
            assert daemon.ready().broken == (fault,)
        policy.write_text(RULE)
        until(lambda: not daemon.client.status().broken, "the mended file")


@pytest.mark.slow
def test_a_file_behind_a_link_is_seen(short_home: str, config: Path) -> None:
    real = Path(short_home, "real.toml")
    real.write_text("")
    config.symlink_to(real)
    with Daemon(short_home) as daemon:
        real.write_text('mode = "shadow"\n')
        until(lambda: daemon.client.status().mode == "shadow", "the new mode")


@pytest.mark.slow
def test_a_directory_that_comes_back_is_watched_again(short_home: str, config: Path) -> None:
    with Daemon(short_home) as daemon:
        config.parent.rename(config.parent.with_name("away"))
        until(lambda: config.parent.is_dir(), "a new directory")
        config.write_text('mode = "shadow"\n')
        until(lambda: daemon.client.status().mode == "shadow", "the new mode")

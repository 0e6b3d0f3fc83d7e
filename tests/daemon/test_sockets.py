"""The run directory, the lock, and the sockets' names: every check with its fault put there."""

from __future__ import annotations

import os
import signal
import socket
import stat
from pathlib import Path

import pytest

from reflexd import paths, wire
from tests.daemon.running import Daemon, bash, until


@pytest.fixture
def run_dir(short_home: str) -> Path:
    directory = Path(paths.run_dir(short_home))
    directory.mkdir(parents=True)
    directory.chmod(0o700)
    directory.parent.chmod(0o700)
    return directory


def refused(home: str) -> str:
    code, said = Daemon(home).refusal()
    assert code == 1
    assert said.startswith("reflexd: error: ")
    assert "Traceback" not in said
    return said


def test_everything_it_makes_is_private(daemon: Daemon) -> None:
    daemon.bash("git status")
    for directory, _, files in os.walk(paths.state_dir(daemon.home)):
        assert stat.S_IMODE(os.lstat(directory).st_mode) == 0o700, directory
        for name in files:
            assert stat.S_IMODE(os.lstat(os.path.join(directory, name)).st_mode) == 0o600, name


def test_a_run_directory_open_to_others_is_refused_and_left_as_it_is(run_dir: Path, short_home: str) -> None:
    run_dir.chmod(0o755)
    assert "chmod 700" in refused(short_home)
    assert stat.S_IMODE(run_dir.stat().st_mode) == 0o755


@pytest.mark.parametrize("name", ["run", ".local", "state", "reflex"])
def test_a_symlink_on_the_way_is_refused(run_dir: Path, short_home: str, name: str) -> None:
    link = next(path for path in (run_dir, *run_dir.parents) if path.name == name)
    link.rename(link.with_name("elsewhere"))
    link.symlink_to(link.with_name("elsewhere"))
    assert str(link) in refused(short_home)


def test_a_way_that_others_can_change_is_refused(run_dir: Path, short_home: str) -> None:
    Path(short_home, ".local").chmod(0o777)
    assert "chmod go-w" in refused(short_home)


def test_a_file_in_a_sockets_place_is_refused_and_kept(run_dir: Path, short_home: str) -> None:
    (run_dir / "hook.sock").write_text("mine")
    assert "hook.sock is not a socket" in refused(short_home)
    assert (run_dir / "hook.sock").read_text() == "mine"


def test_a_symlink_in_a_sockets_place_is_refused(run_dir: Path, short_home: str) -> None:
    (run_dir / "control.sock").symlink_to("/dev/null")
    assert "control.sock is not a socket" in refused(short_home)


@pytest.mark.parametrize("what", ["directory", "symlink", "fifo", "open"])
def test_a_lock_that_is_no_private_file_is_refused(run_dir: Path, short_home: str, what: str) -> None:
    lock = run_dir / "lock"
    match what:
        case "directory":
            lock.mkdir()
        case "symlink":
            lock.symlink_to(run_dir / "other")
        case "fifo":
            os.mkfifo(lock)
        case "open":
            lock.touch(0o666)
            lock.chmod(0o666)
    assert str(lock) in refused(short_home)


def test_a_home_too_long_for_sockets_is_refused(short_home: str) -> None:
    deep = os.path.join(short_home, "x" * 90)
    os.mkdir(deep)
    with pytest.raises(Exception, match="longer than"):
        paths.hook_socket(deep)


def test_a_second_daemon_names_the_first_and_leaves_it_alone(daemon: Daemon) -> None:
    said = refused(daemon.home)
    assert f"pid {daemon.process.pid}" in said
    assert daemon.bash("git status").exit == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_clean_stop_takes_its_names_away_and_keeps_the_lock(daemon: Daemon, how: signal.Signals) -> None:
    lock = os.stat(paths.lock_file(daemon.home)).st_ino
    assert daemon.end(how) == 0
    assert sorted(os.listdir(paths.run_dir(daemon.home))) == ["lock"]
    assert daemon.rows()[0].call == "stop"
    daemon.start()
    daemon.ready()
    assert os.stat(paths.lock_file(daemon.home)).st_ino == lock
    assert Path(paths.lock_file(daemon.home)).read_text() == f"{daemon.process.pid}\n"


def test_a_clean_stop_leaves_a_socket_that_is_not_its_own(daemon: Daemon) -> None:
    os.unlink(daemon.hook)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(daemon.hook)
        assert daemon.end() == 0
    assert stat.S_ISSOCK(os.lstat(daemon.hook).st_mode)


def test_after_a_kill_the_next_one_takes_the_left_over_sockets(daemon: Daemon) -> None:
    daemon.end(signal.SIGKILL)
    assert stat.S_ISSOCK(os.lstat(daemon.hook).st_mode)
    daemon.start()
    daemon.ready()
    assert daemon.bash("git status").exit == 0


def test_a_kill_while_binding_leaves_nothing_that_stops_the_next(run_dir: Path, short_home: str) -> None:
    with socket.socket(socket.AF_UNIX) as half:
        half.bind(str(run_dir / ".ook.sock"))
    with Daemon(short_home) as daemon:
        assert daemon.bash("git status").exit == 0


def test_a_stop_answers_what_is_being_judged_and_refuses_what_is_being_read(daemon: Daemon) -> None:
    with daemon.connect() as reading, daemon.connect() as judged:
        reading.sendall(b"RFX1 claude PreToolUse 5000 100\n")
        until(lambda: daemon.client.status(), "the connections to be accepted")
        judged.sendall(wire.encode_request("claude", "PreToolUse", 5000, bash("git status")))
        assert judged.recv(100) == b"RFX1 0 0 0\n"
        assert daemon.end() == 0
        assert b"stopping" in reading.recv(1000)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_it_says_what_it_is(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from reflexd.daemon import app

    monkeypatch.setattr("sys.argv", ["reflexd", *arguments])
    app.main()
    assert "reflexd" in capsys.readouterr().out


def test_another_argument_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from reflexd.daemon import app

    monkeypatch.setattr("sys.argv", ["reflexd", "--listen", "everywhere"])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 2

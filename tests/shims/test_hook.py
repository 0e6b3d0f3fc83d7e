"""The Python shim, run through the very line that setup writes, against everything a socket can do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexd import wire
from reflexd.errors import FrameError
from reflexd.shims import hook_line, hook_path, render
from reflexd.types import Places, Reply
from tests.shims.listener import Answer, begin_and_die, hang, listening, nothing, reply, slowly

SHELLS = [["/bin/sh", "-c"], ["/bin/bash", "-c"], ["/bin/bash", "--posix", "-c"]]
GO_ON = wire.encode_reply(Reply())
DENY = wire.encode_reply(Reply(2, b"", b"reflex: no\n"))
HEAD = b"RFX1 claude PreToolUse 300 "


def install(places: Places, deadline_ms: int = 300) -> None:
    """The shim as setup writes it, with a shorter deadline so that a hang costs a test little."""
    text = render("reflex_hook.py", places)
    assert text.count(b"= 5000\n") == 1
    os.makedirs(os.path.dirname(hook_path(places)), exist_ok=True)
    with open(hook_path(places), "wb") as file:
        file.write(text.replace(b"= 5000\n", b"= %d\n" % deadline_ms))


def run(
    places: Places,
    event: str = "PreToolUse",
    payload: bytes = b"{}",
    shell: list[str] | None = None,
    agent: str = "claude",
) -> subprocess.CompletedProcess[bytes]:
    line = hook_line(places, agent, event)  # type: ignore[arg-type]
    return subprocess.run([*(shell or SHELLS[0]), line], input=payload, capture_output=True, timeout=30, check=False)


def refused(done: subprocess.CompletedProcess[bytes]) -> bool:
    """Both hosts block on exit 2; Codex only with something on stderr."""
    return done.returncode == 2 and bool(done.stderr.strip())


@pytest.mark.parametrize("shell", SHELLS, ids=["sh", "bash", "posix"])
def test_goes_on_in_silence_when_the_daemon_says_so(places: Places, shell: list[str]) -> None:
    install(places)
    with listening(places, reply(GO_ON)):
        done = run(places, shell=shell)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("shell", SHELLS, ids=["sh", "bash", "posix"])
def test_a_deny_reaches_the_model(places: Places, shell: list[str]) -> None:
    install(places)
    with listening(places, reply(DENY)):
        done = run(places, shell=shell)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"reflex: no\n")


def test_an_answer_on_stdout_is_passed_untouched(places: Places) -> None:
    install(places)
    said = json.dumps({"hookSpecificOutput": {"permissionDecisionReason": "a\nb €"}}).encode()
    with listening(places, reply(wire.encode_reply(Reply(0, said)))):
        assert run(places).stdout == said


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(nothing, id="closed"),
        pytest.param(hang, id="hung"),
        pytest.param(begin_and_die(DENY), id="killed in a header"),
        pytest.param(reply(b"RFX1 0 5 0\nhal"), id="killed in a body"),
        pytest.param(reply(GO_ON + b"x"), id="trailing byte"),
        pytest.param(reply(b"RFX1 0 0 0"), id="no newline"),
        pytest.param(reply(b"RFX1 00 0 0\n"), id="second spelling of a number"),
        pytest.param(reply(b"RFX1 +0 0 0\n"), id="signed number"),
        pytest.param(reply(b"RFX1 0  0 0\n"), id="two spaces"),
        pytest.param(reply(b"RFX2 0 0 0\n"), id="another version"),
        pytest.param(reply(b"RFX1 1 0 0\n"), id="exit 1"),
        pytest.param(reply(b"RFX1 40 0 0\n"), id="exit 40"),
        pytest.param(reply(b"RFX1 0 99999999 0\n" + b"x" * 64), id="a count that is not there"),
        pytest.param(reply(b"HTTP/1.1 200 OK\r\n\r\n"), id="another protocol"),
        pytest.param(reply(b"x" * (9 << 20)), id="oversize"),
        pytest.param(reply("RFX1 ٠ 0 0\n".encode()), id="digits of another script"),
    ],
)
def test_anything_but_a_whole_answer_refuses(places: Places, answer: Answer) -> None:
    install(places)
    with listening(places, answer):
        done = run(places)
    assert refused(done), done
    assert done.stdout == b""
    assert b"reflexctl" in done.stderr


def test_an_answer_byte_by_byte_is_whole(places: Places) -> None:
    install(places, deadline_ms=5000)
    with listening(places, slowly(GO_ON)):
        assert run(places).returncode == 0


@pytest.mark.parametrize("reason", ["", "\n", " \t\r\n", "\u00a0", "\u2003\u3000\n"])
def test_a_deny_without_a_reason_gets_one(places: Places, reason: str) -> None:
    install(places)
    with listening(places, reply(wire.encode_reply(Reply(2, b"", reason.encode())))):
        done = run(places, agent="codex")
    assert done.returncode == 2
    assert done.stderr.decode().strip()


def test_without_a_daemon_the_reason_says_how_to_start_it(places: Places) -> None:
    install(places)
    done = run(places)
    assert refused(done)
    assert b"reflexctl" in done.stderr
    assert b" start" in done.stderr
    assert b"not running" in done.stderr


def test_a_left_over_socket_refuses(places: Places) -> None:
    install(places)
    with listening(places, reply(GO_ON)):
        os.link(places.socket, places.socket + ".old")
    os.rename(places.socket + ".old", places.socket)
    done = run(places)
    assert refused(done)
    assert b"not running" in done.stderr


def test_a_directory_that_others_may_enter_refuses(places: Places) -> None:
    install(places)
    with listening(places, reply(GO_ON)):
        os.chmod(os.path.dirname(places.socket), 0o755)
        assert refused(run(places))


def test_a_socket_that_others_may_write_refuses(places: Places) -> None:
    install(places)
    with listening(places, reply(GO_ON)):
        os.chmod(places.socket, 0o666)
        assert refused(run(places))


def test_a_linked_directory_refuses(places: Places) -> None:
    install(places)
    run_dir = os.path.dirname(places.socket)
    with listening(places, reply(GO_ON)):
        os.rename(run_dir, run_dir + ".real")
        os.symlink(run_dir + ".real", run_dir)
        assert refused(run(places))
        os.unlink(run_dir)
        os.rename(run_dir + ".real", run_dir)
        assert run(places).returncode == 0


def test_a_linked_socket_refuses(places: Places) -> None:
    install(places)
    with listening(places, reply(GO_ON)):
        os.rename(places.socket, places.socket + ".real")
        os.symlink(places.socket + ".real", places.socket)
        assert refused(run(places))
        os.unlink(places.socket)
        os.rename(places.socket + ".real", places.socket)


@pytest.mark.parametrize("what", ["file", "directory", "fifo"])
def test_something_else_in_the_socket_s_place_refuses(places: Places, what: str) -> None:
    install(places)
    os.makedirs(os.path.dirname(places.socket), 0o700)
    match what:
        case "file":
            with open(places.socket, "wb") as file:
                file.write(GO_ON)
            os.chmod(places.socket, 0o600)
        case "directory":
            os.mkdir(places.socket, 0o700)
        case "fifo":
            os.mkfifo(places.socket, 0o600)
    assert refused(run(places))


@pytest.mark.root
@pytest.mark.parametrize("whose", ["socket", "directory"])
def test_another_owner_s_socket_refuses(places: Places, whose: str) -> None:
    install(places)
    with listening(places, reply(GO_ON)):
        os.chown(places.socket if whose == "socket" else os.path.dirname(places.socket), 12345, 12345)
        assert refused(run(places))


@pytest.mark.root
def test_another_user_behind_the_socket_refuses(places: Places) -> None:
    """The socket is ours by its inode, and the process that listens is not."""
    install(places)
    os.makedirs(os.path.dirname(places.socket), 0o700)
    serve = (
        "import os,socket,sys; s=socket.socket(socket.AF_UNIX); os.umask(0o177); s.bind(sys.argv[1]);"
        "os.setuid(12345); s.listen(1); print('up', flush=True); c,_=s.accept();"
        "c.recv(65536); c.sendall(b'RFX1 0 0 0\\n')"
    )
    with subprocess.Popen([sys.executable, "-c", serve, places.socket], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        done = run(places)
        server.kill()
    assert refused(done)
    assert b"another user" in done.stderr


def broken(places: Places, how: str) -> None:
    path = hook_path(places)
    with open(path, "rb") as file:
        whole = file.read()
    match how:
        case "empty":
            new: bytes | None = b""
        case "cut":
            new = whole[: len(whole) * 2 // 3]
        case "cut at a line":
            new = whole[: whole.index(b"def carry")]
        case "garbage":
            new = b"\x00\xff"
        case "exits 0":
            new = b"raise SystemExit(0)\n"
        case _:
            new = None
    os.unlink(path)
    if new is not None:
        with open(path, "wb") as file:
            file.write(new)


@pytest.mark.parametrize("how", ["empty", "cut", "cut at a line", "garbage", "exits 0", "missing"])
@pytest.mark.parametrize("shell", SHELLS, ids=["sh", "bash", "posix"])
def test_a_broken_shim_refuses(places: Places, shell: list[str], how: str) -> None:
    install(places)
    broken(places, how)
    with listening(places, reply(GO_ON)):
        done = run(places, shell=shell)
    assert refused(done)
    assert b"unhook" in done.stderr


@pytest.mark.parametrize("shell", SHELLS, ids=["sh", "bash", "posix"])
def test_a_missing_interpreter_refuses(places: Places, shell: list[str]) -> None:
    install(places)
    line = hook_line(places, "claude", "PreToolUse").replace(places.python, places.python + ".gone")
    done = subprocess.run([*shell, line], input=b"{}", capture_output=True, check=False)
    assert refused(done)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGALRM])
def test_a_killed_shim_refuses(places: Places, number: signal.Signals) -> None:
    install(places, deadline_ms=20_000)
    received: list[bytes] = []
    with listening(places, hang, received):
        line = hook_line(places, "claude", "PreToolUse")
        with subprocess.Popen(
            ["/bin/sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as shell:
            assert shell.stdin is not None
            shell.stdin.write(b"{}")
            shell.stdin.close()
            while not received:
                assert shell.poll() is None
            (child,) = subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(shell.pid)]).split()
            os.kill(int(child), number)
            assert shell.stderr is not None
            said = shell.stderr.read()
        assert shell.returncode == 2
        assert said.strip()


def ignored() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)


def blocked() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])


@pytest.mark.parametrize(("shell", "inherited"), [("/bin/sh", None), ("/bin/bash", ignored), ("/bin/bash", blocked)])
def test_stdin_that_never_ends_is_cut_off(places: Places, shell: str, inherited: Callable[[], None] | None) -> None:
    """The alarm ends the shim, whatever the host made of that signal, and the line around it refuses."""
    install(places)
    with subprocess.Popen(
        [shell, "-c", hook_line(places, "claude", "PreToolUse")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=inherited,
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(20) == 2
        assert b"reflex" in said


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_never_go_on_wrongly(places: Places, closed: str) -> None:
    install(places)
    line = f"{{ {hook_line(places, 'claude', 'PreToolUse')}; }} {closed}"
    with listening(places, reply(DENY)):
        done = subprocess.run(["/bin/sh", "-c", line], input=b"{}", capture_output=True, check=False)
    assert done.returncode == 2


def test_the_payload_arrives_byte_for_byte(places: Places) -> None:
    install(places, deadline_ms=5000)
    payload = bytes(range(256)) * 12_000  # 3 MB
    received: list[bytes] = []
    with listening(places, reply(GO_ON), received):
        assert run(places, payload=payload).returncode == 0
        assert run(places, payload=b"").returncode == 0
    head, _, body = received[0].partition(b"\n")
    assert head == b"RFX1 claude PreToolUse 5000 %d" % len(payload)
    assert body == payload
    assert received[1] == b"RFX1 claude PreToolUse 5000 0\n"


def test_a_payload_over_the_cap_refuses_without_asking(places: Places) -> None:
    install(places, deadline_ms=5000)
    received: list[bytes] = []
    with listening(places, reply(GO_ON), received):
        done = run(places, payload=b"x" * (wire.PAYLOAD_MAX + 1))
    assert refused(done)
    assert b"8 MiB" in done.stderr
    assert not received


def test_no_variable_moves_it(places: Places) -> None:
    install(places)
    names = ("HOME", "XDG_RUNTIME_DIR", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "REFLEX_SOCKET")
    elsewhere = dict.fromkeys(names, "/nonexistent")
    with listening(places, reply(GO_ON)):
        done = subprocess.run(
            ["/bin/sh", "-c", hook_line(places, "claude", "PreToolUse")], input=b"{}", env=elsewhere, check=False
        )
    assert done.returncode == 0


# ---- permission requests and events that only observe -----------------------------


def test_a_permission_request_without_an_answer_is_denied_as_json(places: Places) -> None:
    install(places)
    for how in ("absent", "missing"):
        if how == "missing":
            broken(places, "missing")
        for shell in SHELLS:
            done = run(places, "PermissionRequest", shell=shell)
            said = json.loads(done.stdout)
            assert done.returncode == 0
            assert set(said) == {"hookSpecificOutput"}
            specific = said["hookSpecificOutput"]
            assert specific["hookEventName"] == "PermissionRequest"
            assert specific["decision"]["behavior"] == "deny"
            assert "reflexctl" in specific["decision"]["message"]


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStop"])
def test_an_observing_event_warns_and_lets_go(places: Places, event: str) -> None:
    install(places)
    done = run(places, event)
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"not running" in done.stderr
    with listening(places, reply(GO_ON)):
        assert run(places, event).returncode == 0


@pytest.mark.parametrize("how", ["empty", "cut", "cut at a line", "garbage", "exits 0", "missing", "interpreter"])
@pytest.mark.parametrize("shell", SHELLS, ids=["sh", "bash", "posix"])
def test_a_broken_shim_neither_stops_a_prompt_nor_sets_the_model_to_work(
    places: Places, shell: list[str], how: str
) -> None:
    """Exit 2 at Stop has the model go on, again and again; Python leaves with 2 where the file is gone."""
    install(places)
    line = hook_line(places, "codex", "Stop")
    if how == "interpreter":
        line = line.replace(places.python, places.python + ".gone")
    else:
        broken(places, how)
    with listening(places, reply(GO_ON)):
        done = subprocess.run([*shell, line], input=b"{}", capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_prompt_can_be_stopped_by_the_daemon(places: Places) -> None:
    install(places)
    with listening(places, reply(DENY)):
        assert run(places, "UserPromptSubmit").returncode == 2


# ---- whatever comes back -----------------------------------------------------------


def whole(answer: bytes) -> Reply | None:
    """What wire makes of an answer: the other implementation of the same frame."""
    head, newline, body = answer.partition(b"\n")
    try:
        header = wire.decode_reply_header(head)
    except FrameError:
        return None
    if not newline or len(body) != header.stdout + header.stderr:
        return None
    return Reply(header.exit, body[: header.stdout], body[header.stdout :])


near = st.sampled_from([GO_ON, DENY, b"RFX1 0 2 0\n{}", b"RFX1 2 0 3\nnoo"])
answers = st.one_of(
    near,
    st.binary(max_size=60),
    st.tuples(near, st.integers(0, 20), st.binary(max_size=3)).map(lambda t: t[0][: t[1]] + t[2] + t[0][t[1] :]),
    st.tuples(near, st.integers(0, 20)).map(lambda t: t[0][: t[1]]),
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Places:
    import tempfile

    from reflexd import paths

    places = paths.places(tempfile.mkdtemp(prefix="rx-"), {})
    install(places, deadline_ms=2000)
    return places


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=answers)
def test_goes_on_exactly_for_a_well_formed_go_on(installed: Places, answer: bytes) -> None:
    with listening(installed, reply(answer)):
        done = run(installed)
    expected = whole(answer)
    if expected is not None and expected.exit == 0:
        assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, expected.stderr)
    else:
        assert refused(done)
        if expected is not None and expected.exit == 2 and expected.stderr.decode("utf-8", "replace").strip():
            assert done.stderr == expected.stderr

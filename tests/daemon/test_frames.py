"""What comes over hook.sock, from real payloads to hostile bytes."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexd import wire
from reflexd.adapters.all import ADAPTERS
from reflexd.daemon import server
from tests.daemon.running import Daemon, answer, bash

MIB = 1 << 20


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """One for all of these: whatever one of them sends, the next has to be served."""
    with tempfile.TemporaryDirectory(prefix="rx", dir="/tmp") as home, Daemon(home) as running:
        yield running
        assert "bug: " not in running.log(), running.log()


def test_a_harmless_call_passes_without_a_word(daemon: Daemon) -> None:
    reply = daemon.bash("git status")
    assert (reply.exit, reply.stdout, reply.stderr) == (0, b"", b"")


def test_a_refused_call_says_why_and_how_to_look_it_up(daemon: Daemon) -> None:
    reply = daemon.bash("rm -rf ~")
    assert reply.exit == 2
    row = daemon.rows()[0]
    assert row.decision == "deny"
    assert f"reflexctl why {row.id}".encode() in reply.stderr
    assert row.call == "rm -rf ~"


def test_what_asks_is_refused_where_nobody_can_be_asked(daemon: Daemon) -> None:
    reply = daemon.bash("cat ~/.ssh/id_rsa")
    assert reply.exit == 2
    assert b"a person" in reply.stderr
    assert (daemon.rows()[0].decision, daemon.rows()[0].asked) == ("ask", False)


@pytest.mark.parametrize("agent", list(ADAPTERS))
def test_an_event_that_is_not_understood_is_refused_as_its_agent_honours_it(daemon: Daemon, agent: str) -> None:
    adapter = ADAPTERS[agent]  # type: ignore[index]
    for event in adapter.GUARDED:
        for payload in (b"", b"{", b"[" * 200 + b"]" * 200, b'{"a":"\xff\xfe"}', b"null", b"\0" * 5000):
            reply = daemon.call(agent, event, payload)
            if event == "PermissionRequest":
                said = json.loads(reply.stdout)["hookSpecificOutput"]
                assert (reply.exit, said["decision"]["behavior"]) == (0, "deny")
            else:
                assert reply.exit == 2
                assert reply.stderr
            assert b"Traceback" not in reply.stdout + reply.stderr
            assert daemon.rows()[0].decided_by == "payload"


@pytest.mark.parametrize("agent", list(ADAPTERS))
def test_every_other_event_goes_on_with_a_warning(daemon: Daemon, agent: str) -> None:
    adapter = ADAPTERS[agent]  # type: ignore[index]
    for event in set(adapter.EVENTS) - adapter.GUARDED:
        reply = daemon.call(agent, event, b"{")
        assert reply.exit == 0
        assert b"goes on" in reply.stderr


def test_nesting_within_arguments_is_judged_or_refused(daemon: Daemon) -> None:
    deep: object = "x"
    for _ in range(200):
        deep = {"a": deep}
    payload = json.dumps(
        {"hook_event_name": "PreToolUse", "tool_name": "mcp__a__b", "tool_input": deep, "cwd": "/tmp"}
    ).encode()
    assert daemon.call("claude", "PreToolUse", payload).exit in (0, 2)
    assert daemon.bash("git status").exit == 0


def test_an_unknown_agent_is_refused(daemon: Daemon) -> None:
    reply = daemon.call("cursor", "PreToolUse", bash("git status"))
    assert reply.exit == 2
    assert b"cursor" in reply.stderr


@pytest.mark.parametrize(
    "data",
    [
        b"RFX1 claude PreToolUse 5000 3\n{}{}",  # longer than it says
        b"RFX2 claude PreToolUse 5000 2\n{}",
        b"RFX1 claude PreToolUse 5000 02\n{}",
        b"RFX1 claude PreToolUse 0 2\n{}",
        b"RFX1 claude PreToolUse 99999 2\n{}",
        b"RFX1  claude PreToolUse 5000 2\n{}",
        b"RFX1 claude PreToolUse 5000 2\r\n{}",
        b"A" * 4096,
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_a_broken_frame_is_answered_with_a_refusal(daemon: Daemon, data: bytes) -> None:
    reply = daemon.send(data)
    assert reply.exit == 2
    assert reply.stderr.startswith(b"reflex: ")


def test_a_request_longer_than_it_says_is_refused_at_once(daemon: Daemon) -> None:
    assert b"longer than it says" in daemon.send(b"RFX1 claude PreToolUse 5000 3\n{}{}").stderr


def test_who_is_refused_early_can_send_the_rest_and_read_why(daemon: Daemon) -> None:
    with daemon.connect() as sock:
        sock.sendall(b"nonsense\n" + b"a" * (4 * MIB))
        assert b"malformed" in answer(sock).stderr


def test_a_request_that_ends_early_is_refused(daemon: Daemon) -> None:
    for data in (b"", b"RFX1 cl", b"RFX1 claude PreToolUse 5000 10\n{"):
        with daemon.connect() as sock:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            assert answer(sock).exit == 2


def test_a_request_in_pieces_is_one_request(daemon: Daemon) -> None:
    frame = wire.encode_request("claude", "PreToolUse", 5000, bash("git status"))
    with daemon.connect() as sock:
        for i in range(len(frame)):
            sock.sendall(frame[i : i + 1])
        sock.shutdown(socket.SHUT_WR)
        assert answer(sock).exit == 0


def test_three_megabytes_are_judged(daemon: Daemon) -> None:
    written = {"file_path": "/tmp/x.txt", "content": "a" * (3 * MIB)}
    payload = bash("", tool_name="Write", tool_input=written)
    assert daemon.call("claude", "PreToolUse", payload).exit == 0
    written["file_path"] = os.path.join(daemon.home, ".local/state/reflex/reflex.db")
    payload = bash("", tool_name="Write", tool_input=written)
    assert daemon.call("claude", "PreToolUse", payload).exit == 2
    assert len(daemon.rows()[0].call) < 4096


def test_large_ones_at_once_take_turns(daemon: Daemon) -> None:
    payload = bash("", tool_name="Write", tool_input={"file_path": "/tmp/x", "content": "a" * MIB})
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda: codes.append(daemon.call("claude", "PreToolUse", payload).exit))
        for _ in range(3 * server.BULKY_MAX)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * len(threads)


def test_others_are_served_while_large_ones_are_judged(daemon: Daemon) -> None:
    large = wire.encode_request("claude", "PreToolUse", 5000, bash("echo " + "a " * (2 * MIB)))
    ended = threading.Event()

    def load() -> None:
        while not ended.is_set():
            assert daemon.send(large).exit == 2

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(50):
            assert daemon.bash("git status").exit == 0
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_a_call_above_the_cap_is_refused_and_its_sender_reads_why(daemon: Daemon) -> None:
    reply = daemon.send(b"RFX1 claude PreToolUse 5000 %d\n" % (9 * MIB) + b"a" * 9 * MIB)
    assert reply.exit == 2
    assert b"8 MiB" in reply.stderr
    assert daemon.rows()[0].decision == "deny"


def test_a_result_above_the_cap_goes_on_with_a_warning(daemon: Daemon) -> None:
    reply = daemon.send(b"RFX1 claude PostToolUse 5000 %d\n" % (9 * MIB) + b"a" * 9 * MIB)
    assert reply.exit == 0
    assert b"8 MiB" in reply.stderr


@pytest.mark.slow
def test_a_byte_a_second_is_cut_off_with_an_answer(daemon: Daemon) -> None:
    with daemon.connect() as sock:
        sock.settimeout(0.3)
        data = b""
        for byte in b"RFX1 claude PreToolUse 5000 1000\n" + b"a" * 1000:
            try:
                sock.sendall(bytes([byte]))
                data = sock.recv(4096)
                break
            except TimeoutError:
                continue
        assert b"too slowly" in data


@pytest.mark.slow
def test_a_large_payload_that_stalls_is_cut_off_too(daemon: Daemon) -> None:
    socks = [daemon.connect() for _ in range(server.BULKY_MAX + 2)]
    try:
        for sock in socks:
            sock.sendall(b"RFX1 claude PreToolUse 5000 %d\n" % MIB)
        # Their readers' turns are all taken; a small call is none of them.
        assert daemon.bash("git status").exit == 0
        for sock in socks:
            assert b"too slowly" in answer(sock).stderr
    finally:
        for sock in socks:
            sock.close()
    payload = bash("", tool_name="Write", tool_input={"file_path": "/tmp/x", "content": "a" * MIB})
    assert daemon.call("claude", "PreToolUse", payload).exit == 0


def test_five_hundred_idle_connections_keep_nobody_out(daemon: Daemon) -> None:
    idle = []
    try:
        for _ in range(500):
            idle.append(daemon.connect())
        for _ in range(20):
            assert daemon.bash("git status").exit == 0
        # Who had to make room was told so.
        assert b"too many" in answer(idle[0]).stderr
    finally:
        for sock in idle:
            sock.close()
    assert daemon.bash("git status").exit == 0


def test_hanging_up_at_any_point_hurts_nobody(daemon: Daemon) -> None:
    frame = wire.encode_request("claude", "PreToolUse", 5000, bash("rm -rf ~"))
    large = wire.encode_request("claude", "PreToolUse", 5000, bash("echo " + "a " * MIB))
    for data in (b"", frame[:10], frame[:-1], frame, large[: MIB // 2], large):
        for _ in range(5):
            with daemon.connect() as sock:
                sock.sendall(data)
    assert daemon.bash("git status").exit == 0


def test_who_does_not_read_the_answer_is_dropped(daemon: Daemon) -> None:
    socks = [daemon.connect() for _ in range(50)]
    for sock in socks:
        sock.sendall(wire.encode_request("claude", "PreToolUse", 5000, bash("rm -rf ~")))
    assert daemon.bash("git status").exit == 0
    for sock in socks:
        sock.close()


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=300),
        st.tuples(
            st.sampled_from([*ADAPTERS, "nobody"]),
            st.sampled_from(["PreToolUse", "tool_call", "pre_tool_call", "tool.execute.before", "PermissionRequest"]),
            st.one_of(st.binary(max_size=200), st.text(max_size=200).map(bash)),
        ).map(lambda t: wire.encode_request(t[0], t[1], 5000, t[2])),
    )
)
def test_garbage_always_gets_an_answer(daemon: Daemon, data: bytes) -> None:
    with daemon.connect() as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        reply = answer(sock)
    assert reply.exit in (0, 2)
    assert reply.exit == 0 or reply.stderr
    assert b"Traceback" not in reply.stderr

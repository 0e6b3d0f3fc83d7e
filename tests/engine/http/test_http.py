"""The HTTP face over real sockets: answers, refusals, hostile bytes, clients that go."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from reflexd.engine.http import Caps
from tests.engine.http.serving import ASK, KEY, Served, receive, served

SECRET = "correct-horse-battery"
BODY = json.dumps(ASK).encode()
CAPS = Caps(sent=1 << 20, unpacked=2 << 20, seconds=1.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(str(tmp_path_factory.mktemp("http")), CAPS) as one:
        yield one


def test_answers_over_tcp_and_over_the_unix_socket_are_equal(server: Served) -> None:
    tcp = server.ask()
    unix = server.ask(headers={"authorization": None, "host": "anything"}, unix=True)
    assert (tcp.status, unix.status) == (200, 200)
    assert tcp.json["answers"] == unix.json["answers"]
    assert float(tcp.headers["x-reflex-latency-ms"]) > 0
    assert tcp.headers["x-typesafe-request-id"] != unix.headers["x-typesafe-request-id"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": None}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Basic {KEY}"}, 401),
        ({"authorization": f"Bearer {KEY}x"}, 401),
        ({"authorization": "Bearer \xff\xfe"}, 401),
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1:1"}, 403),
        ({"host": "127.0.0.1"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"origin": "http://localhost"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"upgrade": "websocket", "connection": "upgrade"}, 400),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "application/json; charset=utf-16"}, 415),
        ({"content-type": "multipart/form-data"}, 400),
        ({"content-encoding": "br"}, 415),
        ({"content-encoding": "gzip, zstd"}, 415),
        ({"content-encoding": "gzip"}, 400),
        ({"content-encoding": "zstd"}, 400),
    ],
)
def test_heads_that_are_refused(server: Served, headers: dict[str, str | None], status: int) -> None:
    found = server.ask(headers=headers)
    assert found.status == status
    assert set(found.json["detail"]) == {"error_type", "message"}
    assert "x-typesafe-request-id" in found.headers
    assert KEY.encode() not in found.body


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/systemone", 405),
        ("POST", "/v1/nothing", 404),
        ("POST", "/v1/systemone/", 404),
        ("TRACE", "/health", 405),
        ("CONNECT", "127.0.0.1:80", 405),
        ("OPTIONS", "/v1/systemone", 405),
        ("DELETE", "/v1/models", 405),
    ],
)
def test_paths_and_methods_that_are_not_served(server: Served, method: str, path: str, status: int) -> None:
    found = server.ask(path=path, method=method)
    assert found.status == status
    assert set(found.json["detail"]) == {"error_type", "message"}


def test_only_health_is_open(server: Served) -> None:
    without: dict[str, str | None] = {"authorization": None}
    assert server.ask(b"", without, "/health", "GET").json == {"status": "ok"}
    assert server.ask(b"", without, "/healthz", "GET").status == 200
    assert {server.ask(b"", without, path, "GET").status for path in ("/metrics", "/v1/models", "/")} == {401}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        BODY[:-1],
        b"[" * 100_000,
        b'{"state":NaN}',
        json.dumps(ASK | {"questions": {}}).encode(),
        json.dumps(ASK | {"state": 7}).encode(),
        json.dumps({**ASK, "questions": {"q": {"type": "box", "instructions": SECRET}}}).encode(),
    ],
)
def test_bodies_that_are_refused_with_places(server: Served, body: bytes) -> None:
    found = server.ask(body)
    assert found.status == 422
    assert all(set(fault) == {"loc", "msg", "type"} and fault["loc"][0] == "body" for fault in found.json["detail"])
    assert SECRET.encode() not in found.body


def test_a_body_over_the_cap_is_refused_before_it_is_read(server: Served) -> None:
    found = server.ask(b"", {"content-length": str(10 << 30), "expect": "100-continue"})
    assert found.status == 413


def test_a_body_over_the_cap_is_refused_while_it_comes_and_its_sender_reads_why(server: Served) -> None:
    assert server.ask(b" " * (10 << 20)).status == 413
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    found = server.ask(chunk * 40 + b"0\r\n\r\n", {"content-length": None, "transfer-encoding": "chunked"})
    assert found.status == 413


def test_a_post_without_a_length_is_told_so(server: Served) -> None:
    assert server.ask(b"", {"content-length": None}).status == 411


def test_packed_bodies(server: Served) -> None:
    plain = server.ask().json["answers"]
    for name, packed in (("gzip", gzip.compress(BODY)), ("zstd", zstandard.compress(BODY))):
        found = server.ask(packed, {"content-encoding": name})
        assert (found.status, found.json["answers"]) == (200, plain)
        assert server.ask(packed[:-6], {"content-encoding": name}).status in (400, 422)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_a_bomb_is_refused(server: Served, name: str) -> None:
    zeros = bytes(64 << 20)
    bomb = gzip.compress(zeros, 1) if name == "gzip" else zstandard.compress(zeros)
    assert len(bomb) < CAPS.sent
    assert server.ask(bomb, {"content-encoding": name}).status == 413


def multipart(*parts: tuple[str, bytes]) -> tuple[bytes, dict[str, str | None]]:
    lines = [b'--B\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (n.encode(), d) for n, d in parts]
    return b"".join(lines) + b"--B--\r\n", {"content-type": "multipart/form-data; boundary=B"}


def test_multipart(server: Served) -> None:
    assert server.ask(*multipart(("request", BODY))).status == 200
    refusals = [
        (("asset-0", b"x"), ("request", BODY)),
        (("request", BODY), ("asset-0", b"x")),
        (("request", BODY), ("request", BODY)),
        (),
    ]
    for parts in refusals:
        assert server.ask(*multipart(*parts)).status == 422
    body, headers = multipart(("request", BODY))
    assert server.ask(body[:-8], headers).status == 422
    assert server.ask(b"nonsense", headers).status == 422
    many = [(f"p{number}", b"") for number in range(40)]
    assert server.ask(*multipart(("request", BODY), *many)).status == 413


def test_a_slow_body_is_given_up(server: Served) -> None:
    assert server.ask(b"{", {"content-length": "100"}).status == 408


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 100_000,
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    ],
)
def test_what_is_not_http_gets_a_400(server: Served, data: bytes) -> None:
    found = server.raw(data)
    assert found.status == 400
    assert found.json["detail"]["error_type"] == "invalid_request_error"
    assert server.ask().status == 200


def test_pipelined_requests_are_answered_in_order(server: Served) -> None:
    head = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {KEY}\r\n\r\n"
    with server.connect() as sock:
        sock.sendall(b"".join(f"GET {path} HTTP/1.1\r\n{head}".encode() for path in ("/health", "/nothing")))
        first = sock.recv(1 << 16)
        while first.count(b"HTTP/1.1 ") < 2:
            first += sock.recv(1 << 16)
    assert first.index(b"HTTP/1.1 200") < first.index(b"HTTP/1.1 404")


def test_models_in_both_shapes(server: Served) -> None:
    found = server.ask(b"", path="/v1/models", method="GET").json
    assert [model["name"] for model in found["models"]] == ["hashed", "jev-latest"]
    assert all(isinstance(model[name], str) for model in found["models"] for name in ("description", "release_date"))
    assert [model["id"] for model in found["data"]] == ["hashed", "jev-latest"]


def test_metrics_are_prometheus_text(server: Served) -> None:
    server.ask()
    found = server.ask(b"", path="/metrics", method="GET")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = found.body.decode().splitlines()
    typed = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    samples = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}
    names = {sample.partition("{")[0] for sample in samples}
    assert all(any(name.startswith(one) for one in typed) for name in names)
    assert samples["reflex_requests_total"] >= 1
    assert samples['reflex_http_responses_total{path="/v1/systemone",status="200"}'] >= 1


def test_clients_that_go_disturb_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In the queue, during the pass and while the body is read."""
    hold, inside = threading.Event(), threading.Event()

    def trouble(number: int) -> None:
        inside.set()
        assert hold.wait(30)

    with caplog.at_level(logging.WARNING), served(str(tmp_path), CAPS, trouble) as server:
        head = f"POST /v1/systemone HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {KEY}\r\n"
        whole = head.encode() + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
        first, stays, queued, reading = (server.connect() for _ in range(4))
        first.sendall(whole)
        assert inside.wait(30)
        queued.sendall(whole)
        stays.sendall(whole)
        reading.sendall(whole[:-5])
        while server.engine.stats().waiting < 2:
            time.sleep(0.01)
        for sock in (first, queued, reading):
            sock.close()
        gone = b'reflex_http_responses_total{path="/v1/systemone",status="499"} 3'
        while gone not in server.ask(b"", path="/metrics", method="GET").body:
            time.sleep(0.01)
        hold.set()
        assert receive(stays).status == 200
        stays.close()
        assert server.ask().status == 200
    assert caplog.records == []


def test_a_client_that_goes_while_it_reads_disturbs_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The answer is larger than what sockets hold, so the server is still writing when the connection is reset."""
    choice = {"type": "choice", "criteria": {f"an option of some length, number {i}": None for i in range(255)}}
    body = json.dumps({**ASK, "permutations": 1, "questions": {f"q{i}": choice for i in range(400)}}).encode()
    with caplog.at_level(logging.WARNING), served(str(tmp_path)) as server:
        head = f"POST /v1/systemone HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {KEY}\r\n"
        with server.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert sock.recv(100).startswith(b"HTTP/1.1 200")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert server.ask().status == 200
        assert server.engine.stats().failed == 0
    assert caplog.records == []

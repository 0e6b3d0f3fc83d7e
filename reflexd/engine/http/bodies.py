"""A request's body: read under caps, unpacked under caps, taken apart where it is multipart."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator, Mapping
from email.message import Message

import zstandard
from msgspec import Struct
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from reflexd.engine.errors import Fault, Invalid, TooLarge
from reflexd.engine.http.refusals import Refusal

PIECE = 1 << 16
INLINE = 1 << 16
"""Bodies up to here are unpacked and parsed on the event loop: sooner done than handed to a thread."""
WINDOW = 8 << 20
"""Of a zstd frame; the format asks decoders for 8 MB."""
PARTS_MAX = 33
REQUEST = "request"


class Caps(Struct, frozen=True):
    """Bytes as sent, bytes once unpacked, seconds in which a body has to be here."""

    sent: int = 32 << 20
    unpacked: int = 64 << 20
    seconds: float = 60.0


class Body(Struct, frozen=True):
    """The JSON text, and a multipart body's other parts by name."""

    json: bytes
    parts: Mapping[str, bytes]


async def read(request: Request, caps: Caps) -> Body:
    """Raises Refusal, TooLarge or Invalid; ClientDisconnect where the client has gone."""
    encoding = _encoding(request)
    boundary = _boundary(request)
    length = request.headers.get("content-length")
    if length is None and "transfer-encoding" not in request.headers:
        raise Refusal(411, "the request has no body and no Content-Length")
    if length is not None and int(length) > caps.sent:
        raise _too_large(caps.sent)
    sent = bytearray()
    try:
        async with asyncio.timeout(caps.seconds):
            async for chunk in request.stream():
                sent += chunk
                if len(sent) > caps.sent:
                    raise _too_large(caps.sent)
    except TimeoutError:
        raise Refusal(408, f"the body did not arrive within {caps.seconds:g} s", close=True) from None
    if encoding == "identity" and boundary is None:
        return Body(bytes(sent), {})
    if len(sent) <= INLINE and encoding == "identity":
        return _body(bytes(sent), encoding, boundary, caps)
    return await asyncio.to_thread(_body, bytes(sent), encoding, boundary, caps)


def _too_large(cap: int) -> Refusal:
    return Refusal(413, f"a body may have at most {cap} bytes", close=True)


def _encoding(request: Request) -> str:
    name = request.headers.get("content-encoding", "identity").strip().lower() or "identity"
    name = "gzip" if name == "x-gzip" else name
    if name not in ("identity", "gzip", "zstd") or len(request.headers.getlist("content-encoding")) > 1:
        raise Refusal(415, "Content-Encoding has to be zstd or gzip", {"accept-encoding": "zstd, gzip"}, close=True)
    return name


def _boundary(request: Request) -> bytes | None:
    """None: the body is JSON."""
    given = request.headers.get("content-type", "application/json")
    message = Message()
    message["content-type"] = given
    kind = message.get_content_type()
    if kind == "multipart/form-data":
        _, options = parse_options_header(given)
        boundary = options.get(b"boundary", b"")
        if not 1 <= len(boundary) <= 70:
            raise Refusal(400, "multipart/form-data needs a boundary of 1 to 70 characters", close=True)
        return boundary
    is_json = kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
    charset = message.get_content_charset("utf-8")
    if not is_json or charset not in ("utf-8", "utf8", "us-ascii"):
        raise Refusal(415, "Content-Type has to be application/json in UTF-8, or multipart/form-data", close=True)
    return None


def _body(sent: bytes, encoding: str, boundary: bytes | None, caps: Caps) -> Body:
    data = unpacked(sent, encoding, caps.unpacked)
    return Body(data, {}) if boundary is None else parts(data, boundary)


# ---- unpacking ------------------------------------------------------------------------


def unpacked(data: bytes, encoding: str, cap: int) -> bytes:
    """Never holds more than `cap` bytes and a piece, whatever `data` would grow to. Raises TooLarge or Refusal."""
    if encoding == "identity":
        return data
    whole = bytearray()
    try:
        for piece in _gunzipped(data) if encoding == "gzip" else _unzstd(data):
            whole += piece
            if len(whole) > cap:
                raise TooLarge(f"an unpacked body may have at most {cap} bytes")
    except (zlib.error, EOFError, zstandard.ZstdError):
        raise Refusal(400, f"the body is not {encoding}, or is cut off") from None
    return bytes(whole)


def _gunzipped(data: bytes) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            piece = member.decompress(data, PIECE)
            data = member.unconsumed_tail
            if not piece and not data and not member.eof:
                raise EOFError
            yield piece
        data = member.unused_data


def _unzstd(data: bytes) -> Iterator[bytes]:
    reader = zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(data, read_across_frames=True)
    while piece := reader.read(PIECE):
        yield piece


# ---- multipart ------------------------------------------------------------------------


class _Parts:
    """What the parser calls. The first part is the request; names are unique."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}
        self.ended = False
        self._data = bytearray()
        self._field, self._value = bytearray(), bytearray()
        self._name: str | None = None

    def on_part_begin(self) -> None:
        self._data, self._name = bytearray(), None
        self._field, self._value = bytearray(), bytearray()
        if len(self.found) >= PARTS_MAX:
            raise TooLarge(f"a body may have at most {PARTS_MAX} parts")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        if bytes(self._field).lower() == b"content-disposition":
            _, options = parse_options_header(bytes(self._value))
            self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._field, self._value = bytearray(), bytearray()

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._data += data[start:end]

    def on_part_end(self) -> None:
        if not self._name:
            raise _wrong("a part has no name")
        if self._name in self.found:
            raise _wrong("two parts have one name")
        if not self.found and self._name != REQUEST:
            raise _wrong("the first part has to be the request")
        self.found[self._name] = bytes(self._data)

    def on_end(self) -> None:
        self.ended = True


def parts(data: bytes, boundary: bytes) -> Body:
    """Raises Invalid or TooLarge."""
    seen = _Parts()
    parser = MultipartParser(
        boundary,
        {
            "on_part_begin": seen.on_part_begin,
            "on_header_field": seen.on_header_field,
            "on_header_value": seen.on_header_value,
            "on_header_end": seen.on_header_end,
            "on_part_data": seen.on_part_data,
            "on_part_end": seen.on_part_end,
            "on_end": seen.on_end,
        },
    )
    try:
        parser.write(data)
        parser.finalize()
    except MultipartParseError:
        raise _wrong("not multipart/form-data with the boundary that was announced") from None
    if not seen.ended or REQUEST not in seen.found:
        raise _wrong("cut off before its last boundary")
    return Body(seen.found.pop(REQUEST), seen.found)


def _wrong(said: str) -> Invalid:
    return Invalid((Fault(("body",), said, "multipart"),))

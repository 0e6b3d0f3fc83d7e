"""The ASGI application: `POST /v1/systemone` and `/v1/decisions`, `GET /v1/models`, `/health`, `/metrics`.

The contract is TypeSafe's; `security` says who may ask, `bodies` how a body is read. Nothing that takes long
runs on the event loop: parsing of large bodies, images and tokenising happen in threads, passes in the engine's.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reflexd import types
from reflexd.engine import decisions, replies, schema
from reflexd.engine.engine import Engine
from reflexd.engine.errors import Fault, Invalid
from reflexd.engine.http import bodies, metrics, security
from reflexd.engine.http.bodies import Body, Caps
from reflexd.engine.http.refusals import Refusal, failed, refused, reply
from reflexd.engine.marks import Asset, Source
from reflexd.errors import ReflexError

log = logging.getLogger("reflexd.engine.http")

REQUEST_ID = "x-typesafe-request-id"
LATENCY = "x-reflex-latency-ms"
ALIAS = "jev-latest"
"""The name that clients of the contract send where none is chosen: it is whatever is served."""
GONE = 499
DRAINED, DRAIN_SECONDS = 64 << 20, 2.0
"""What is read and dropped of a refused body, so that its sender comes to read why."""

Resolve = Callable[[Sequence[Source], Mapping[str, bytes]], tuple[types.Image, ...]]
"""Fetches images, given the parts of a multipart body. Blocks; raises Invalid or TooLarge."""


class Draft(Protocol):
    @property
    def sources(self) -> tuple[Source, ...]: ...
    def request(self, images: tuple[types.Image, ...] = ()) -> types.Request: ...


class Shape(msgspec.Struct, frozen=True):
    """One of the body formats: `parse` raises Invalid, `encode` takes the response, the model's name, the setting,
    and what `parse` gave."""

    parse: Callable[[bytes], Draft]
    encode: Callable[[types.Response, str, types.Confidence, Any], bytes]


SYSTEM_ONE = Shape(schema.parse, replies.encode)
DECISIONS = Shape(decisions.parse, decisions.encode)


def no_images(sources: Sequence[Source], parts: Mapping[str, bytes]) -> tuple[types.Image, ...]:
    raise Invalid((Fault(sources[0].loc, "images are not served here", "unsupported"),))


def application(
    engine: Engine,
    key: str | None,
    *,
    caps: Caps | None = None,
    names: frozenset[str] = frozenset(),
    resolve: Resolve = no_images,
) -> ASGIApp:
    """Over TCP everything but `/health` takes `key`; None lets nobody in there. `names`: further Hosts of ours."""
    face = _Face(engine, caps or Caps(), resolve)
    app = Starlette(
        routes=[
            Route("/v1/systemone", face.answering(SYSTEM_ONE), methods=["POST"]),
            Route("/v1/decisions", face.answering(DECISIONS), methods=["POST"]),
            Route("/v1/models", face.models),
            Route("/health", face.health),
            Route("/healthz", face.health),
            Route("/metrics", face.metrics),
        ],
        exception_handlers={
            HTTPException: _unrouted,
            Refusal: _refused,
            ReflexError: _failed,
            ClientDisconnect: _gone,
            Exception: _bug,
        },
    )
    app.router.redirect_slashes = False
    paths = frozenset(route.path for route in app.routes if isinstance(route, Route))
    return _Guard(app, key, names, face.counts, paths)


class _Face:
    def __init__(self, engine: Engine, caps: Caps, resolve: Resolve) -> None:
        self.counts = metrics.Counts()
        self._engine = engine
        self._caps = caps
        self._resolve = resolve
        self._since = datetime.date.today().isoformat()

    def answering(self, shape: Shape) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            body = await bodies.read(request, self._caps)
            draft, asked = await self._asked(shape, body)
            response = await self._answer(request, asked)
            self.counts.answered(response.seconds)
            info = self._engine.info
            headers = {LATENCY: f"{response.seconds * 1000:.3f}"}
            content = shape.encode(response, info.model, info.confidence, draft)
            return Response(content, headers=headers, media_type="application/json")

        return answer

    async def _asked(self, shape: Shape, body: Body) -> tuple[Any, types.Request]:
        if len(body.json) <= bodies.INLINE:
            draft = shape.parse(body.json)
        else:
            draft = await asyncio.to_thread(shape.parse, body.json)
        _claim(draft.sources, body.parts)
        if not draft.sources:
            return draft, draft.request()
        return draft, draft.request(await asyncio.to_thread(self._resolve, draft.sources, body.parts))

    async def _answer(self, request: Request, asked: types.Request) -> types.Response:
        """Raises ClientDisconnect where the client went first: what still waited is given up."""
        answer = asyncio.wrap_future(await asyncio.to_thread(self._engine.submit, asked))
        gone = asyncio.create_task(_disconnected(request.receive))
        try:
            either: set[asyncio.Future[Any]] = {answer, gone}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ClientDisconnect
            return answer.result()
        finally:
            answer.cancel()
            gone.cancel()

    async def models(self, request: Request) -> Response:
        """In two shapes at once, TypeSafe's and OpenAI's. The date is the day since which it is served."""
        info = self._engine.info
        said = f"{info.family} on {info.device} in {info.precision}"
        named = [(info.model, said), (ALIAS, f"alias of {info.model}")]
        listed = [{"name": name, "description": text, "release_date": self._since} for name, text in named]
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "reflex"} for name, _ in named]
        return reply(200, {"models": listed, "object": "list", "data": data})

    async def health(self, request: Request) -> Response:
        return reply(200, {"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        stats = await asyncio.to_thread(self._engine.stats)
        shown = metrics.text(self._engine.info, stats, self.counts)
        return PlainTextResponse(shown, media_type=metrics.CONTENT_TYPE)


def _claim(sources: Sequence[Source], parts: Mapping[str, bytes]) -> None:
    """Every part of a multipart body belongs to one asset, which may stand in the state more than once."""
    assets = {id(source.source): source.source for source in sources if isinstance(source.source, Asset)}
    claimed = [asset.part for asset in assets.values() if asset.part]
    loc = ("body", "assets")
    faults = [Fault(loc, "an asset names a part that the body does not have", "missing")] * any(
        part not in parts for part in claimed
    )
    if len(claimed) > len(set(claimed)):
        faults.append(Fault(loc, "two assets name one part", "duplicate"))
    if any(part not in claimed for part in parts):
        faults.append(Fault(loc, "the body has a part that no asset in the state names", "extra_forbidden"))
    if faults:
        raise Invalid(tuple(faults))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _unrouted(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: "there is no such path here", 405: "this path does not take that method"}
    message = said.get(error.status_code, "the request cannot be served")
    return refused(Refusal(error.status_code, message, error.headers))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refused(error)


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, ReflexError)
    return failed(error)


async def _gone(request: Request, error: Exception) -> Response:
    """Reaches nobody; it is counted."""
    return Response(status_code=GONE)


async def _bug(request: Request, error: Exception) -> Response:
    return refused(Refusal(500, f"this is a bug; the log names it by the {REQUEST_ID} of this reply"))


class _Guard:
    """Outermost: lets in who may ask, names every response and counts it."""

    def __init__(
        self, app: ASGIApp, key: str | None, names: frozenset[str], counts: metrics.Counts, paths: frozenset[str]
    ) -> None:
        self._app = app
        self._key = key
        self._names = names
        self._counts = counts
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        name = f"req_{uuid.uuid4().hex}"
        ended = False

        async def noted() -> Message:
            nonlocal ended
            message = await receive()
            ended = message["type"] == "http.disconnect" or not message.get("more_body", False)
            return message

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] >= 400 and not ended:
                    await _drain(scope, noted, lambda: ended)
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = name
                headers["cache-control"] = "no-store"
                headers["x-content-type-options"] = "nosniff"
                path = scope["path"] if scope["path"] in self._paths else "other"
                self._counts.responses[path, message["status"]] += 1
            await send(message)

        try:
            security.check(_head(scope), self._key, self._names)
        except Refusal as e:
            await refused(e)(scope, receive, named)
            return
        try:
            await self._app(scope, noted, named)
        except Exception as e:
            # Replied to already. Its text might hold what was asked: its kind and the request's name have to do.
            log.error("%s: a bug: %s", name, type(e).__name__)


def _head(scope: Scope) -> security.Head:
    server = scope.get("server")
    tcp = (server[0], server[1]) if server is not None and server[1] is not None else None
    return security.Head(scope["method"], scope["path"], scope["headers"], tcp)


async def _drain(scope: Scope, receive: Receive, ended: Callable[[], bool]) -> None:
    """A connection closed on unread data is reset, and the reply may be lost with it: read on for a moment."""
    if security.values(scope["headers"], b"expect"):
        return  # it waits to be told whether to send at all
    dropped = 0
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while not ended() and dropped <= DRAINED:
                dropped += len((await receive()).get("body", b""))
    except TimeoutError:
        pass

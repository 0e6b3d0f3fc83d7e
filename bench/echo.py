"""The bare server to compare with: `python -m bench.echo SOCKET` gives back what a connection first sends."""

from __future__ import annotations

import contextlib
import sys

import anyio
from anyio.abc import SocketStream


async def serve(path: str) -> None:
    async def echo(peer: SocketStream) -> None:
        async with peer:
            # Whoever only looks whether somebody listens sends nothing.
            with contextlib.suppress(anyio.EndOfStream):
                await peer.send(await peer.receive())

    async with await anyio.create_unix_listener(path, mode=0o600, backlog=128) as listener:
        await listener.serve(echo)


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], backend_options={"use_uvloop": True})

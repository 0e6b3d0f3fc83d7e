"""`reflexd`: the daemon, in the foreground.

It listens before it imports what answering takes: who connects meanwhile waits in the socket's queue.
"""

from __future__ import annotations

import os
import sys

from reflexd import __version__, paths
from reflexd.daemon.sockets import Sockets
from reflexd.errors import ReflexError

USAGE = """usage: reflexd [--help | --version]

Answers the hooks of coding agents until it gets SIGTERM, SIGINT or `reflexctl stop`.
Its sockets, state and log lie in ~/.local/state/reflex, its settings in ~/.config/reflex.
"""


def main() -> None:
    match sys.argv[1:]:
        case []:
            sys.exit(run(paths.home()))
        case ["--version"]:
            print(f"reflexd {__version__}")
        case ["--help" | "-h"]:
            print(USAGE, end="")
        case _:
            print(USAGE, end="", file=sys.stderr)
            sys.exit(2)


def run(base: str) -> int:
    os.umask(0o077)
    try:
        with Sockets(base) as sockets:
            import anyio

            from reflexd.daemon.serve import serve

            anyio.run(serve, base, sockets, backend_options={"use_uvloop": True})
    except ReflexError as e:
        print(f"reflexd: error: {e.message}", file=sys.stderr)
        if e.hint:
            print(f"reflexd: hint: {e.hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    main()

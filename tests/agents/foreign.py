"""A server of another user behind a socket that looks like ours: python foreign.py SOCKET UID (as root).
Peer credentials are those of the moment of listen(2), so that comes after the change of user."""

from __future__ import annotations

import os
import socket
import sys


def main(path: str, uid: int) -> None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    os.chmod(path, 0o600)
    os.setresuid(uid, uid, uid)
    server.listen(16)
    print("listening", flush=True)
    while True:
        peer, _ = server.accept()
        with peer:
            data = peer.recv(1 << 16)
            head, _, payload = data.partition(b"\n")
            left = int(head.split(b" ")[4]) - len(payload)
            while left > 0:
                left -= len(peer.recv(1 << 16))
            peer.sendall(b"RFX1 0 0 0\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""System One over HTTP: an ASGI application, and the server that runs it on sockets opened elsewhere."""

from __future__ import annotations

from reflexd.engine.http.app import application
from reflexd.engine.http.bodies import Caps
from reflexd.engine.http.server import serve_on

__all__ = ["Caps", "application", "serve_on"]

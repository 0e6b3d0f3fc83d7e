"""Which calls a person was asked about and has not been heard of since: one that then runs was approved."""

from __future__ import annotations

from collections import OrderedDict

from reflexd.daemon.bounded import put
from reflexd.types import Event, Origin, ToolCall, ToolResult

MOST = 256


class Asked:
    """Belongs to the loop's thread. In memory: what was asked before a restart counts as not heard of."""

    def __init__(self) -> None:
        self._ids: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    def put(self, event: Event | None, id: str) -> None:
        """A person was asked about this call; `id`: its verdict's."""
        if isinstance(event, ToolCall) and event.call_id:
            put(self._ids, _key(event.origin, event.call_id), id, MOST)

    def ran(self, event: ToolResult) -> str:
        """The verdict's id of the call that ran, once; empty where nobody was asked about it."""
        return self._ids.pop(_key(event.origin, event.call_id), "") if event.call_id else ""


def _key(origin: Origin, call: str) -> tuple[str, str, str]:
    return origin.agent, origin.session, call

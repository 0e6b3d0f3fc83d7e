"""What `/metrics` says, in Prometheus' text format (version 0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from reflexd.types import EngineInfo, EngineStats

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

COUNTERS = {
    "requests": "Requests submitted to the engine.",
    "refused": "Requests refused because the queue was full.",
    "failed": "Requests that failed.",
    "cancelled": "Requests given up before their pass.",
    "passes": "Forward passes.",
    "branches": "Branches read.",
    "tokens": "Tokens computed.",
    "shared_passes": "Passes that carried more than one request.",
    "out_of_memory": "Passes that found no room on the device.",
    "busy_seconds": "Seconds in which the device worked.",
}
GAUGES = {
    "waiting": "Requests waiting.",
    "states": "States kept.",
    "state_bytes": "Bytes of kept states.",
    "state_budget": "Bytes that kept states may take.",
    "resident_bytes": "Resident memory of the process.",
    "device_bytes": "Memory taken on the device.",
}


class Counts:
    """What the HTTP side counts itself. For the event loop alone."""

    def __init__(self) -> None:
        self.responses: Counter[tuple[str, int]] = Counter()
        self._seconds = [0] * (len(SECONDS) + 1)
        self._sum = 0.0

    def answered(self, seconds: float) -> None:
        self._seconds[bisect_left(SECONDS, seconds)] += 1
        self._sum += seconds

    def lines(self) -> Iterator[str]:
        yield from _head("http_responses_total", "counter", "Responses by path and status.")
        for (path, status), count in sorted(self.responses.items()):
            yield f'reflex_http_responses_total{{path="{path}",status="{status}"}} {count}'
        yield from _head("answer_seconds", "histogram", "Seconds from submission to the answer.")
        total = 0
        for bound, count in zip((*SECONDS, "+Inf"), self._seconds, strict=True):
            total += count
            yield f'reflex_answer_seconds_bucket{{le="{bound}"}} {total}'
        yield f"reflex_answer_seconds_sum {self._sum!r}"
        yield f"reflex_answer_seconds_count {total}"


def text(info: EngineInfo, stats: EngineStats, counts: Counts) -> str:
    lines = [*_head("info", "gauge", "What is served.")]
    shown = ("model", "revision", "family", "device", "precision", "strategy", "prompt", "confidence")
    lines.append("reflex_info{" + ",".join(f'{name}="{_escaped(getattr(info, name))}"' for name in shown) + "} 1")
    for name, said in COUNTERS.items():
        lines += [*_head(f"{name}_total", "counter", said), f"reflex_{name}_total {getattr(stats, name)!r}"]
    for name, said in GAUGES.items():
        lines += [*_head(name, "gauge", said), f"reflex_{name} {getattr(stats, name)!r}"]
    return "\n".join((*lines, *counts.lines(), ""))


def _head(name: str, kind: str, said: str) -> Iterator[str]:
    yield f"# HELP reflex_{name} {said}"
    yield f"# TYPE reflex_{name} {kind}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

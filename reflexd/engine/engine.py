"""The door: a model that is ready, and requests that are answered.

Tokenising happens in the caller's thread, forward passes in the worker's; a pass carries branches of as many
requests as fit.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

import msgspec
import psutil

from reflexd.engine import calibration, labels, plan, prompt
from reflexd.engine.calibration import Binding, Calibration
from reflexd.engine.errors import EngineFailed, ModelError
from reflexd.engine.plan import Limits, Plan
from reflexd.engine.prompt import Composer, Prompt
from reflexd.engine.tokens import Tokenizer
from reflexd.engine.values import Backend
from reflexd.engine.worker import Done, Worker, bug
from reflexd.types import Confidence, Device, EngineInfo, EngineStats, Precision, Request, Response, Usage

ORDERS_MAX = 8
STATE_BUDGET = 1 << 30
"""Bytes of kept states where nothing else is said; the loader takes less where the machine has less."""


class Engine:
    """Answers requests from any thread. A context manager; `close` ends what waits with EngineFailed."""

    def __init__(
        self,
        backend: Backend[Any],
        tokenizer: Tokenizer,
        info: EngineInfo,
        words: Prompt,
        fitted: Calibration = calibration.NONE,
        state_budget: int = STATE_BUDGET,
    ) -> None:
        """`info` as of the loader. Raises ModelError where the tokenizer has no letters to answer with."""
        self.info = info
        self._composer = Composer(words, tokenizer, labels.labels(tokenizer))
        self._limits = Limits(info.context)
        self._calibration = fitted
        self._worker = Worker(backend, state_budget)

    @classmethod
    def open(
        cls,
        model: str,
        *,
        device: Device | None = None,
        precision: Precision | None = None,
        orders: int = 2,
        confidence: Confidence = "entropy",
        style: str = "markdown",
        prompt_file: str | None = None,
        calibration_file: str | None = None,
        adapter: str | None = None,
        state_budget: int | None = None,
        require_fast_kernels: bool = False,
    ) -> Engine:
        """Loads and warms a model: a directory, a GGUF file, or a hub id that is on this machine already.

        Blocks until it is ready. `device` and `precision` None: the best this machine has. Opens no network
        connection. Raises ModelError.
        """
        if not 1 <= orders <= ORDERS_MAX:
            raise ModelError(f"orders has to be from 1 to {ORDERS_MAX}")
        words = prompt.load(style, _read(prompt_file), prompt_file or "")
        fitted = _read(calibration_file)
        from reflexd.engine.tensor.loader import load  # torch takes a second to import: not before it is needed

        loaded = load(model, device, precision, adapter, require_fast_kernels)
        info = msgspec.structs.replace(
            loaded.info, prompt=words.version, orders=orders, confidence=confidence, calibrated=fitted is not None
        )
        used = Binding(info.revision, info.prompt, info.orders, info.precision)
        known = calibration.load(fitted, calibration_file or "", used) if fitted is not None else calibration.NONE
        temperatures = tuple((kind, getattr(known.temperature, kind)) for kind in calibration.KINDS)
        info = msgspec.structs.replace(info, temperatures=temperatures)
        budget = loaded.state_budget if state_budget is None else state_budget
        return cls(loaded.backend, loaded.tokenizer, info, words, known, budget)

    def submit(self, request: Request) -> Future[Response]:
        """A future of the answer: cancelling it gives up what still waits, never a pass that runs.

        Raises Invalid, Busy or EngineFailed at once; the future fails with Overloaded or EngineFailed.
        """
        since = time.monotonic()
        planned = plan.plan(request, self._composer, self._limits, self.info.orders)
        answer: Future[Response] = Future()
        done = self._worker.submit(planned)
        answer.add_done_callback(lambda given: done.cancel() if given.cancelled() else None)
        done.add_done_callback(lambda done: self._answer(answer, done, planned, since))
        return answer

    def answer(self, request: Request, timeout: float | None = None) -> Response:
        """Blocks until the answer is there; after `timeout` seconds the request is given up: TimeoutError."""
        future = self.submit(request)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise

    def stats(self) -> EngineStats:
        return msgspec.structs.replace(
            self._worker.stats(), resident_bytes=psutil.Process(os.getpid()).memory_info().rss
        )

    def close(self) -> None:
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, answer: Future[Response], done: Future[Done], planned: Plan, since: float) -> None:
        """In the worker's thread, so short: a handful of exponentials."""
        if done.cancelled() or not answer.set_running_or_notify_cancel():
            return
        if (error := done.exception()) is not None:
            answer.set_exception(error)
            return
        found = done.result()
        usage = Usage(len(planned.prefix.tokens), planned.question_tokens, found.hit, len(planned.prefix.pictures))
        try:
            answers = plan.answers(planned, found.readings, self._calibration)
        except EngineFailed as e:
            answer.set_exception(e)
        except Exception as e:  # else nobody would ever answer
            answer.set_exception(bug(e))
        else:
            answer.set_result(Response(answers, usage, time.monotonic() - since))


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as e:
        raise ModelError(f"{path} cannot be read: {e.strerror}") from e

"""A judge elsewhere: any server of the System One contract, asked over HTTP.

What goes to it is what a judge reads: redacted, and shown by `reflexctl status`. A call's deadline bounds the whole
of it; a thread that is still waiting then ends by the socket's own time limit.
"""

from __future__ import annotations

import asyncio
import functools
import time
from urllib.parse import urlsplit

from reflexd.errors import ReflexError, Unreachable
from reflexd.systemone import ChoiceReply, NoulReply, Reply, ScoreReply, SystemOne
from reflexd.types import (
    Answer,
    Choice,
    ChoiceAnswer,
    NoAnswer,
    NoulAnswer,
    Question,
    Request,
    Response,
    Score,
    ScoreAnswer,
    Usage,
)

AT_ONCE = 4


class RemoteJudge:
    name = "remote"

    def __init__(self, url: str, key: str, model: str, *, socket: str = "") -> None:
        """`socket`: a Unix socket where the server of `url` listens, as the daemon's engine does.

        Raises ReflexError for a URL that is none, or that would carry the key in clear to another machine.
        """
        parts = urlsplit(url)
        if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise ReflexError(f"{url} is not encrypted", "use https, or a server on this machine")
        SystemOne(url)  # a URL that is none is refused here
        self._server = functools.partial(SystemOne, url, key, socket=socket)
        self._model = model
        self._host = parts.netloc.rpartition("@")[2]
        self._free = asyncio.Semaphore(AT_ONCE)

    async def ask(self, request: Request, deadline_s: float) -> Response | NoAnswer:
        began = time.monotonic()
        try:
            async with asyncio.timeout(deadline_s):
                async with self._free:
                    left = deadline_s - (time.monotonic() - began)
                    reply = await asyncio.to_thread(self._sent, request, left)
        except TimeoutError:
            return NoAnswer("timeout", f"no answer within {deadline_s:g} s")
        except Unreachable as e:
            return NoAnswer("unavailable", e.message)
        except ReflexError as e:
            return NoAnswer("refused", e.message)
        except Exception as e:
            return NoAnswer("error", type(e).__name__)
        asked = dict(request.questions)
        answers = tuple((name, _answer(asked[name], said)) for name, said in reply.answers.items() if name in asked)
        return Response(answers, Usage(0, 0, 0), time.monotonic() - began)

    def says(self) -> str:
        return f"calls that no rule decides are sent, redacted, to {self._host}"

    def _sent(self, request: Request, timeout_s: float) -> Reply:
        asked: dict[str, Question] = dict(request.questions)
        return self._server(timeout_s=timeout_s).ask(request.state, asked, self._model)


def _answer(question: Question, said: NoulReply | ChoiceReply | ScoreReply) -> Answer:
    """As it was said, a choice's options in the question's order; whether it fits is for core.gates to see."""
    match said:
        case NoulReply(noul):
            return NoulAnswer(noul)
        case ChoiceReply(choice, probabilities, confidence):
            keys = [key for key, _ in question.options] if isinstance(question, Choice) else list(probabilities)
            shares = tuple((key, probabilities.get(key, 0.0)) for key in keys)
            return ChoiceAnswer(choice, shares, confidence, confidence)
        case ScoreReply(score, probabilities, _, confidence):
            levels = question.levels if isinstance(question, Score) else ()
            shares_ = tuple(probabilities.get(str(i), 0.0) for i in range(len(levels)))
            return ScoreAnswer(score, shares_, tuple(text or "" for text in levels), confidence, confidence)

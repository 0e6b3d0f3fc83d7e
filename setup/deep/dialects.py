"""The three ways in which the agents talk to a model, as far as two shell calls and a goodbye need them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

Body = dict[str, Any]
_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "prompt_tokens": 1, "completion_tokens": 1}


class Call(Struct, frozen=True):
    tool: str
    arguments: dict[str, object]


def told(body: Body) -> list[str]:
    """What the model was told about its calls so far, in order. Raises KeyError and its kin on a strange body."""
    found: list[str] = []
    for message in body.get("messages") or body.get("input") or ():
        if message.get("role") == "tool":
            found.append(_text(message.get("content")))
        elif message.get("type") == "function_call_output":
            found.append(_text(message.get("output")))
        elif isinstance(message.get("content"), list):
            blocks = message["content"]
            found += [_text(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    return found


def answer(path: str, call: Call | None, number: int) -> Iterator[bytes] | None:
    """The model's next turn as a stream: `call`, or (None) a goodbye. None where the path is of no dialect."""
    for end, dialect in (("/messages", _messages), ("/responses", _responses), ("/chat/completions", _chat)):
        if path.endswith(end):
            return dialect(call, f"call_{number}")
    return None


def _messages(call: Call | None, key: str) -> Iterator[bytes]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": _USAGE})
    block: Body = {"type": "text", "text": ""}
    delta: Body = {"type": "text_delta", "text": "done"}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{key}", "name": call.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    yield _event("content_block_start", index=0, content_block=block)
    yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage=_USAGE)
    yield _event("message_stop")


def _responses(call: Call | None, key: str) -> Iterator[bytes]:
    text = {"type": "output_text", "text": "done", "annotations": []}
    item: Body = {"type": "message", "id": f"msg_{key}", "role": "assistant", "content": [text]}
    if call:
        item = {"type": "function_call", "id": f"fc_{key}", "call_id": key, "name": call.tool}
        item["arguments"] = json.dumps(call.arguments)
    whole = {"id": f"resp_{key}", "object": "response", "model": "scripted", "output": [], "usage": _USAGE}
    yield _event("response.created", response={**whole, "status": "in_progress"})
    yield _event("response.output_item.added", output_index=0, item={**item, "status": "in_progress"})
    yield _event("response.output_item.done", output_index=0, item={**item, "status": "completed"})
    yield _event("response.completed", response={**whole, "status": "completed"})


def _chat(call: Call | None, key: str) -> Iterator[bytes]:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    delta: Body = {"role": "assistant", "content": "" if call else "done"}
    yield _data({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    if call:
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        calls = [{"index": 0, "id": key, "type": "function", "function": function}]
        yield _data({**base, "choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": None}]})
    finish = "tool_calls" if call else "stop"
    yield _data({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    yield _data({**base, "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def _event(name: str, **values: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **values})}\n\n".encode()


def _data(value: Body) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _text(content: object) -> str:
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(_text, content)))
        case {"text": inner} | {"output": inner} | {"content": inner}:
            return _text(inner)
        case _:
            return ""

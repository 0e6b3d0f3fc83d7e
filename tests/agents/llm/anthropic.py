"""The Messages dialect (Claude Code), streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.agents.llm.script import Conversation, Result, Turn, text_of

PREFIX = "toolu"
USAGE = {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


def read(body: dict[str, object]) -> Conversation:
    task: list[str] = []
    ids: list[str] = []
    results: list[Result] = []
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match block.get("type"):
                case "tool_use":
                    ids.append(block["id"])
                case "tool_result":
                    results.append(Result(block["tool_use_id"], text_of(block.get("content"))))
                case "text" if message.get("role") == "user" and not ids:
                    task.append(text_of(block))
    tools = body.get("tools")
    names = [tool["name"] for tool in tools] if isinstance(tools, list) else []
    return Conversation("\n".join(task), tuple(ids), tuple(results), tuple(names))


def write(turn: Turn, model: str) -> Iterator[bytes]:
    message = {"id": f"msg_{turn.step}", "type": "message", "role": "assistant", "model": model, "content": []}
    open_ended = {"stop_reason": None, "stop_sequence": None, "usage": USAGE}
    yield _event("message_start", message={**message, **open_ended})
    blocks: list[tuple[dict[str, object], dict[str, object]]] = []
    if turn.text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text}))
    for id, call in turn.calls:
        start: dict[str, object] = {"type": "tool_use", "id": id, "name": call.tool, "input": {}}
        blocks.append((start, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}))
    for index, (start, delta) in enumerate(blocks):
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = {"stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": 1})
    yield _event("message_stop")


def _event(name: str, **values: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **values})}\n\n".encode()

"""The Responses dialect (Codex), streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.agents.llm.script import Conversation, Result, Turn, text_of

PREFIX = "call"
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


def read(body: dict[str, object]) -> Conversation:
    task: list[str] = []
    ids: list[str] = []
    results: list[Result] = []
    items = body.get("input")
    for item in items if isinstance(items, list) else []:
        match item.get("type", "message"):
            case "message" if item.get("role") == "user" and not ids:
                task.append(text_of(item.get("content")))
            case "function_call" | "custom_tool_call":
                ids.append(item["call_id"])
            case "function_call_output" | "custom_tool_call_output":
                results.append(Result(item["call_id"], text_of(item.get("output"))))
    tools = body.get("tools")
    names = [str(tool.get("name", tool.get("type"))) for tool in tools] if isinstance(tools, list) else []
    return Conversation("\n".join(task), tuple(ids), tuple(results), tuple(names))


def write(turn: Turn, model: str) -> Iterator[bytes]:
    output: list[dict[str, object]] = []
    if turn.text:
        text = {"type": "output_text", "text": turn.text, "annotations": []}
        output.append({"type": "message", "id": f"msg_{turn.step}", "role": "assistant", "content": [text]})
    for id, call in turn.calls:
        call_item = {"type": "function_call", "id": "fc_" + id, "call_id": id, "name": call.tool}
        namespace = {"namespace": call.namespace} if call.namespace else {}
        output.append({**call_item, **namespace, "arguments": json.dumps(call.arguments)})
    whole = {"id": f"resp_{turn.step}", "object": "response", "model": model, "output": [], "usage": USAGE}
    yield _event("response.created", response={**whole, "status": "in_progress"})
    for index, item in enumerate(output):
        begun: dict[str, object] = {**item, "arguments": ""} if "arguments" in item else {**item, "content": []}
        yield _event("response.output_item.added", output_index=index, item={**begun, "status": "in_progress"})
        yield _event("response.output_item.done", output_index=index, item={**item, "status": "completed"})
    yield _event("response.completed", response={**whole, "status": "completed"})


def _event(name: str, **values: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **values})}\n\n".encode()

"""A tiny MCP server on stdio with one tool, `mark`, that leaves an empty file. Run as a script:
python mcp_server.py MARKS-DIRECTORY"""

from __future__ import annotations

import json
import os
import sys

TOOL = {
    "name": "mark",
    "description": "Leave a marker.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}


def answer(method: str, params: dict[str, object], marks: str) -> dict[str, object]:
    match method:
        case "initialize":
            info = {"name": "marks", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            arguments = params["arguments"]
            assert isinstance(arguments, dict)
            with open(os.path.join(marks, os.path.basename(str(arguments["name"]))), "w"):
                pass
            return {"content": [{"type": "text", "text": "marked"}]}
        case "resources/list":
            return {"resources": []}
        case "prompts/list":
            return {"prompts": []}
        case _:
            return {}


def main(marks: str) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked or "method" not in asked:
            continue
        result = answer(asked["method"], asked.get("params") or {}, marks)
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

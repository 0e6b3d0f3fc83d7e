"""A stand-in for Hermes: hermes.py PLUGIN_DIR SESSION COMMAND... prints what the plugin makes of each command."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from typing import Any


def main(directory: str, session: str, *commands: str) -> None:
    sys.dont_write_bytecode = True
    if not os.path.exists(os.path.join(directory, "plugin.yaml")):
        raise SystemExit("plugin.yaml is missing, so Hermes does not see the plugin")
    spec = importlib.util.spec_from_file_location("reflex_plugin", os.path.join(directory, "__init__.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hooks: dict[str, Callable[..., Any]] = {}

    class Context:
        def register_hook(self, name: str, callback: Callable[..., Any]) -> None:
            hooks[name] = callback

    module.register(Context())
    answers = []
    for command in commands:
        facts = {"tool_name": "terminal", "args": {"command": command}, "session_id": session, "tool_call_id": "1"}
        said = hooks["pre_tool_call"](**facts)
        # Hermes runs the tool on a block without a message.
        blocked = isinstance(said, dict) and said.get("action") == "block" and said.get("message")
        answers.append(said["message"] if blocked else None)
    print(json.dumps(answers))


main(*sys.argv[1:])

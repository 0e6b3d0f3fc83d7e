"""A scripted LLM on loopback: one server, three dialects, every request kept."""

from tests.agents.llm.script import Arguments, Call, Request, Result, Script, Step
from tests.agents.llm.server import ScriptedLlm

__all__ = ["Arguments", "Call", "Request", "Result", "Script", "ScriptedLlm", "Step"]

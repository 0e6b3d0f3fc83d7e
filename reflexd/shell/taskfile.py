"""Task runners' own files -> the shell code that a task runs: Taskfile.yml, mise.toml, Makefile.toml.

Of YAML only what such files are written in is read, by indentation: keys, lists, literal blocks. What is
templated is text that nobody knows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from msgspec import Struct

from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped

TASKS_MAX = 60
DEPTH_MAX = 12  # keys below keys; nothing of a task is deeper
_UNKNOWN = "${RANDOM}"
_HOLE = re.compile(r"\{\{[^{}]*\}\}|\{%[^%]*%\}")
_KEY = re.compile(r"(?P<indent> *)(?P<name>[\w:.*'\"-]+):(?:\s+(?P<rest>.*))?\Z")
_ITEM = re.compile(r"(?P<indent> *)- +(?P<rest>.*)\Z")
_BLOCK = re.compile(r"[|>][+-]?\d?\Z")
_RUNNING = frozenset({"cmd", "cmds", "sh", "run", "command", "script", "preconditions", "status"})
_NEEDING = frozenset({"deps", "task", "depends", "dependencies", "run_task"})


class Task(Struct, frozen=True):
    code: list[str]
    needs: list[str]


def read(text: str, file: Local) -> Unwrapped:
    """`task NAME...` of a Taskfile, "default" where none is named. Total; linear in the text."""
    tasks, commands, outside = _tasks(text)
    names = [word for word in file.arguments if "=" not in word] or ["default"]
    return _run(tasks, names, commands, ("it includes other files",) if outside else ())


def read_toml(text: str, file: Local) -> Unwrapped:
    """`mise run NAME`, `cargo make NAME`: tables of tasks."""
    try:
        held = tomllib.loads(text).get("tasks")
    except (tomllib.TOMLDecodeError, RecursionError):
        return Unwrapped(opaque=("it is not a file of tasks",))
    tasks: dict[str, Task] = {}
    for name, value in held.items() if isinstance(held, dict) else ():
        table = value if isinstance(value, dict) else {"run": value}
        code = [" ".join((*_texts(table.get("command")), *_texts(table.get("args"))))] if "command" in table else []
        code.extend(each for key in ("run", "script") for each in _texts(table.get(key)))
        tasks[name] = Task(code, [each for key in _NEEDING for each in _texts(table.get(key))])
    return _run(tasks, list(file.arguments[:1]) or ["default"], [], ())


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))


def _run(tasks: dict[str, Task], names: list[str], before: list[str], opaque: tuple[str, ...]) -> Unwrapped:
    code = dict.fromkeys(f"(\n{each}\n)" for each in before)
    waiting = [(name, False) for name in reversed(names)]
    done: set[str] = set()
    while waiting and len(done) <= TASKS_MAX:
        name, ready = waiting.pop()
        task = tasks.get(name)
        if task is None or (name in done and not ready):
            continue
        if ready:
            code.update((f"(\n{_HOLE.sub(_UNKNOWN, each)}\n)", None) for each in task.code if each.strip())
            continue
        done.add(name)
        waiting.append((name, True))
        waiting.extend((need, False) for need in reversed(task.needs))
    return Unwrapped(code=tuple(code), opaque=(*opaque, *(("it runs too many tasks to be read",) if waiting else ())))


def _tasks(text: str) -> tuple[dict[str, Task], list[str], bool]:
    """The tasks by name, the code that reading the file runs, and whether it includes other files."""
    tasks: dict[str, Task] = {}
    dynamic: list[str] = []
    outside = False
    section = ""
    level = -1  # how far the names of tasks are indented
    task: Task | None = None
    for path, value in _entries(text):
        if not path:
            continue
        if len(path) == 1:
            section, level, task = path[0][1], -1, None
            outside = outside or section == "includes"
            continue
        if path[-1][1] == "sh" and value:
            dynamic.append(value)  # a variable that a command gives
        if section != "tasks":
            continue
        indent, name = path[1]
        if level < 0:
            level = indent
        if indent == level and len(path) == 2:
            task = tasks[name] = Task([value] if value else [], [])
        elif task is not None and value:
            keys = {key for _, key in path[2:]}
            if not _NEEDING.isdisjoint(keys):
                task.needs.extend(_flow(value))
            elif not _RUNNING.isdisjoint(keys) or path[-1][1] == "-":
                task.code.extend(_flow(value))
    return tasks, dynamic, outside


def _flow(value: str) -> list[str]:
    """A value as it stands, or the parts of [a, b]; {task: a} is the name."""
    if value[:1] == "[" and value[-1:] == "]":
        return [part.strip().strip("'\"") for part in value[1:-1].split(",")]
    braced = re.match(r"\{\s*(?:task|cmd|sh):\s*([^,}]*)", value)
    return [braced[1].strip().strip("'\"")] if braced else [value]


def _entries(text: str) -> Iterator[tuple[list[tuple[int, str]], str]]:
    """Every key or item with the keys that it stands below (their indentation and name), and its own text."""
    path: list[tuple[int, str]] = []
    block: tuple[int, list[str]] | None = None
    for line in [*text.replace("\r\n", "\n").replace("\t", "  ").split("\n"), "end:"]:
        indent = len(line) - len(line.lstrip(" "))
        if block is not None:
            if not line.strip() or indent > block[0]:
                block[1].append(line.strip())
                continue
            yield list(path), "\n".join(block[1])
            block = None
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        while len(path) < DEPTH_MAX and (item := _ITEM.match(line)) is not None:
            path = [
                *(step for step in path if step[0] < indent or (step[0] == indent and step[1] != "-")),
                (indent, "-"),
            ]
            line = " " * (indent + 2) + item["rest"]
            indent += 2
        key = _KEY.match(line)
        if key is not None:
            path = [*(step for step in path if step[0] < indent), (indent, key["name"].strip("'\""))][:DEPTH_MAX]
        value = (key["rest"] or "") if key is not None else line
        value = value.strip()
        if _BLOCK.match(value):
            block = (indent - (0 if key is not None else 2), [])
            continue
        yield list(path), _unquoted(value)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1].replace("''", "'") if value[0] == "'" else re.sub(r"\\(.)", r"\1", value[1:-1])
    return value

"""Documents as people keep them: JSON in every layout, with or without comments, and YAML."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

words = st.text(st.sampled_from('abcé"\\,{}[]#/*: \n\u2028'), max_size=6)
scalars = st.none() | st.booleans() | st.integers(-9, 999) | words
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)


def hook(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command}


foreign_groups = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(st.sampled_from(["/bin/true", "lint --fix, {x}"]).map(hook), min_size=1, max_size=2)},
        optional={"matcher": st.sampled_from(["*", "Bash"])},
    ),
    min_size=1,
    max_size=3,
)
events = st.sampled_from(["PreToolUse", "PostToolUse", "Stop", "SomeOther"])
foreign_hooks = st.dictionaries(events, foreign_groups, min_size=1, max_size=3)


@st.composite
def settings_texts(draw: st.DrawFn, root_keys: st.SearchStrategy[str] = words) -> str:
    """A settings file with other keys and other people's hooks, in one of json.dumps's layouts."""
    keys = draw(st.dictionaries(root_keys.filter(lambda k: k != "hooks"), values, max_size=3))
    if draw(st.booleans()):
        keys["hooks"] = draw(foreign_hooks)
    items = draw(st.permutations(list(keys.items())))
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":")])) if indent is None else None
    text = json.dumps(dict(items), indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text += draw(st.sampled_from(["", "\n", "\n\n", "  \n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


COMMENTS = ["", "", "", " ", "// a, b: {c}\n", "/* x, y */", '/* "k": [1, */ ', "\n", "\n\t", "  // end }\n  "]


@st.composite
def commented(draw: st.DrawFn, value: Any) -> str:
    """`value` as JSON with comments and trailing commas wherever they may stand."""
    gap = st.sampled_from(COMMENTS)
    if isinstance(value, dict | list) and value:
        members = value.items() if isinstance(value, dict) else [(None, item) for item in value]
        parts = []
        for key, item in members:
            name = "" if key is None else json.dumps(key) + draw(gap) + ":" + draw(gap)
            parts.append(draw(gap) + name + draw(commented(item)) + draw(gap))
        body = ",".join(parts) + draw(st.sampled_from(["", ",", ", // last\n"]))
        return ("{%s%s}" if isinstance(value, dict) else "[%s%s]") % (body, draw(gap))
    return json.dumps(value)


YAML_SECTIONS = [
    "# a comment, first\n",
    "model:\n  default: gpt   # odd   spacing\n  provider: mock\n",
    "list:\n- x\n-   y\n",
    "long: 'a very long line that a YAML library would like to fold somewhere around here, or a bit later maybe'\n",
    "text: |\n  one\n    two\n",
    "\n\n",
    "anchors: &a [1, 2]\nused: *a\n",
    'octal: 0o17\nyes: no\nquoted: "x"\n',
]
YAML_PLUGINS = [
    "",
    "plugins:\n  enabled:\n  - a   # keep\n  - b\n",
    "plugins:\n    enabled:\n        - a\n    other: 1\n",
    "plugins:\n  other: {x: 1}\n  enabled: [a, 'b']\n",
    "plugins:\n  enabled: []\n",
    "plugins: {enabled: [a]}\n",
    "plugins:\n  # none yet\n  disabled:\n    - z\n",
]


@st.composite
def yaml_texts(draw: st.DrawFn) -> str:
    sections = draw(st.lists(st.sampled_from(YAML_SECTIONS), unique=True, max_size=5))
    sections.insert(draw(st.integers(0, len(sections))), draw(st.sampled_from(YAML_PLUGINS)))
    text = "".join(sections)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text

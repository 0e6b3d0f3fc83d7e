"""The user's settings and the rules in force: files -> values, or a PolicyError naming file and line.

`config.toml` holds the few settings; `policy.toml` beside it adds rules to the shipped ones. Neither
has to be there. Files that others could write are refused.
"""

from __future__ import annotations

import os
import re
import tomllib
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from reflexd import paths
from reflexd.core import policy as rules
from reflexd.core.policy import Policy
from reflexd.errors import PolicyError, ReflexError
from reflexd.judge.fixed import Fixed
from reflexd.judge.second.settings import SecondSettings, fault
from reflexd.private import owned_file
from reflexd.types import Allow, Confidence, Device, Mode, Precision, Profile

FILE_MAX = 1 << 20


class EngineSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """System One, as `reflexctl model use` writes it. No `model`: there is none, and the gate goes on without.

    `port` 0: it is served on the Unix socket alone. `memory_mib` 0: its memory is not capped.
    """

    model: str = ""
    device: Device | None = None
    precision: Precision | None = None
    orders: Annotated[int, Meta(ge=1, le=8)] = 2
    confidence: Confidence = "entropy"
    style: str = "markdown"
    prompt: str | None = None
    calibration: str | None = None
    adapter: str | None = None
    port: Annotated[int, Meta(ge=0, le=65535)] = 0
    memory_mib: Annotated[int, Meta(ge=0)] = 0


class JudgeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who answers what rules leave undecided.

    `kind` auto: the engine where it has a model, else nobody. `context` is what a person says about this machine and
    its work, and the judge reads it first. `url` and `model`: of a remote judge; its key lies in a file of its own
    (paths.judge_key). `fixed`: what the fixed judge says.
    """

    kind: Literal["auto", "none", "engine", "remote", "fixed"] = "auto"
    allow: Allow = "off"
    context: Annotated[str, Meta(max_length=4000)] = ""
    url: str = ""
    model: str = "jev-latest"
    fixed: Fixed = Fixed()


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    mode: Mode = "enforce"
    profile: Profile = "supervised"
    engine: EngineSettings = EngineSettings()
    judge: JudgeSettings = JudgeSettings()
    second: SecondSettings = SecondSettings()

    @property
    def judged_by(self) -> str:
        """The kind of judge that is asked: none, engine, remote or fixed."""
        kind = self.judge.kind
        return kind if kind != "auto" else "engine" if self.engine.model else "none"


class Sources(Struct, frozen=True):
    """The bytes of the user's two files; None where there is none."""

    settings: bytes | None = None
    policy: bytes | None = None


class InForce(Struct, frozen=True):
    """What a call is judged by. Built whole and swapped whole: a call keeps the one it began with."""

    settings: Settings
    policy: Policy


def policy_file(base: str) -> str:
    return os.path.join(paths.config_dir(base), "policy.toml")


def load(base: str) -> InForce:
    """The settings and rules of the user whose home is `base`. Raises PolicyError."""
    return build(base, read(base))


def read(base: str) -> Sources:
    """Raises PolicyError for files that cannot be read, or that others could write."""
    return Sources(_read(paths.settings_file(base)), _read(policy_file(base)))


def build(base: str, sources: Sources) -> InForce:
    """Raises PolicyError naming the file and the line."""
    settings = _settings(paths.settings_file(base), sources.settings)
    policy = rules.shipped()
    if sources.policy is not None:
        policy = rules.load(sources.policy, policy_file(base), policy)
    return InForce(settings, policy)


def _settings(path: str, data: bytes | None) -> Settings:
    if data is None:
        return Settings()
    try:
        text = data.decode()
        read = msgspec.convert(tomllib.loads(text), Settings)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise PolicyError(f"{path}: line {line}: not UTF-8") from e
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        raise PolicyError(f"{path}: {e or 'nested too deeply'}") from e
    except msgspec.ValidationError as e:
        raise PolicyError(f"{path}: line {_line(text, str(e))}: {e}") from e
    for number, tier in enumerate(read.second.tiers, 1):
        if why := fault(tier):
            raise PolicyError(f"{path}: [second]: tier {number}: {why}")
    return read


def _line(text: str, message: str) -> int:
    """The line of the key that a validation error names; 1 where it names none."""
    named = re.search(r"unknown field `([^`]*)`", message) or re.search(r"`\$\.([A-Za-z_]+)", message)
    if named:
        key = re.compile(rf"\s*(\[\s*)?[\"']?{re.escape(named[1])}[\"']?\s*[=.\]]")
        for number, line in enumerate(text.split("\n"), 1):
            if key.match(line):
                return number
    return 1


def _read(path: str) -> bytes | None:
    """The file's bytes, None where it is not there."""
    try:
        return owned_file(path, FILE_MAX)
    except ReflexError as e:
        raise PolicyError(e.message, e.hint) from e

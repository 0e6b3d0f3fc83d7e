"""What a person says about stronger judges, in `[second]` of config.toml."""

from __future__ import annotations

import os
from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct

LOCAL = ("127.0.0.1", "::1", "localhost")


class Tier(Struct, frozen=True, forbid_unknown_fields=True):
    """One stronger judge.

    `url` goes up to the vendor's path: `https://api.example/v1` for openai, `https://api.example` for anthropic.
    `command`: a program that gets the case as its last argument and answers on its standard output; `home` is its home.
    """

    kind: Literal["openai", "anthropic", "program"]
    url: str = ""
    model: str = ""
    command: tuple[str, ...] = ()
    home: str = ""
    timeout_s: Annotated[float, Meta(gt=0, le=300)] = 60.0


class SecondSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Tiers are asked in their order until one is sure. None: what is not sure waits for a person."""

    tiers: tuple[Tier, ...] = ()
    per_day: Annotated[int, Meta(ge=0)] = 200
    per_session: Annotated[int, Meta(ge=0)] = 50


def says(settings: SecondSettings) -> str:
    """What a person should know about where calls go, in one line; empty where there is nothing to say."""
    if not settings.tiers:
        return ""
    there = (urlsplit(tier.url).netloc.rpartition("@")[2] or tier.command[0] for tier in settings.tiers)
    return f"calls that a gate asks about are sent, redacted, to {', '.join(dict.fromkeys(there))}"


def fault(tier: Tier) -> str:
    """Why a tier cannot be used; empty where it can."""
    if tier.kind == "program":
        return (
            "" if tier.command and os.path.isabs(tier.command[0]) else "command names its program by an absolute path"
        )
    parts = urlsplit(tier.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f"{tier.url!r} is no URL"
    if parts.scheme == "http" and parts.hostname not in LOCAL:
        return f"{tier.url} is not encrypted"
    return "" if tier.model else "model names none"

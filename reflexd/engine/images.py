"""The images of a request: their bytes had and checked, outside the device's queue. Blocks; no torch.

A path counts only below an allowed root, and no part of it below the root may be a link. PNG, JPEG and WebP,
by content; sizes are checked before anything is decoded. Not covered: http(s) sources, which are refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import os
import re
import stat
from collections.abc import Mapping, Sequence

import PIL.Image
import PIL.ImageOps
from msgspec import Struct

from reflexd.engine.errors import Fault, Invalid
from reflexd.engine.marks import Source
from reflexd.types import Image

FORMATS = ("PNG", "JPEG", "WEBP")
EXIF_ORIENTATION = 0x0112
DATA = re.compile(r"data:image/(?:png|jpeg|jpg|webp);base64,")


class Policy(Struct, frozen=True):
    """`roots`: directories that images may be read from. Caps are for one image, in bytes and pixels."""

    roots: tuple[str, ...] = ()
    bytes_max: int = 20_000_000
    pixels_max: int = 16_000_000


class Refused(Exception):
    """Why one image is not taken."""


def resolve(sources: Sequence[Source], parts: Mapping[str, bytes], policy: Policy) -> tuple[Image, ...]:
    """In the order of `sources`. Raises Invalid with the first refusal and its place."""
    images = []
    for source in sources:
        try:
            images.append(checked(_bytes(source, parts, policy), policy))
        except Refused as e:
            raise Invalid((Fault(source.loc, str(e), "image"),)) from None
    return tuple(images)


def checked(data: bytes, policy: Policy) -> Image:
    """The image in `data`, turned upright where its EXIF says that it is not. Raises Refused."""
    if len(data) > policy.bytes_max:
        raise Refused(f"an image has at most {policy.bytes_max} bytes")
    try:
        with PIL.Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            width, height = opened.size
            if width * height > policy.pixels_max:
                raise Refused(f"an image has at most {policy.pixels_max} pixels")
            if getattr(opened, "n_frames", 1) > 1:
                raise Refused("an animated image is not supported")
            opened.load()
            if opened.getexif().get(EXIF_ORIENTATION, 1) != 1:
                upright, kept = PIL.ImageOps.exif_transpose(opened), io.BytesIO()
                upright.convert("RGB").save(kept, "PNG")
                data, (width, height) = kept.getvalue(), upright.size
    except Refused:
        raise
    except Exception:  # Pillow's readers raise whatever a broken file leads them to
        raise Refused("not a PNG, JPEG or WebP image, or a damaged one") from None
    return Image(data, hashlib.sha256(data).hexdigest(), width, height)


def _bytes(source: Source, parts: Mapping[str, bytes], policy: Policy) -> bytes:
    given = source.source
    if not isinstance(given, str):
        if not given.part:
            return _decoded(given.data_base64, policy)
        if given.part not in parts:
            raise Refused("the body has no part of that name")
        return parts[given.part]
    if given[:5].lower() == "data:":
        head = DATA.match(given)
        if head is None:
            raise Refused("a data URI has to begin data:image/png;base64, (or jpeg, webp)")
        return _decoded(given[head.end() :], policy)
    if not given.startswith("/"):
        raise Refused("a source has to be a data URI or an absolute path; nothing is fetched over the network")
    return _read(given, policy)


def _decoded(text: str, policy: Policy) -> bytes:
    if len(text) > policy.bytes_max * 4 // 3 + 4:
        raise Refused(f"an image has at most {policy.bytes_max} bytes")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("not base64") from None


def _read(path: str, policy: Policy) -> bytes:
    """One answer for whatever cannot be had, so that nobody learns which files there are."""
    nothing = Refused("no image that may be read is at this path")
    names = path.split("/")[1:]
    if "\0" in path or any(name in ("", ".", "..") for name in names):
        raise nothing
    for root in policy.roots:
        above = root.rstrip("/").split("/")[1:]
        if names[: len(above)] != above or len(names) == len(above):
            continue
        at = -1
        try:
            at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            below = names[len(above) :]
            for number, name in enumerate(below):
                kind = os.O_DIRECTORY if number < len(below) - 1 else os.O_NONBLOCK
                inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=at)
                os.close(at)
                at = inner
            if not stat.S_ISREG(os.fstat(at).st_mode):
                raise nothing
            with os.fdopen(os.dup(at), "rb") as file:
                return file.read(policy.bytes_max + 1)
        except (OSError, ValueError):
            raise nothing from None
        finally:
            if at >= 0:
                os.close(at)
    raise nothing

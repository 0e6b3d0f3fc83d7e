"""Which images are taken, and which are refused with their place."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path

import PIL.Image
import pytest

from reflexd.engine.errors import Invalid
from reflexd.engine.images import Policy, resolve
from reflexd.engine.marks import Asset, Source
from reflexd.types import Image


def png(size: tuple[int, int] = (4, 3), kind: str = "PNG", **said: object) -> bytes:
    kept = io.BytesIO()
    PIL.Image.new("RGB", size, "red").save(kept, kind, **said)
    return kept.getvalue()


def had(source: str | Asset, policy: Policy | None = None, parts: dict[str, bytes] | None = None) -> Image:
    return resolve([Source("<m>", ("body", "state"), source)], parts or {}, policy or Policy())[0]


def test_bytes_that_came_along_are_taken() -> None:
    text = base64.b64encode(png()).decode()
    for image in (had("data:image/png;base64," + text), had(Asset(text)), had(Asset(part="p"), parts={"p": png()})):
        assert (image.width, image.height, image.data) == (4, 3, png())


def test_an_image_is_turned_upright() -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    image = had(Asset(part="p"), parts={"p": png(kind="JPEG", exif=exif)})
    assert (image.width, image.height) == (3, 4)


def test_files_are_read_below_a_root_only(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside.png"
    (root / "in").mkdir(parents=True)
    for place in (root / "in" / "a.png", outside):
        place.write_bytes(png())
    (root / "link.png").symlink_to(outside)
    (root / "up").symlink_to(tmp_path)
    os.mkfifo(root / "fifo")
    policy = Policy(roots=(str(root),))
    assert had(str(root / "in" / "a.png"), policy).width == 4
    with pytest.raises(Invalid):
        had(str(root / "in" / "a.png"))
    for name in ("link.png", "up/outside.png", "fifo", "in", "none", "../outside.png", "a\0b", "\ud800"):
        with pytest.raises(Invalid):
            had(f"{root}/{name}", policy)


@pytest.mark.parametrize(
    "source",
    [
        "file:///etc/passwd",
        "http://127.0.0.1/",
        "http://2130706433/",
        "data:,x",
        "data:image/png;a=b;base64,",
        "",
        "data:image/png;base64,!!",
        "/dev/zero",
        "a.png",
    ],
)
def test_other_sources_are_refused(source: str) -> None:
    with pytest.raises(Invalid) as refused:
        had(source, Policy(roots=("/dev",)))
    assert refused.value.faults[0].loc == ("body", "state")


@pytest.mark.parametrize("data", [b"", b"GIF89a", png()[:40], png((4001, 4001)), png(kind="GIF")])
def test_what_is_no_sound_image_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid):
        had(Asset(part="p"), parts={"p": data})

"""What the object store holds, as the real git stored it."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexd.sight.disk import Budget, Unread
from reflexd.sight.gitobjects import Object, Objects

from .conftest import World


def store(world: World, oid_bytes: int = 20, size: int = 1 << 30) -> Objects:
    return Objects(str(world.work / ".git/objects"), oid_bytes, Budget(10_000, size))


def oids(world: World) -> dict[bytes, str]:
    text = world.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    return {bytes.fromhex(line.split()[0]): line.split()[1] for line in text.splitlines()}


def fill(world: World, commits: int = 8) -> None:
    """Trees large and alike enough that packing makes chains of deltas of them."""
    world.clone()
    noise = random.Random(4)
    for number in range(commits):
        for name in range(60):
            if number == 0 or name == number:
                world.write(f"dir/file-with-a-long-name-{name:03}", noise.randbytes(30).hex())
        world.git("add", "-A")
        world.git("commit", "-q", "-m", f"commit {number}")


def check_all(world: World, oid_bytes: int = 20) -> None:
    with store(world, oid_bytes) as objects:
        for oid, kind in oids(world).items():
            assert objects.has(oid)
            if kind != "blob":
                data = world.run("cat-file", kind, oid.hex()).stdout
                assert objects.read(oid) == Object(kind, data)
        assert not objects.has(bytes(oid_bytes))
        assert isinstance(objects.read(b"\xff" * oid_bytes), Unread)


def test_loose_then_packed(world: World) -> None:
    fill(world)
    check_all(world)
    world.git("repack", "-q", "-a", "-d", "-f", "--depth=40", "--window=40")
    deltas = world.git("verify-pack", "-v", str(next((world.work / ".git/objects/pack").glob("*.idx"))))
    assert "chain length = 2" in deltas
    check_all(world)


def test_deltas_by_name(world: World) -> None:
    fill(world)
    world.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f")
    check_all(world)


def test_longer_hashes(world: World) -> None:
    world.git("init", "-q", "--object-format=sha256", "-b", "main")
    world.write("a", "1")
    world.git("add", "-A")
    world.git("commit", "-q", "-m", "x")
    check_all(world, 32)
    world.git("repack", "-q", "-a", "-d")
    check_all(world, 32)


def test_borrowed_objects(world: World) -> None:
    fill(world, 2)
    other = World.__new__(World)
    other.__dict__.update(world.__dict__ | {"work": world.root / "other"})
    world.git("clone", "-q", "--shared", str(world.work), str(other.work))
    check_all(other)
    (other.work / ".git/objects/info/alternates").write_text("/nowhere\n" * 100 + str(other.work / ".git/objects"))
    with store(other) as objects:
        assert not objects.has(next(iter(oids(world))))


def test_a_pack_without_its_other_half_holds_nothing(world: World) -> None:
    fill(world, 2)
    held = list(oids(world))
    world.git("repack", "-q", "-a", "-d")
    for pack in (world.work / ".git/objects/pack").glob("*.pack"):
        pack.unlink()
    with store(world) as objects:
        assert not any(objects.has(oid) for oid in held)


def test_hostile_stores(world: World) -> None:
    fill(world, 1)
    (oid,) = [oid for oid, kind in oids(world).items() if kind == "commit"][:1]
    path = world.work / f".git/objects/{oid.hex()[:2]}/{oid.hex()[2:]}"
    path.unlink()
    os.mkfifo(path)
    with store(world) as objects:
        assert not objects.has(oid)
    packs = world.work / ".git/objects/pack"
    os.mkfifo(packs / "a.idx")
    (packs / "b.idx").write_bytes(b"\xfftOc\0\0\0\2")
    (packs / "b.pack").write_bytes(b"PACK")
    (packs / "c.idx").symlink_to("c.idx")
    with store(world) as objects:
        assert not objects.has(oid)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with store(world) as objects:
        objects.has(oid)
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


@pytest.fixture(scope="module")
def packed(lasting_world: World) -> tuple[Path, list[bytes]]:
    fill(lasting_world, 4)
    lasting_world.git("repack", "-q", "-a", "-d", "-f")
    return lasting_world.work / ".git/objects", list(oids(lasting_world))


DAMAGE = st.tuples(
    st.sampled_from([".idx", ".pack"]), st.integers(0, 6000), st.binary(min_size=1, max_size=40), st.booleans()
)


@given(damage=DAMAGE)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_pack_is_read_or_refused(
    packed: tuple[Path, list[bytes]], tmp_path_factory: pytest.TempPathFactory, damage: tuple[str, int, bytes, bool]
) -> None:
    source, held = packed
    which, at, put, cut = damage
    target = tmp_path_factory.mktemp("store")
    (target / "pack").mkdir()
    for path in (source / "pack").iterdir():
        data = path.read_bytes()
        if path.suffix == which:
            at %= len(data)
            data = data[:at] + put + (b"" if cut else data[at + len(put) :])
        (target / "pack" / path.name).write_bytes(data)
    with Objects(str(target), 20, Budget(1000, 1 << 28)) as objects:
        for oid in held:
            assert isinstance(objects.read(oid), Object | Unread)
    shutil.rmtree(target)


def test_a_bomb_is_not_inflated(world: World) -> None:
    world.clone()
    big = world.root / "big"
    with big.open("wb") as file:
        file.truncate(200 << 20)
    done = world.run("hash-object", "-w", "-t", "tree", "--literally", str(big))
    oid = bytes.fromhex(done.stdout.decode().strip())
    with store(world) as objects:
        assert objects.has(oid)
        assert isinstance(objects.read(oid), Unread)

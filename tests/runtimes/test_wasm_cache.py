"""Compiled modules are native code: what is taken from the cache must be what this user's Samuel put there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from wasmtime import Config, Engine, Module

from samuel.hooks.handler import Outcome
from samuel.runtimes.wasm.cache import MAX_MODULES, CompiledCache

from .wasm_build import Place, saying

FIRST, SECOND = saying('{"x": 1}'), saying('{"x": 2}')


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.runtime.close()


def cached(place: Place) -> list[Path]:
    return sorted((place.cache / "wasm").glob("*.cwasm"))


def again(place: Place) -> object:
    """What the module answers in another process: nothing is remembered but what is on disk."""
    place.runtime.close()
    place.runtime = place.new()
    reply = place.call()
    assert reply.outcome is Outcome.OK, reply
    return reply.result


def compiled(place: Place, data: bytes) -> Path:
    """The cached form of this module."""
    before = cached(place)
    place.call(data)
    (new,) = set(cached(place)) - set(before)
    return new


def test_it_is_written_for_nobody_else(place: Place) -> None:
    place.call(FIRST)
    (file,) = cached(place)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert "wasmtime" in file.name
    assert os.listdir(place.plugin) == ["plugin.wasm"]


def test_it_is_really_used(place: Place) -> None:
    """Only a process that may write the user's own cache can do this: give one module the other's code, sealed."""
    file = compiled(place, FIRST)
    digest, _, compiler = file.stem.partition("-")
    config = Config()
    config.epoch_interruption = True
    for name in ("wasm_threads", "wasm_multi_memory", "wasm_memory64", "wasm_gc"):
        setattr(config, name, False)
    other = bytes(Module(Engine(config), SECOND).serialize())
    CompiledCache(place.cache / "wasm", place.root, compiler).keep(digest, other)
    place.module.write_bytes(FIRST)
    assert again(place) == {"x": 2}
    file.unlink()
    assert again(place) == {"x": 1}


def test_one_that_is_damaged_is_compiled_again(place: Place) -> None:
    file = compiled(place, FIRST)
    whole = file.read_bytes()
    middle = len(whole) // 2
    for damaged in (
        b"",
        whole[:20],
        whole[:-1],
        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
    ):
        file.write_bytes(damaged)
        assert again(place) == {"x": 1}
        assert file.read_bytes()[32:36] == b"\x7fELF"  # and it is whole again


def test_one_of_another_module_will_not_do(place: Place) -> None:
    module = compiled(place, FIRST)
    two = compiled(place, SECOND)
    module.write_bytes(two.read_bytes())
    place.module.write_bytes(FIRST)
    assert again(place) == {"x": 1}


def test_one_without_our_seal_will_not_do(place: Place) -> None:
    module, two = compiled(place, FIRST), compiled(place, SECOND)
    module.write_bytes(bytes(32) + two.read_bytes()[32:])
    place.module.write_bytes(FIRST)
    assert again(place) == {"x": 1}


def test_one_that_a_plugin_brings_along_is_never_read(place: Place) -> None:
    """Under every name that it could be looked for, in the plugin and beside the project."""
    module, two = compiled(place, FIRST), compiled(place, SECOND)
    planted = two.read_bytes()
    names = (
        "plugin.cwasm",
        "plugin.wasm.cwasm",
        module.name,
        f"wasm/{module.name}",
        f".cache/samuel/wasm/{module.name}",
    )
    for directory in (place.plugin, place.root, place.root / ".samuel"):
        for name in names:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(planted)
    module.unlink()
    place.module.write_bytes(FIRST)
    assert again(place) == {"x": 1}
    place.module.write_bytes(planted)  # nor is it a module by itself
    assert place.call().outcome is Outcome.NOT_STARTED
    place.module.write_bytes(planted[32:])
    assert place.call().outcome is Outcome.NOT_STARTED


def test_a_link_or_a_file_that_others_can_write_is_not_read(place: Place, tmp_path: Path) -> None:
    module, two = compiled(place, FIRST), compiled(place, SECOND)
    place.module.write_bytes(FIRST)
    sealed = module.read_bytes()
    module.unlink()
    (tmp_path / "planted").write_bytes(sealed)
    module.symlink_to(tmp_path / "planted")
    assert again(place) == {"x": 1}
    assert not module.is_symlink()  # replaced, and what it led to is as it was
    assert (tmp_path / "planted").read_bytes() == sealed
    module.chmod(0o666)
    assert again(place) == {"x": 1}
    assert module.stat().st_mode & 0o777 == 0o600
    assert two.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_not_read(place: Place) -> None:
    module = compiled(place, FIRST)
    os.chown(module, 12345, 12345)
    assert again(place) == {"x": 1}
    assert module.stat().st_uid == 0
    os.chown(module.parent, 12345, 12345)
    module.unlink()
    assert again(place) == {"x": 1}
    assert cached(place) == []


def test_a_directory_that_others_can_write_is_not_used(place: Place) -> None:
    (place.cache / "wasm").mkdir()
    (place.cache / "wasm").chmod(0o777)
    assert place.call(FIRST).result == {"x": 1}
    assert cached(place) == []


def test_a_directory_that_is_a_link_is_not_used(place: Place, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (place.cache / "wasm").symlink_to(tmp_path / "elsewhere")
    assert place.call(FIRST).result == {"x": 1}
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("through", ["", "link"])
def test_a_cache_inside_the_project_is_not_used(place: Place, tmp_path: Path, through: str) -> None:
    """A clone may be the home directory, or bring a cache along where XDG_CACHE_HOME leads."""
    inside = place.root / ".cache"
    (inside / "wasm").mkdir(parents=True, mode=0o700)
    place.cache = inside
    if through:
        place.cache = tmp_path / through
        place.cache.symlink_to(inside)
    place.runtime = place.new()
    assert place.call(FIRST).result == {"x": 1}
    assert list((inside / "wasm").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_no_trouble(place: Place) -> None:
    (place.cache / "wasm").write_text("a file")
    assert place.call(FIRST).result == {"x": 1}


def test_only_the_latest_compiled_modules_are_kept(place: Place) -> None:
    cache = CompiledCache(place.cache / "wasm", place.root, "compiler")
    for number in range(MAX_MODULES + 3):
        cache.keep(f"{number:064}", b"code")
        os.utime(place.cache / "wasm" / f"{number:064}-compiler.cwasm", ns=(number, number))
    names = cached(place)
    assert len(names) == MAX_MODULES
    assert cache.load(f"{0:064}") is None
    assert cache.load(f"{MAX_MODULES + 2:064}") == b"code"

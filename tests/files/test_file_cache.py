import marshal
import os
from pathlib import Path

import msgspec
import pytest

from samuel.base.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.files.keyed_cache import MOST_VALUES, KeyedCache

numbers = msgpack_decoder(list[int])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "numbers"


def test_cached_value_is_given_back_for_the_stamp_it_was_saved_with(file: Path) -> None:
    file_cache.save(file, [1, 2], msgspec.msgpack.encode, "version 1")
    assert file_cache.load(file, numbers, "version 1") == [1, 2]
    assert file_cache.load(file, numbers, "version 2") is None
    assert file_cache.load(file, numbers) is None


def test_cached_value_may_have_any_encoding(file: Path) -> None:
    file_cache.save(file, {"a": (1,)}, marshal.dumps)
    assert file_cache.load(file, marshal.loads) == {"a": (1,)}


def test_without_a_file_nothing_is_cached() -> None:
    file_cache.save(None, [1], msgspec.msgpack.encode)
    assert file_cache.load(None, numbers) is None


def test_cache_file_is_readable_by_its_owner_alone(file: Path) -> None:
    file_cache.save(file, [1], msgspec.msgpack.encode)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_missing_damaged_or_foreign_cache_file_counts_as_no_value(file: Path) -> None:
    assert file_cache.load(file, numbers) is None
    file_cache.save(file, [1, 2, 3], msgspec.msgpack.encode)
    whole = file.read_bytes()
    flipped = bytes([*whole[:-1], whole[-1] ^ 1])
    for data in (b"", b"\0", whole[:-1], flipped, whole + b"\0", b"{}", os.urandom(100)):
        file.write_bytes(data)
        assert file_cache.load(file, numbers) is None, data


def test_cached_value_of_another_type_counts_as_no_value(file: Path) -> None:
    file_cache.save(file, {"a": 1}, msgspec.msgpack.encode)
    assert file_cache.load(file, numbers) is None
    assert file_cache.load(file, marshal.loads) is None


def test_cache_that_cannot_be_read_or_written_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the directory should be")
    file_cache.save(tmp_path / "cache" / "numbers", [1], msgspec.msgpack.encode)
    assert file_cache.load(tmp_path / "cache" / "numbers", numbers) is None
    assert file_cache.load(tmp_path, numbers) is None


def test_value_that_cannot_be_encoded_is_not_saved(file: Path) -> None:
    file_cache.save(file, ["\udcff"], msgspec.msgpack.encode)
    file_cache.save(file, object(), marshal.dumps)
    assert not file.exists()


def test_value_that_is_too_large_is_neither_saved_nor_loaded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file_cache.save(file, [1], msgspec.msgpack.encode)
    monkeypatch.setattr(file_cache, "LARGEST", len(file.read_bytes()) - 1)
    assert file_cache.load(file, numbers) is None
    file.unlink()
    file_cache.save(file, [1], msgspec.msgpack.encode)
    assert not file.exists()


def test_same_value_is_not_written_again(file: Path) -> None:
    file_cache.save(file, [1], msgspec.msgpack.encode)
    inode = file.stat().st_ino
    file_cache.save(file, [1], msgspec.msgpack.encode)
    assert file.stat().st_ino == inode
    file_cache.save(file, [2], msgspec.msgpack.encode)
    assert file_cache.load(file, numbers) == [2]


def test_digest_keeps_its_parts_apart() -> None:
    assert file_cache.digest_of("ab", "c") != file_cache.digest_of("a", "bc")
    assert len(file_cache.digest_of("\udcff")) == 32


def test_keyed_cache_has_each_value_under_its_key(file: Path) -> None:
    KeyedCache(file, list[str]).add("a", ["x"])
    KeyedCache(file, list[str]).add("b", [])
    values = KeyedCache(file, list[str])
    assert (values.get("a"), values.get("b"), values.get("c")) == (["x"], [], None)
    assert KeyedCache(file, int).get("a") is None


def test_keyed_cache_drops_the_oldest_of_too_many_values(file: Path) -> None:
    values = KeyedCache(file, int)
    for number in range(MOST_VALUES + 2):
        values.add(str(number), number)
    assert [values.get(key) for key in ("0", "1", "2", str(MOST_VALUES + 1))] == [None, None, 2, MOST_VALUES + 1]

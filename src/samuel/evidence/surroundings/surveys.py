"""What tells whether the files of an environment changed, and keeping that on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.history.path_set import path_of, saved_name

Surveys = dict[str, dict[str, tuple[int, ...]]]
"""By path of an environment: its files by their names there, with their signatures."""

T = TypeVar("T", bound=msgspec.Struct)


def load_record(file: Path, kind: type[T]) -> T:
    """The record in a file; an empty one if there is none that can be read."""
    try:
        return msgpack_decoder(kind)(read_regular(file))
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return kind()


def save_record(file: Path, record: msgspec.Struct) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    atomic.write_bytes(file, msgspec.msgpack.encode(record), 0o600, durable=False)


def plain_surveys(surveys: Mapping[str, Mapping[str, tuple[int, ...]]]) -> Surveys:
    """Surveys with names that can be stored."""
    return {
        saved_name(path): {saved_name(name): own for name, own in files.items()} for path, files in surveys.items()
    }


def stored_surveys(surveys: Surveys) -> Surveys:
    """What `plain_surveys` was given."""
    return {path_of(path): {path_of(name): own for name, own in files.items()} for path, files in surveys.items()}

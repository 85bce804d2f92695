"""The calls of a project on disk, each in `.system/implement/<key>/`.

input.json     the original input
call.json      the record
tool_call.md   the record for people
children       the keys of the calls that it made, one on each line

While a call runs, its process holds the lock `.system/implement/.running/<key>`. A killed process leaves a record
with the status `running` and a lock that no process holds.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Locked, Problem, SamuelError, UsageError
from samuel.base.printable import file_name, shell_word
from samuel.events.explain import explained
from samuel.files import atomic
from samuel.files.atomic import errors_naming
from samuel.files.inside import make_dirs_inside, open_inside, read_inside
from samuel.files.lock import held
from samuel.files.log import make_ignored_dirs
from samuel.routing.abilities.execution.call import AbilityCall, CallStatus, indented, tool_call

PLACE = ".system/implement"
RUNNING = ".running"
INPUT, RECORD, READABLE, CHILDREN = "input.json", "call.json", "tool_call.md", "children"
LARGEST = 64 * 1024 * 1024
MOST_CHILDREN = 1000  # that a record lists

KILLED = "the process that ran it died before it recorded a result"

_LIST_HINT = "`samuel ability list --calls` lists them"
_KEY = re.compile(r"call-\d{8}T\d{6}-[0-9a-f]{16}")


def new_key(now: float) -> str:
    """A new key: unique, hard to guess, and valid as a file name."""
    return f"call-{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now))}-{secrets.token_hex(8)}"


class CallStore:
    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, key: str) -> str:
        """The path of the `tool_call.md` of a call, below the project's root."""
        return f"{PLACE}/{key}/{READABLE}"

    def add(self, call: AbilityCall, original_input: Any) -> None:
        # Inputs and outputs are not redacted, so git must ignore them.
        place = make_ignored_dirs(self._root, *PLACE.split("/"))
        try:
            directory = make_dirs_inside(self._root, PLACE, call.key)
            try:
                atomic.write_at(directory, INPUT, indented(original_input) + b"\n", 0o600)
            finally:
                os.close(directory)
            self.save(call, original_input)
        except (SamuelError, OSError, KeyboardInterrupt):
            shutil.rmtree(call.key, ignore_errors=True, dir_fd=place)
            raise
        finally:
            os.close(place)

    def all_keys(self) -> list[str]:
        """The keys of all calls, by the second in which they were created."""
        return self._keys("")

    def load(self, key: str) -> AbilityCall:
        try:
            data = read_inside(self._root, PLACE, checked_key(key), RECORD, limit=LARGEST)
        except FileNotFoundError:
            if (self._root / PLACE / key).is_dir():
                raise self._unreadable(key, RECORD, "it is missing") from None
            raise _no_call(key) from None
        try:
            call = decode_json(data, AbilityCall)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._unreadable(key, RECORD, explained(error, AbilityCall)) from None
        if call.key != key:
            raise self._unreadable(key, RECORD, f"it is the record of `{file_name(call.key)[:100]}`")
        return call

    def input(self, key: str) -> Any:
        try:
            return decode_json(read_inside(self._root, PLACE, checked_key(key), INPUT, limit=LARGEST))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, FileNotFoundError) as error:
            raise self._unreadable(key, INPUT, error) from None

    def save(self, call: AbilityCall, original_input: Any) -> None:
        directory = open_inside(self._root, PLACE, call.key, flags=os.O_RDONLY | os.O_DIRECTORY)
        try:
            atomic.write_at(directory, RECORD, indented(call) + b"\n", 0o600)
            atomic.write_at(directory, READABLE, tool_call(call, original_input).encode(errors="replace"), 0o600)
        finally:
            os.close(directory)

    def delete(self, key: str) -> None:
        """Remove the folder of a call; symbolic links in it are not followed."""
        try:
            os.close(open_inside(self._root, PLACE, checked_key(key), flags=os.O_RDONLY | os.O_DIRECTORY))
        except FileNotFoundError:
            raise _no_call(key) from None
        with self._locked(key):  # even if its record cannot be read
            folder = open_inside(self._root, PLACE, flags=os.O_RDONLY | os.O_DIRECTORY)
            try:
                shutil.rmtree(key, dir_fd=folder)
            finally:
                os.close(folder)

    @contextmanager
    def running(self, key: str) -> Iterator[None]:
        """Hold the lock of a call; SamuelError if another process runs or removes it."""
        self.load(key)
        with self._locked(key):
            yield

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        os.close(make_dirs_inside(self._root, PLACE, RUNNING))
        with ExitStack() as holding:
            try:
                holding.enter_context(held(self._lock(key), note=f"the ability call {key}"))
            except Locked as error:
                raise SamuelError(f"`{key}` is running now", error.message) from None
            yield
            # The record has a final status by now, so the lock file can be removed.
            self._lock(key).unlink(missing_ok=True)

    def _lock(self, key: str) -> Path:
        return self._root / PLACE / RUNNING / key

    def add_child(self, parent: str, child: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        fd = open_inside(self._root, PLACE, parent, CHILDREN, flags=flags)
        with errors_naming(self._root / PLACE / parent / CHILDREN), open(fd, "ab", buffering=0) as file:
            file.write(f"{child}\n".encode())

    def children(self, key: str) -> tuple[str, ...]:
        try:
            content = read_inside(self._root, PLACE, key, CHILDREN, limit=LARGEST).decode(errors="replace")
        except (FileNotFoundError, SamuelError):
            return ()
        keys = dict.fromkeys(line for line in content.splitlines() if _KEY.fullmatch(line))
        return tuple(keys)[:MOST_CHILDREN]

    def mark_killed(self, keys: Iterable[str] | None = None) -> list[str]:
        """Record every call whose process died as killed; returns their keys.

        Checks the calls that have a lock, or those of `keys`.
        """
        return [key for key in (self._keys(RUNNING) if keys is None else keys) if self._was_killed(key)]

    def _keys(self, folder: str) -> list[str]:
        try:
            names = os.listdir(self._root / PLACE / folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name for name in names if _KEY.fullmatch(name))

    def _was_killed(self, key: str) -> bool:
        # A call that is running, was removed, or cannot be read is skipped.
        with suppress(SamuelError, OSError):
            status = self.load(key).status
            if status not in (CallStatus.CREATED, CallStatus.RUNNING):
                self._lock(key).unlink(missing_ok=True)  # left by an interrupted process
            if status is not CallStatus.RUNNING:
                return False  # without taking its lock, which another process may be about to take
        with suppress(SamuelError, OSError), self.running(key):
            call = self.load(key)
            if call.status is not CallStatus.RUNNING:
                return False
            ended = replace(call, status=CallStatus.KILLED, error=KILLED, children=self.children(key))
            try:
                original_input = self.input(key)
            except SamuelError:
                original_input = None
            self.save(ended, original_input)
            return True
        return False

    def _unreadable(self, key: str, name: str, why: object) -> ConfigError:
        where = str(self._root / PLACE / key / name)
        return ConfigError(
            [Problem(f"it cannot be read: {why}", where, 0, f"samuel ability delete {shell_word(key)}")]
        )


def checked_key(key: str) -> str:
    """The key, if it is valid; UsageError otherwise, since it becomes part of a path."""
    if not _KEY.fullmatch(key):
        raise UsageError(f"no ability call with key `{file_name(key)[:100]}`", _LIST_HINT)
    return key


def _no_call(key: str) -> UsageError:
    return UsageError(f"no ability call with key `{key}`", _LIST_HINT)

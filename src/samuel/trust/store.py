"""The trust store: what the user agreed to run, stored in their state directory, never in the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.base.paths import LIVE
from samuel.files import atomic
from samuel.files.lock import held
from samuel.files.regular import read_regular
from samuel.process.live import enclosing
from samuel.trust.repository import key_without_repository, trust_key

MAX_EARLIER = 20
MAX_TEXT_BYTES = 256 * 1024  # longer texts are not stored; stored ones serve to show what changed
_AGREEMENTS = "trust/{}.json"
# What was trusted last keeps the places of guards that changed since; it belongs to the agreements.
_LAST_TRUSTED = ("client-hooks/{}", "declarations/{}", "yaml/{}", "requested-checks/{}.json")


class Agreement(msgspec.Struct, frozen=True):
    """The user's agreement to a content: a file, by its path in the project, or another text, by a name."""

    digest: str
    at: str = ""
    earlier: list[str] = []  # digests agreed to before: another worktree may still have that content
    by: str = ""
    """The process that recorded it, and a checksum of what it recorded; a forged agreement lacks the checksum."""

    @property
    def recorded(self) -> bool:
        """True if Samuel recorded this agreement."""
        return self.by.endswith(self._checksum())

    def signed(self) -> Agreement:
        """The agreement with the process and the checksum."""
        return replace(self, by=f"pid {os.getpid()} {self._checksum()}")

    def _checksum(self) -> str:
        return sha256("\0".join((self.digest, self.at, *self.earlier)).encode()).hexdigest()[:16]

    def covers(self, digest: str) -> bool:
        """True if the user agreed to the content with this digest."""
        return bool(digest) and (digest == self.digest or digest in self.earlier)


class _TrustFile(msgspec.Struct):
    """The content of the store's file."""

    root: str = ""
    agreed: dict[str, Agreement] = {}
    removed_names: list[str] = msgspec.field(default_factory=list, name="let_go")  # of handlers the user removed


class TrustStore:
    """The agreements about one repository. A change locks the file and starts from its current content."""

    def __init__(self, directory: Path, key: str) -> None:
        self.key = key
        self._file = directory / f"{key}.json"
        self._texts = directory / "texts"
        self._lock = directory / f"{key}.lock"
        self._live = directory.parent / LIVE

    def load(self) -> Mapping[str, Agreement]:
        """All agreements, by name."""
        return self._read().agreed

    def pin(self) -> Callable[[], Mapping[str, Agreement]]:
        """The agreements as they are now, decoded when they are first needed."""
        content = self._content()
        return cache(lambda: self._decode(content).agreed)

    def agree(self, items: Iterable[tuple[str, str, bytes]], *, at: str, root: str, instead: bool = False) -> None:
        """Record each (name, digest, content) as agreed to; the content is stored to show later changes.

        With `instead`, earlier agreements under the same name no longer count. Refused inside a run.
        """
        if run := enclosing(self._live):
            raise SamuelError(
                f"this is inside the run `{run}`, which cannot change what is trusted",
                "end the run first, or use another terminal",
            )
        with self._changing() as stored:
            for name, digest, content in items:
                before = None if instead else stored.agreed.get(name)
                digests = (before.digest, *before.earlier) if before else ()
                earlier = [earlier_digest for earlier_digest in digests if earlier_digest != digest]
                stored.agreed[name] = Agreement(digest, at, earlier[:MAX_EARLIER]).signed()
                if len(content) <= MAX_TEXT_BYTES:
                    self._texts.mkdir(mode=0o700, exist_ok=True)
                    atomic.write_bytes(self._texts / digest, content, 0o600, durable=False)
            stored.root = root

    def revoke(self, names: Iterable[str] | None = None) -> list[str]:
        """Remove these agreements, or all of them; return the names of those that existed."""
        with self._changing() as stored:
            gone = [name for name in (stored.agreed if names is None else names) if name in stored.agreed]
            for name in gone:
                del stored.agreed[name]
        return gone

    def restore(self, before: Mapping[str, Agreement], names: Iterable[str]) -> None:
        """Set the agreements under these names back to what they were in `before`."""
        with self._changing() as stored:
            for name in names:
                stored.agreed.pop(name, None)
                if name in before:
                    stored.agreed[name] = before[name]

    def forget(self, names: Iterable[str], called: Iterable[str]) -> None:
        """Remove the agreements to handlers that the user removed on purpose.

        `called` are the names that samuel.toml may still have for them.
        """
        with self._changing() as stored:
            for name in names:
                stored.agreed.pop(name, None)
            stored.removed_names = sorted({*stored.removed_names, *called})

    def removed_names(self) -> Sequence[str]:
        """The names of handlers that the user removed on purpose."""
        return self._read().removed_names

    def no_longer_removed(self, called: Collection[str]) -> None:
        """Handlers with these names exist again; if they disappear once more, they are missing, not removed."""
        if not {*called}.isdisjoint(self.removed_names()):
            with self._changing() as stored:
                stored.removed_names = [name for name in stored.removed_names if name not in called]

    def agreed_text(self, digest: str) -> bytes | None:
        """The content with this digest that was agreed to, if it was stored."""
        try:
            return read_regular(self._texts / os.path.basename(digest))
        except OSError:
            return None

    def stamp(self) -> tuple[int, ...]:
        """A value that changes whenever the agreements do."""
        try:
            status = os.stat(self._file)
        except OSError:
            return ()
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino

    def _read(self) -> _TrustFile:
        return self._decode(self._content())

    def _content(self) -> bytes:
        try:
            return read_regular(self._file)
        except FileNotFoundError:
            return b"{}"
        except OSError as error:
            raise self._unreadable(error) from None

    def _decode(self, content: bytes) -> _TrustFile:
        try:
            return decode_json(content, _TrustFile)
        except (UnicodeDecodeError, msgspec.MsgspecError) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> ConfigError:
        hint = "move it away and run `samuel trust` again"
        return ConfigError([Problem(f"cannot read what was agreed to: {error}", str(self._file), 0, hint)])

    @contextmanager
    def _changing(self) -> Iterator[_TrustFile]:
        """The content of the store, locked; it is written back unless an exception is raised."""
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with held(self._lock, wait=10, note="samuel trust"):
            stored = self._read()
            yield stored
            text = msgspec.json.format(msgspec.json.encode(stored), indent=1)
            atomic.write_bytes(self._file, text, 0o600)


def trust_of_project(state: Path, root: Path) -> TrustStore:
    """The agreements about the project at `root`; `state` is the user's state directory.

    A project that was trusted before it had a repository is trusted in it: agreements are to contents, so nothing
    new is trusted. A store that exists is not touched, or agreements that were revoked would come back.
    """
    key = trust_key(root)
    if not (state / _AGREEMENTS.format(key)).exists():
        _take_over(state, key_without_repository(root), key)
    return TrustStore(state / "trust", key)


def _take_over(state: Path, before: str, key: str) -> None:
    if not before or not (state / _AGREEMENTS.format(before)).exists():
        return
    # The agreements last: once they are there, so is the rest. Where nothing can be written, nothing is trusted.
    for place in (*_LAST_TRUSTED, _AGREEMENTS):
        with suppress(OSError):
            os.rename(state / place.format(before), state / place.format(key))

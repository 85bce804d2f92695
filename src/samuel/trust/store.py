"""What the user agreed to run, kept in their state directory, never in the repository."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from samuel.decoding import decode_json
from samuel.errors import ConfigError, Problem, SamuelError
from samuel.files import atomic
from samuel.files.lock import held
from samuel.paths import LIVE
from samuel.process.live import enclosing

EARLIER_KEPT = 20
MOST_KEPT = 256 * 1024  # of a text, to show the difference when it changes


class Agreement(msgspec.Struct, frozen=True):
    """One thing agreed to: a file by its path in the project, or other executable text by a name."""

    digest: str
    at: str = ""
    earlier: list[str] = []  # what was agreed to before: another worktree may still have it
    by: str = ""
    """The process that recorded it, and a sum of what it recorded: a forged one has none."""

    @property
    def recorded(self) -> bool:
        return self.by.endswith(self._sum())

    def signed(self) -> Agreement:
        return replace(self, by=f"pid {os.getpid()} {self._sum()}")

    def _sum(self) -> str:
        return hashlib.sha256("\0".join((self.digest, self.at, *self.earlier)).encode()).hexdigest()[:16]

    def covers(self, digest: str) -> bool:
        return bool(digest) and (digest == self.digest or digest in self.earlier)


class _File(msgspec.Struct):
    root: str = ""
    agreed: dict[str, Agreement] = {}
    let_go: list[str] = []  # what handlers were called that their owner removed


class TrustStore:
    """The agreements about one repository. Every change is made under a lock, on what is there then."""

    def __init__(self, directory: Path, key: str) -> None:
        self._file = directory / f"{key}.json"
        self._texts = directory / "texts"
        self._lock = directory / f"{key}.lock"
        self._live = directory.parent / LIVE

    def load(self) -> Mapping[str, Agreement]:
        return self._read().agreed

    def pin(self) -> Callable[[], Mapping[str, Agreement]]:
        """The agreements as they are now, understood when they are first needed."""
        content = self._content()
        return cache(lambda: self._understand(content).agreed)

    def agree(self, items: Iterable[tuple[str, str, bytes]], *, at: str, root: str, instead: bool = False) -> None:
        """Record (name, digest, content) as agreed to; the content is kept to show what changed later.

        `instead`: what was agreed to before is so no longer. Refused to everything that was started below a run.
        """
        if run := enclosing(self._live):
            raise SamuelError(
                f"this is inside the run `{run}`, which cannot change what is trusted",
                "end the run first, or use another terminal",
            )
        with self._changing() as stored:
            for name, digest, content in items:
                before = None if instead else stored.agreed.get(name)
                known = [one for one in (before.digest, *before.earlier) if one != digest] if before else []
                stored.agreed[name] = Agreement(digest, at, known[:EARLIER_KEPT]).signed()
                if len(content) <= MOST_KEPT:
                    self._texts.mkdir(mode=0o700, exist_ok=True)
                    atomic.write_bytes(self._texts / digest, content, 0o600, durable=False)
            stored.root = root

    def revoke(self, names: Iterable[str] | None = None) -> list[str]:
        """Take agreements back, all of them without names; gives those that were there."""
        with self._changing() as stored:
            gone = [name for name in (stored.agreed if names is None else names) if name in stored.agreed]
            for name in gone:
                del stored.agreed[name]
        return gone

    def restore(self, before: Mapping[str, Agreement], names: Iterable[str]) -> None:
        """Make these agreements what they were before, or none."""
        with self._changing() as stored:
            for name in names:
                stored.agreed.pop(name, None)
                if name in before:
                    stored.agreed[name] = before[name]

    def forget(self, names: Iterable[str], called: Iterable[str]) -> None:
        """Take agreements back because what they are about is gone, and its owner wants it so.

        `called` are the names by which samuel.toml may still speak of it.
        """
        with self._changing() as stored:
            for name in names:
                stored.agreed.pop(name, None)
            stored.let_go = sorted({*stored.let_go, *called})

    def let_go(self) -> Sequence[str]:
        """What their owner called the handlers that they removed."""
        return self._read().let_go

    def back_again(self, called: Collection[str]) -> None:
        """What was removed and is there again is missed when it is gone the next time."""
        if not {*called}.isdisjoint(self.let_go()):
            with self._changing() as stored:
                stored.let_go = [name for name in stored.let_go if name not in called]

    def agreed_text(self, digest: str) -> bytes | None:
        """The content that was agreed to under this digest, if it was kept."""
        try:
            return (self._texts / os.path.basename(digest)).read_bytes()
        except OSError:
            return None

    def stamp(self) -> tuple[int, ...]:
        """Changes whenever the agreements do."""
        try:
            found = os.stat(self._file)
        except OSError:
            return ()
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

    def _read(self) -> _File:
        return self._understand(self._content())

    def _content(self) -> bytes:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return b"{}"
        except OSError as error:
            raise self._unreadable(error) from None

    def _understand(self, content: bytes) -> _File:
        try:
            return decode_json(content, _File)
        except (UnicodeDecodeError, msgspec.MsgspecError) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> ConfigError:
        hint = "move it away and run `samuel trust` again"
        return ConfigError([Problem(f"cannot read what was agreed to: {error}", str(self._file), 0, hint)])

    def _changing(self) -> _Changing:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _Changing(self)


class _Changing:
    def __init__(self, store: TrustStore) -> None:
        self._store = store
        self._held = held(store._lock, wait=10, note="samuel trust")

    def __enter__(self) -> _File:
        self._held.__enter__()
        self._stored = self._store._read()
        return self._stored

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if kind is None:
                text = msgspec.json.format(msgspec.json.encode(self._stored), indent=1)
                atomic.write_bytes(self._store._file, text, 0o600)
        finally:
            self._held.__exit__(None, None, None)

"""Adds, removes and lists Samuel's entries in the files of clients."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import UsageError
from samuel.base.paths import User
from samuel.bridges import client_file
from samuel.bridges.client_file import ClientText
from samuel.bridges.client_version import can_fail_closed
from samuel.clients.entries.hook_command import ON_PATH, EmitCommand, installed_command
from samuel.clients.entries.hook_trust import BridgeEntry, Level
from samuel.clients.entries.layout import BrokenFile, EntryFile
from samuel.clients.table import LAYOUTS
from samuel.files import atomic
from samuel.files.lock import held
from samuel.files.regular import read_regular

LOCK_WAIT = 30.0


@dataclass(frozen=True)
class BridgeContext:
    """For whom, and in which project."""

    root: Path
    user: User
    environment: Mapping[str, str]
    system: Path = Path("/")
    """Below which the files of administrators are."""

    def base(self, client: str, level: Level) -> Path:
        """The directory that the client's files of this level are below."""
        if level == "project":
            return self.root
        home = LAYOUTS[client].home(self.environment, self.user.home)
        return home.resolve()  # the user's own directory may be a link

    def files(self, client: str, level: Level) -> Sequence[EntryFile]:
        layout = LAYOUTS[client]
        return layout.project if level == "project" else layout.user


class FileChange(NamedTuple):
    """What becomes of one file."""

    client: str
    level: Level
    base: Path
    entry_file: EntryFile
    before: ClientText | None
    after: str | None

    @property
    def file(self) -> Path:
        return self.base / self.entry_file.path

    @property
    def changes(self) -> bool:
        return self.after != (self.before.text if self.before else None)

    def diff(self) -> str:
        """The change as a unified diff."""
        name = self.entry_file.path if self.level == "project" else str(self.file).lstrip("/")
        old = self.before.text.splitlines(keepends=True) if self.before else []
        new = self.after.splitlines(keepends=True) if self.after is not None else []
        titles = (
            f"a/{name}" if self.before else "/dev/null",
            f"b/{name}" if self.after is not None else "/dev/null",
        )
        lines = difflib.unified_diff(old, new, *titles)
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )


def add(context: BridgeContext, clients: Sequence[str], level: Level, *, write: bool = True) -> list[FileChange]:
    """Add Samuel's entries to the files of the clients; idempotent. All are checked before one is written."""
    for client in clients:
        if not context.files(client, level):
            raise UsageError(
                f"`{client}` reads no hooks from a project",
                f"add it to your own file: `samuel bridge add --user {client}`",
            )
    return _change(context, clients, level, add=True, write=write)


def remove(
    context: BridgeContext, clients: Sequence[str], level: Level, *, write: bool = True
) -> list[FileChange]:
    """Remove Samuel's entries from the files of the clients: the exact inverse of `add`."""
    return _change(context, clients, level, add=False, write=write)


def entries(context: BridgeContext, client: str, level: Level) -> list[BridgeEntry]:
    """The client's files with Samuel's entries; ConfigError if one cannot be read."""
    base = context.base(client, level)
    listed = []
    for entry_file in context.files(client, level):
        before = _read(base, client, entry_file)
        if before is None:
            continue
        file = base / entry_file.path
        try:
            events = tuple(entry_file.format.events(before.text))
            # Which of the two forms is right depends on the version of the client, which is not asked here.
            forms = {
                closed: entry_file.format.added(before.text, _command(level, fails_closed=closed))
                for closed in (True, False)
                if events
            }
        except BrokenFile as error:
            raise _refused(file, error) from None
        if events:
            current = before.text in forms.values()
            closed = forms[True] == before.text or not current
            listed.append(BridgeEntry(client, level, file, events, current, closed))
    return listed


def _change(
    context: BridgeContext, clients: Sequence[str], level: Level, *, add: bool, write: bool
) -> list[FileChange]:
    if not write:
        return _planned(context, clients, level, add=add)
    context.user.state.mkdir(parents=True, exist_ok=True)
    # One lock for all files: what another `bridge` writes in between would be lost.
    with held(context.user.state / "bridges.lock", wait=LOCK_WAIT, note="samuel bridge"):
        changes = _planned(context, clients, level, add=add)
        for change in changes:
            if change.changes:
                client_file.check_writable(change.base, change.entry_file.path)
        for change in changes:
            if change.changes:
                _carry_out(change, context.user)
    return changes


def _planned(context: BridgeContext, clients: Sequence[str], level: Level, *, add: bool) -> list[FileChange]:
    changes = []
    for client in clients:
        base = context.base(client, level)
        command = _command(level, fails_closed=add and can_fail_closed(client, context.environment, context.root))
        for entry_file in context.files(client, level):
            before = _read(base, client, entry_file)
            try:
                after = _added(entry_file, before, command) if add else _removed(entry_file, before)
            except BrokenFile as error:
                raise _refused(base / entry_file.path, error) from None
            changes.append(FileChange(client, level, base, entry_file, before, after))
    return changes


def _read(base: Path, client: str, entry_file: EntryFile) -> ClientText | None:
    before = client_file.read(base, entry_file.path)
    if before and before.bom and not entry_file.format.byte_order_mark:
        what = f"{client} does not read a file that starts with a byte order mark"
        raise client_file.refusal(base / entry_file.path, what, line=1, hint="save it as UTF-8 without one")
    return before


def _added(entry_file: EntryFile, before: ClientText | None, command: EmitCommand) -> str:
    text = before.text if before else None
    after = entry_file.format.added(text, command)
    # The promise of this room, kept at run time, too: what `remove` leaves is what was there without Samuel.
    original = _removed(entry_file, before)
    if entry_file.format.removed(after) != original:
        raise BrokenFile("the entries could not be removed again exactly", hint="simplify the layout of its hooks")
    return after


def _removed(entry_file: EntryFile, before: ClientText | None) -> str | None:
    return entry_file.format.removed(before.text) if before else None


def _carry_out(change: FileChange, user: User) -> None:
    path, own_directories = change.entry_file.path, _made_directories(user)
    if change.after is None:
        client_file.delete(change.base, path, own_directories)
        directories = frozenset(directory for directory in own_directories if directory.is_dir())
    else:
        data = (change.before or ClientText("")).encoded(change.after)
        directories = own_directories.union(
            client_file.write(change.base, path, data, executable=change.entry_file.format.executable)
        )
    if directories != own_directories:
        atomic.write_text(_record(user), json.dumps(sorted(map(str, directories)), indent=1) + "\n")


def _command(level: Level, *, fails_closed: bool) -> EmitCommand:
    command = ON_PATH if level == "project" else installed_command()
    return command._replace(fails_closed=fails_closed)


def _refused(file: Path, error: BrokenFile) -> Exception:
    return client_file.refusal(file, error.what, line=error.line, hint=error.hint)


def _made_directories(user: User) -> frozenset[Path]:
    """The directories that `add` made, so that `remove` removes no empty one that was there before."""
    try:
        return frozenset(map(Path, decode_json(read_regular(_record(user)), list[str])))
    except (OSError, ValueError, msgspec.MsgspecError):  # without the record the directories stay, empty
        return frozenset()


def _record(user: User) -> Path:
    return user.state / "bridge-directories.json"

"""Which receipts an argument of `samuel verify` means: a file, a commit, or a range of commits."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from samuel.base.errors import UsageError
from samuel.base.printable import safe
from samuel.files.regular import read_regular
from samuel.git.git import Git, GitFailed
from samuel.receipts.statement import LARGEST, ReceiptBroken, as_statement, subject_of

_OBJECT_NAME = re.compile(r"[0-9a-f]{7,64}")


class VerifyTarget(NamedTuple):
    """A commit whose receipt is in its note, or a receipt that was given."""

    commit: str
    """"" for a receipt that names none."""
    receipt: dict[str, Any] | None = None


def targets_of(git: Git, name: str, directory: Path) -> list[VerifyTarget]:
    """Raises UsageError for an argument that is neither a file nor a commit, and ReceiptBroken."""
    file = directory / name
    if file.is_file():
        return _of_file(file)
    if ".." in name:
        return [VerifyTarget(commit) for commit in _commits(git, ["--reverse", "--topo-order", name])]
    return [VerifyTarget(commit) for commit in _commits(git, ["--max-count=1", name])]


def _of_file(file: Path) -> list[VerifyTarget]:
    try:
        text = read_regular(file)
    except OSError as error:
        raise UsageError(f"cannot read `{safe(file.name)}`: {error.strerror}", "check its rights") from None
    if len(text) > LARGEST:
        raise ReceiptBroken(f"`{safe(file.name)}` is too large for a receipt: {len(text)} bytes")
    try:
        value = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise ReceiptBroken(f"`{safe(file.name)}` is not JSON: {str(error)[:200]}") from None
    receipts = [as_statement(entry) for entry in (value if isinstance(value, list) else [value])]
    return [VerifyTarget(subject_of(receipt)[0], receipt) for receipt in receipts]


def _commits(git: Git, arguments: list[str]) -> list[str]:
    *_, name = arguments
    try:
        output = git.run("rev-list", *arguments[:-1], "--end-of-options", name, "--")
    except GitFailed:
        if _OBJECT_NAME.fullmatch(name):  # of a commit that this clone does not have
            return [name]
        raise UsageError(
            f"`{safe(name)}` is neither a file nor a commit of this repository",
            "give a receipt's file, a commit, or a range like `main..HEAD`",
        ) from None
    return output.decode().split()

"""Bug reports: written to a file for the user to read and paste into an issue, never sent anywhere."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
import traceback
from collections.abc import Sequence

from samuel import paths
from samuel.errors import SamuelError
from samuel.files import atomic
from samuel.version import __version__


class Bug(SamuelError):
    exit_code = 3


def report(arguments: Sequence[str], error: Exception) -> Bug:
    """Write the report; returns the error that names its file."""
    text = _text(arguments, error)
    try:
        directory = paths.User.from_environment().state / "reports"
        file = directory / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.txt"
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(file, text.encode(errors="backslashreplace"), 0o600)
        hint = f"the report is in `{file}`; read it, then paste it into an issue"
    except (OSError, SamuelError):
        hint = f"paste this into an issue:\n\n{text}"
    return Bug(f"this is a bug in Samuel: {type(error).__name__}: {error}", hint)


def _text(arguments: Sequence[str], error: Exception) -> str:
    return (
        f"samuel    {__version__}\n"
        f"python    {platform.python_version()} ({sys.executable})\n"
        f"platform  {platform.platform()}\n"
        f"command   {shlex.join(['samuel', *arguments])}\n\n"
        f"{''.join(traceback.format_exception(error))}"
    )

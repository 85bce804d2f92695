"""The server of one agent process of a run: it ends with the loop that started it.

The loop holds the other end of its stdin and never writes, so that even a loop that was killed is noticed: the
kernel closes the pipe. The loop's side is `bridges/process/run_server.py`.

A client may start its hooks in any directory and with variables changed or left out. The server answers as the
launcher (`bridges/process/launcher.py`) would, which enters the project and sets the variables of the run.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

from samuel.app import App
from samuel.base.errors import SamuelError, UsageError
from samuel.emit.serve.listen import listening
from samuel.emit.serve.server import Server


def serve_run(root: Path, path: str, installation: str) -> None:
    """Answer at the socket `path`, in a directory of its own, for as long as the loop lives."""
    if not path or not installation:
        raise UsageError("the server of a run is started by the loop alone", "run `samuel serve`")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))  # until the server handles it
    try:
        _open_once(root)
        with listening(path) as listener:
            try:
                server = Server(listener, path, root, installation, idle=None, of_run=True)
                threading.Thread(target=_end_with_loop, daemon=True).start()
                os.chdir("/")  # so that this process keeps no file system from being unmounted
                server.serve()
            finally:
                with suppress(OSError):  # it is ours; a server that was ended before it answers leaves it
                    os.unlink(path)
    finally:
        # Where the loop was killed. Never all of a directory that a command line names.
        with suppress(OSError):
            os.unlink(f"{path}.lock")
        with suppress(OSError):
            os.rmdir(os.path.dirname(path))


def _open_once(root: Path) -> None:
    """Import and index what the first call needs: until we listen, calls are answered without waiting for us."""
    with suppress(SamuelError), App(root, search=False) as app:
        app.tool_hooks_pin  # noqa: B018  resolves the chains of tool calls


def _end_with_loop() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)

"""Makes a container, looks at it before anything in it runs, and starts it. A program of its own: see `engine`.

What an engine that has no daemon leaves running for a container (its monitor, and below it everything inside)
becomes a child of this process. So it is one process tree, which ends as one, and the rest of Samuel does not
take it for a stray.

An engine looks up the paths that it mounts itself, and follows links. Between the moment a path was checked
and the moment it is mounted it can have become a link to anywhere; so what was really mounted is compared with
what was meant. Nothing in the container runs before that.

Reads one JSON argument, writes JSON lines to the descriptor named in it, if any. Standard library only: it is run
without any other path.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_LONGEST = 4000  # characters of the engine's words
_CLEAN_UP = 2.0  # seconds that the monitor has for removing the container
_UNKNOWN = 255


def main() -> int:
    request: dict[str, Any] = json.loads(sys.argv[1])
    status: int = request["status"]

    def tell(what: str, words: str = "") -> None:
        if status >= 0:
            os.write(status, json.dumps([what, words[-_LONGEST:]]).encode() + b"\n")

    _keep_orphans()
    for step in request["steps"]:
        if why := _quietly(step):
            tell("not_started", why)
            return 1
    # What this command has as stdin, stdout and stderr the program inside will have, without a copy in between.
    # It writes the container's name there first.
    if request["direct"] and subprocess.call(request["direct"]) != 0:
        tell("not_started")
        return 1
    if request["pid_file"] and (why := _differs(request["pid_file"], request["places"])):
        tell("refused", why)
        _kill(request["pid_file"], request["monitor_file"])
        return 1
    tell("started")
    if not request["direct"]:
        returncode = subprocess.call(request["start"])
        monitored = _end_of(request["monitor_file"], _CLEAN_UP)
    elif why := _quietly(request["start"]):
        tell("not_started", why)
        _kill(request["pid_file"], request["monitor_file"])
        return 1
    else:
        returncode = monitored = _end_of(request["monitor_file"], math.inf)
    if monitored != _UNKNOWN:  # it removes the container before it ends
        tell("gone")
    _reap()
    return returncode if returncode >= 0 else 128 - returncode


def _quietly(command: list[str]) -> str:
    """Why it failed; "" if it did not."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode == 0:
        return ""
    return done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"


def _kill(*pid_files: str) -> None:
    """Kill a container that was made and will not be started: it holds our pipes, and their reader would wait."""
    for pid_file in pid_files:
        with suppress(OSError, ValueError), open(pid_file) as file:
            os.kill(int(file.read()), signal.SIGKILL)


def _end_of(monitor_file: str, patience: float) -> int:
    """Wait for the container's monitor, which ends with the exit code of what it watched."""
    until = time.monotonic() + patience
    try:
        with open(monitor_file) as file:
            monitor = int(file.read())
        while True:
            pid, status = os.waitpid(monitor, 0 if patience == math.inf else os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > until:
                return _UNKNOWN
            time.sleep(0.002)
    except (OSError, ValueError):  # none was started, or it is none of ours
        return _UNKNOWN


def _reap() -> None:
    """What has ended. What has not may be the engine's, for all of its containers."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _keep_orphans() -> None:
    try:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):  # not Linux: the engine runs its containers in a virtual machine
        pass


def _differs(pid_file: str, places: list[tuple[str, int, int]]) -> str:
    """Why what is mounted is not what was meant; "" if it is."""
    try:
        with open(pid_file) as file:
            root = os.open(f"/proc/{int(file.read())}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return f"the container cannot be inspected: {error}"
    for path, device, inode in places:
        try:
            there = _look(root, path)
        except OSError as error:
            return f"`{path}` cannot be looked at in the container: {error.strerror}"
        if (there.st_dev, there.st_ino) != (device, inode):
            return f"`{path}` was replaced while the container was made"
    return ""


def _look(root: int, path: str) -> os.stat_result:
    """No component of it may be a link: an absolute one would lead back out to us."""
    directory = os.dup(root)
    try:
        for name in path.strip("/").split("/"):
            # Of a link this opens the link itself, which is not a directory, so the walk fails.
            inner = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
            os.close(directory)
            directory = inner
        return os.fstat(directory)
    finally:
        os.close(directory)


if __name__ == "__main__":
    sys.exit(main())

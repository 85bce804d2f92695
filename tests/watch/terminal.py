"""A real terminal: a shell in tmux, with keys, resizing, and what is on the screen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

SAMUEL = f"{sys.executable} -P -m samuel"
PATIENCE = 120.0  # seconds


class Terminal:
    def __init__(
        self, directory: Path, env: Mapping[str, str], cwd: Path, width: int = 80, height: int = 24
    ) -> None:
        self._socket = directory / "tmux"
        self._env = {**env, "TERM": "xterm-256color", "SHELL": "/bin/sh"}
        self._tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(cwd), "exec sh"
        )
        self._tmux("set-option", "-g", "remain-on-exit", "on")
        self.run("PS1='$ '")

    def close(self) -> None:
        self._tmux("kill-server")

    def run(self, command: str) -> None:
        """Type a command and Enter."""
        self._tmux("send-keys", "-l", command)
        self.press("Enter")

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    @property
    def coloured_screen(self) -> str:
        """The screen with the sequences that draw it."""
        return self._tmux("capture-pane", "-p", "-e")

    @property
    def modes(self) -> dict[str, str]:
        """What a program can leave behind: the other screen, the mouse, a hidden cursor, ..."""
        names = ("alternate_on", "mouse_any_flag", "cursor_flag", "wrap_flag", "keypad_flag", "insert_flag")
        values = self._tmux("display-message", "-p", " ".join(f"#{{{name}}}" for name in names)).split()
        return dict(zip(names, values, strict=True))

    @property
    def program(self) -> int:
        """The process that the shell has started."""
        (child,) = children(int(self._tmux("display-message", "-p", "#{pane_pid}")))
        return child

    def stty(self) -> str:
        """The modes of the terminal as a program of the shell has them, without its size."""
        mark = f"mark{time.monotonic_ns()}"
        self.run(f"clear; stty -a | tail -n +2; echo {mark}'!'")
        return self.until(f"{mark}!").partition(mark)[0]

    def until(self, text: str | Callable[[str], bool], without: str = "") -> str:
        """The screen as soon as this text is on it, or this is true of it, and `without` is not on it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            screen = self.screen
            is_there = text in screen if isinstance(text, str) else text(screen)
            if is_there and not (without and without in screen):
                return screen
            assert time.monotonic() < deadline, f"{text}\n{screen}"
            time.sleep(0.05)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), *arguments]
        done = subprocess.run(command, env=self._env, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout


def children(pid: int) -> list[int]:
    """The processes that this one has started, as the kernel lists them."""
    names: set[int] = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        names.update(map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split()))
    return sorted(names)

"""What agents' sandboxes and plugins' walls have in common when they are made of bubblewrap."""

from __future__ import annotations

import os

from samuel.process import environment, interpreter

INSTALL = "apt install bubblewrap, dnf install bubblewrap; it exists for Linux only"

# The first process of a pid namespace takes all others along when it ends.
UNSHARE = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")

# Root keeps what it takes to work on other users' files, and loses what it takes to change mounts.
_ROOT_CAPABILITIES = {"CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_FOWNER": 3}


def find_program(path: str) -> str:
    """The absolute path of bubblewrap on this PATH, or ""."""
    return interpreter.look_up("bwrap", path or environment.DEFAULT_PATH)


def read_only_proc() -> tuple[str, ...]:
    """The words that keep root from writing to the kernel: one of these files names a program that it runs."""
    files = ("/proc/sys", "/proc/sysrq-trigger") if os.geteuid() == 0 else ()  # others may not write them anyway
    return tuple(word for file in files for word in ("--ro-bind-try", file, file))


def drop_capabilities() -> tuple[str, ...]:
    names = tuple(_ROOT_CAPABILITIES) if os.geteuid() == 0 else ()
    return ("--cap-drop", "ALL", *(word for name in names for word in ("--cap-add", name)))


def capability_bits() -> int:
    """The capabilities that `drop_capabilities` leaves, as the kernel writes them."""
    return sum(1 << number for number in _ROOT_CAPABILITIES.values()) if os.geteuid() == 0 else 0


def resolver_file() -> str:
    """The file that says where the names of other machines are looked up: often a link into /run."""
    return os.path.realpath("/etc/resolv.conf")

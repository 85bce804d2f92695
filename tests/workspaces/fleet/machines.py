"""Machines for tests: an sshd of the test's own on loopback, and for each machine a home directory of its own.

`ssh m1` reaches the machine `m1`, because the `ssh` that is first on PATH reads a configuration of the test. Which
home a connection gets is decided by the key that it uses.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from samuel.process import procfs

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
KEYGEN = shutil.which("ssh-keygen")


def require_sshd() -> None:
    if SSHD is None or KEYGEN is None or shutil.which("ssh") is None:
        why = "sshd and ssh are not installed (openssh-server, openssh-client)"
        if os.environ.get("CI"):
            pytest.fail(f"CI must test this: {why}")
        pytest.skip(f"NOT TESTED: {why}")


class SshMachines:
    """An sshd and the machines behind it."""

    def __init__(self, directory: Path, programs: Path, names: tuple[str, ...] = ("m1", "m2", "m3")) -> None:
        self.directory = directory
        self.names = names
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._programs = programs
        self.homes = directory / "homes"
        directory.mkdir(parents=True, mode=0o700)
        for name in ("host", *names):
            _keygen(directory / f"key-{name}")
        self._write_configuration()
        self.bin = directory / "bin"
        self.bin.mkdir()
        ssh = self.bin / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {directory}/config "$@"\n')
        ssh.chmod(0o755)

    def use(self, homes: Path) -> None:
        """Let the machines have new homes, below this directory."""
        self.homes = homes
        for name in self.names:
            self._make_home(name)

    def home(self, name: str) -> Path:
        return self.homes / name

    def environment(self, name: str) -> dict[str, str]:
        home = self.home(name)
        return {
            "PATH": f"{home}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "LANG": "C.UTF-8",
        }

    def install(self, *names: str) -> None:
        """Let machines have the installed program: one whose processes can be seen and killed as they are."""
        for name in names:
            program = self.home(name) / "bin" / "samuel"
            program.unlink()
            program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m samuel "$@"\n')
            program.chmod(0o755)

    def set_variable(self, name: str, variable: str, value: str) -> None:
        """Give a machine one more variable: what its owner would write to ~/.ssh/environment."""
        with (self.home(name) / "variables").open("a") as file:
            file.write(f"export {variable}={shlex.quote(value)}\n")

    def _make_home(self, name: str) -> None:
        home = self.home(name)
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "samuel").symlink_to(self._programs / "samuel")
        (home / ".gitconfig").write_text("[user]\n\tname = A Machine\n\temail = machine@example.org\n")
        (home / "variables").touch()
        exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in self.environment(name).items())
        shell = self.directory / f"shell-{name}"
        # What the machine's login would set, then the command as sshd got it.
        shell.write_text(
            f'#!/bin/sh\n{exports}. {home}/variables\ncd {home}\nexec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n'
        )
        shell.chmod(0o755)

    def _write_configuration(self) -> None:
        directory = self.directory
        keys = []
        for name in self.names:
            public = (directory / f"key-{name}.pub").read_text().strip()
            keys.append(f'restrict,command="{directory}/shell-{name}" {public}\n')
        (directory / "authorized_keys").write_text("".join(keys))
        (directory / "authorized_keys").chmod(0o600)
        (directory / "sshd_config").write_text(
            f"Port {self._port}\nListenAddress 127.0.0.1\nHostKey {directory}/key-host\n"
            f"AuthorizedKeysFile {directory}/authorized_keys\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\n"
            f"PidFile {directory}/pid\nLogLevel ERROR\nMaxStartups 100\nMaxSessions 100\n"
        )
        kind, key, *_ = (directory / "key-host.pub").read_text().split()
        (directory / "known_hosts").write_text(f"[127.0.0.1]:{self._port} {kind} {key}\n")
        blocks = [
            f"Host {name}\n  HostName 127.0.0.1\n  Port {self._port}\n  IdentityFile {directory}/key-{name}\n"
            f"  IdentitiesOnly yes\n  UserKnownHostsFile {directory}/known_hosts\n  StrictHostKeyChecking yes\n"
            for name in self.names
        ]
        (directory / "config").write_text("".join(blocks))

    def start(self) -> None:
        assert SSHD is not None
        os.makedirs("/run/sshd", exist_ok=True) if os.geteuid() == 0 else None
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", str(self.directory / "sshd_config")], stdout=log, stderr=log
            )
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), 1).close()
                return
            except OSError:
                assert self._process.poll() is None, (self.directory / "log").read_text()
                assert time.monotonic() < until
                time.sleep(0.02)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    # What is running there

    def processes(self, name: str) -> list[int]:
        """The processes of a machine: they have its home."""
        mark, pids = f"\0HOME={self.home(name)}\0".encode(), []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and mark in b"\0" + Path("/proc", entry, "environ").read_bytes():
                    pids.append(int(entry))
            except OSError:
                continue
        return [pid for pid in pids if pid != os.getpid()]

    def attempts(self, name: str) -> list[int]:
        """The processes of `samuel attempt` on a machine: the guard and the one that it guards."""
        return [pid for pid in self.processes(name) if b"attempt" in _command(pid).split(b"\0")]

    def sessions(self, name: str) -> list[int]:
        """The processes of sshd that hold the connections of a machine."""
        sshd = self._process.pid if self._process is not None else 0
        above = {parent for pid in self.processes(name) for parent in procfs.ancestors(pid)}
        return [pid for pid in procfs.with_descendants([sshd]) if pid in above and pid != sshd] if sshd else []

    def signal(self, name: str, number: signal.Signals) -> None:
        for pid in self.processes(name):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


@contextmanager
def ssh_machines(directory: Path, programs: Path) -> Iterator[SshMachines]:
    require_sshd()
    machines = SshMachines(directory, programs)
    machines.start()
    try:
        yield machines
    finally:
        machines.stop()


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _keygen(path: Path) -> None:
    assert KEYGEN is not None
    subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

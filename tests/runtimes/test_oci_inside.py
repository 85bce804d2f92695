"""What a plugin that is an image finds in its container: what it was granted, and nothing else of the machine."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import socket
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from samuel.confine.containers import engine
from samuel.hooks.capability import Capabilities
from samuel.hooks.handler import Outcome
from samuel.runtimes.oci import OciRuntime

from .contract import event, setting
from .images import MEMORY, containers, do, done, handler, package

Shell = Callable[..., tuple[int, str]]


@pytest.fixture
def shell(runtime: OciRuntime, root: Path, hook_image: str, serve: bool) -> Shell:
    """A shell script in the plugin's container: its exit code and what it said."""

    def run(script: str, **granted: Any) -> tuple[int, str]:
        return done(do(runtime, package(root, hook_image, Capabilities(**granted), serve=serve), script))

    return run


class TestWhatIsInside:
    def test_a_value_is_computed_from_the_payload(
        self, runtime: OciRuntime, root: Path, hook_image: str, serve: bool
    ) -> None:
        for _ in range(2):
            text = uuid.uuid4().hex
            payload = event(task={"id": "1", "text": text})
            reply = runtime.call(handler("digest", package(root, hook_image, serve=serve)), payload, 60.0)
            assert reply.result == {"digest": hashlib.sha256(text.encode()).hexdigest()}

    @pytest.mark.slow
    def test_nothing_can_be_written_but_tmp_and_the_plugin_s_own_data(self, shell: Shell, root: Path) -> None:
        data = root / ".samuel" / "run" / "plugins" / "org@plugin"
        script = f"""
            for place in / /bin /etc /run /var/tmp {root.parent} {root}/.samuel/plugins/org@plugin; do
                (echo x > $place/new) 2>/dev/null && echo WRITTEN $place
            done
            echo x > /tmp/new && echo kept > {data}/kept && pwd
        """
        code, output = shell(script)
        output = output.replace(f"WRITTEN {root.parent}\n", "")  # below /tmp, which is the container's own
        assert (code, output) == (0, f"{root}")
        assert (data / "kept").read_text() == "kept\n"
        assert (data / "kept").stat().st_uid == os.geteuid()
        assert not (root.parent / "new").exists()
        assert shell(f"cat {data}/kept")[1] == "kept"

    @pytest.mark.slow
    def test_no_rights_and_none_to_get(self, shell: Shell) -> None:
        _, output = shell("grep -E '^(Cap(Eff|Prm|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status")
        values = dict(line.split(":\t") for line in output.splitlines())
        assert {values[name] for name in ("CapEff", "CapPrm", "CapBnd")} == {"0" * 16}
        assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")

    @pytest.mark.slow
    def test_no_network_unless_it_is_granted(self, shell: Shell) -> None:
        with socket.create_server(("", 0)) as server:
            port = server.getsockname()[1]
            ours = {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
            tries = "".join(
                f"nc -w 2 {host} {port} </dev/null && echo REACHED {host}\n" for host in ("127.0.0.1", *ours)
            )
            code, output = shell(f"{tries}\ncut -d : -f 1 -s /proc/net/dev")
            assert "REACHED" not in output
            assert output.split()[-1] == "lo"
            assert len([word for word in output.split() if word in ("lo", "eth0")]) == 1
        assert code == 0
        _, output = shell("cut -d : -f 1 -s /proc/net/dev", network=True)
        assert len(output.split()) > 1

    @pytest.mark.slow
    def test_a_container_sees_only_granted_variables(self, shell: Shell) -> None:
        _, output = shell("env", env=("GRANTED", "PATH", "HOME", "SAMUEL_TRUST", "ABSENT"))
        values = dict(line.partition("=")[::2] for line in output.splitlines())
        assert values["GRANTED"] == "the value"
        assert values["HOME"] == "/tmp"
        assert not {"SECRET", "http_proxy", "SAMUEL_TRUST", "ABSENT"} & set(values)
        assert "/of-the-host" not in values["PATH"]
        assert "GRANTED" not in shell("env")[1]

    @pytest.mark.slow
    def test_no_more_memory_than_the_limit(
        self, runtime: OciRuntime, root: Path, hook_image: str, serve: bool
    ) -> None:
        plugin = package(root, hook_image, serve=serve)
        bomb = "x=0123456789abcdef; while :; do x=$x$x; done"
        reply = do(runtime, plugin, bomb)
        # The kernel ends the process that asked; what the script makes of it is its own affair.
        assert reply.outcome is Outcome.CRASHED or done(reply)[0] != 0
        assert done(do(runtime, plugin, "echo fine")) == (0, "fine")

    @pytest.mark.slow
    def test_no_more_processes_than_the_limit(
        self, runtime: OciRuntime, root: Path, hook_image: str, serve: bool
    ) -> None:
        count = root / ".samuel" / "run" / "plugins" / "org@plugin" / "count"
        started = f"sleep 60 > /dev/null 2>&1 & n=$((n + 1)); echo $n > {count}"
        loop = f"n=0; while [ $n -lt {2 * engine.PIDS} ]; do {started}; done"
        do(runtime, package(root, hook_image, serve=serve), loop)  # what it makes of it is its own affair
        assert 0 < int(count.read_text()) < engine.PIDS


class TestTheProject:
    @pytest.mark.slow
    def test_is_not_there_without_a_grant(self, shell: Shell, root: Path) -> None:
        _, output = shell(
            f"cat {root}/src/a.py; ls -A {root}; echo evil > {root}/src/a.py; echo evil > {root}/new"
        )
        assert "mine" not in output
        assert output.splitlines()[1] == ".samuel"  # on the way to its own directory and its data
        assert (root / "src" / "a.py").read_text() == "mine\n"
        assert not (root / "new").exists()

    @pytest.mark.slow
    def test_can_be_read_where_that_is_granted(self, shell: Shell, root: Path) -> None:
        script = "cat src/a.py; cat docs/b.md; echo evil > docs/b.md; echo evil > docs/new; mv docs other"
        _, output = shell(script, read=("docs",))
        assert output.count("mine") == 1
        assert output.count("Read-only file system") >= 2
        _, output = shell(f"cd {root} && {script}", read=(".",))
        assert output.count("mine") == 2
        assert output.count("Read-only file system") >= 2
        assert sorted(os.listdir(root / "docs")) == ["b.md"]
        assert (root / "docs" / "b.md").read_text() == "mine\n"

    @pytest.mark.slow
    def test_can_be_written_where_that_is_granted(self, shell: Shell, root: Path) -> None:
        script = "echo one > docs/new; echo two > made/here/x; echo evil > src/a.py; cat docs/b.md"
        _, output = shell(script, write=("docs", "made/here/"))
        assert output.endswith("mine")
        assert (root / "docs" / "new").read_text() == "one\n"
        assert (root / "made" / "here" / "x").read_text() == "two\n"
        assert (root / "src" / "a.py").read_text() == "mine\n"
        assert (root / "docs" / "new").stat().st_uid == os.geteuid()

    @pytest.mark.slow
    def test_as_a_whole_is_writable_but_for_what_runs_later(self, shell: Shell, root: Path) -> None:
        protected = (".git/config", ".git/hooks/pre-commit", ".samuel/hooks/guard", "samuel.toml")
        before = {name: (root / name).read_bytes() for name in protected}
        script = f"""
            echo new > top && echo new > src/a.py && echo fine
            for f in {" ".join(protected)}; do echo evil > $f && echo WRITTEN $f; rm -f $f; done
            for d in .git .samuel samuel.toml; do mv $d moved && echo MOVED $d; done; :
        """
        _, output = shell(script, write=(".",))
        assert output.startswith("fine")
        assert "WRITTEN" not in output
        assert "MOVED" not in output
        assert {name: (root / name).read_bytes() for name in protected} == before
        assert (root / "top").read_text() == "new\n"

    @pytest.mark.parametrize("grant", ["read", "write"])
    def test_a_link_in_the_place_of_a_granted_path_is_refused(
        self, runtime: OciRuntime, root: Path, hook_image: str, serve: bool, grant: str, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        shutil.rmtree(root / "docs")
        (root / "docs").symlink_to(outside)
        plugin = package(root, hook_image, Capabilities(**{grant: ("docs",)}), serve=serve)  # type: ignore[arg-type]
        reply = do(runtime, plugin, "echo evil > docs/new")
        assert reply.outcome is Outcome.REFUSED
        assert "symbolic link" in reply.message
        assert os.listdir(outside) == []

    @pytest.mark.slow
    def test_a_link_swapped_in_before_it_is_mounted_leads_nowhere(
        self, root: Path, hook_image: str, tmp_path: Path, cache: Path, serve: bool
    ) -> None:
        """The engine follows links: this one finds one in the place that was looked at a moment ago."""
        outside = tmp_path / "outside"
        outside.mkdir()
        swap = f"cd {root} && mv docs aside && ln -s {outside} docs"
        (tmp_path / "podman").write_text(
            f'#!/bin/sh\ncase " $* " in *" init "*) {swap} ;; esac\nexec {shutil.which("podman")} "$@"\n'
        )
        (tmp_path / "podman").chmod(0o755)
        host = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        runtime = OciRuntime(setting(root, cache, host=host, memory=MEMORY))
        plugin = package(root, hook_image, Capabilities(write=("docs",)), serve=serve)
        reply = do(runtime, plugin, "echo evil > docs/new")
        assert reply.outcome is Outcome.REFUSED, reply
        assert reply.message == f"`{root}/docs` was replaced while the container was made"
        assert os.listdir(outside) == []
        assert containers(root) == []

    @pytest.mark.slow
    def test_nor_does_one_that_comes_and_goes(
        self, runtime: OciRuntime, root: Path, hook_image: str, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (root / "other").symlink_to(outside)
        plugin = package(root, hook_image, Capabilities(write=("docs",)))
        over = threading.Event()

        def swap() -> None:
            exchange = ctypes.CDLL(None, use_errno=True).renameat2
            while not over.wait(0.003):
                assert exchange(-100, bytes(root / "docs"), -100, bytes(root / "other"), 2) == 0

        with ThreadPoolExecutor(1) as threads:
            swapping = threads.submit(swap)
            replies = [do(runtime, plugin, "echo evil > docs/new") for _ in range(8)]
            over.set()
            swapping.result()
        assert {reply.outcome for reply in replies} <= {Outcome.OK, Outcome.REFUSED}, replies
        assert os.listdir(outside) == []


def test_values_of_variables_are_on_no_command_line(root: Path, tmp_path: Path, cache: Path) -> None:
    """A stand-in for the engine writes down how it was called."""
    tried = '[ "$1" != run ] || { echo "$@" >&2; exit 127; }'
    (tmp_path / "docker").write_text(f'#!/bin/sh\necho "$@" "[$GRANTED]" >> {tmp_path}/calls\n{tried}\n')
    (tmp_path / "docker").chmod(0o755)
    host = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GRANTED": "the value", "SAMUEL_CONTAINER": "docker"}
    runtime = OciRuntime(setting(root, cache, host=host, memory=MEMORY))
    do(runtime, package(root, f"sha256:{'0' * 64}", Capabilities(env=("GRANTED",))), "x")
    created = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("create ")]
    assert len(created) == 1
    assert "--env=GRANTED" in created[0].split()
    assert created[0].endswith("[the value]")
    assert "the value" not in created[0].removesuffix("[the value]")

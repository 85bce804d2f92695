"""Sandboxes, for real: bubblewrap and containers on this machine.

Where the programs are not there the tests skip, and say so; with CI set that is a failure.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from samuel.base.decoding import msgpack_decoder
from samuel.base.errors import UsageError
from samuel.confine import sandbox as sandboxes
from samuel.confine.containers import probe
from samuel.confine.sandbox import Private, Workspace, mounts, spool
from samuel.confine.seccomp import ARCHITECTURES
from samuel.files import file_cache
from samuel.process import environment, spawn
from samuel.process.reason import NotRunnable

PROTECTED = (".git/config", ".git/hooks/pre-commit", ".git/info/exclude", "samuel.toml", ".samuel/hooks/guard")


@dataclass(frozen=True)
class Box:
    kind: str
    image: str | None = None
    network: bool = True
    volumes: list[str] = field(default_factory=list)


def cannot(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    for name in PROTECTED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / "samuel.toml").write_text("# mine\n")
    (root / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    (root / ".samuel" / "hooks" / "guard").write_text("#!/bin/sh\n")
    (root / ".samuel" / "run").mkdir()
    return root


@pytest.fixture
def place(project: Path, home: Path, tmp_path: Path) -> Workspace:
    host = {**os.environ, "HOME": str(home), "SECRET_OF_THE_HOST": "x"}
    return Workspace(project, project / ".samuel" / "run", host, tmp_path / "cache")


@pytest.fixture
def home(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Not below /tmp: that is hidden in a sandbox, and what cannot be seen proves nothing about writing."""
    cache = Path(request.config.cache.mkdir("confine"))  # type: ignore[union-attr]
    if cache.is_relative_to("/tmp"):  # a clone below /tmp
        cache = Path.home() / ".cache" / "samuel-tests"
        cache.mkdir(parents=True, exist_ok=True)
    directory = cache / uuid.uuid4().hex
    directory.mkdir()
    (directory / ".bashrc").write_text("# mine\n")
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def image(busybox_image: str) -> str:
    return busybox_image


@functools.cache
def works(kind: str, image: str | None, scratch: Path) -> str:
    """Asked once a session: a container that does nothing takes half a second."""
    return sandboxes.missing(Box(kind, image), Workspace(scratch, scratch, os.environ))


@pytest.fixture(params=["bwrap", "oci"])
def wall(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Box]:
    """A sandbox of each kind, where it works."""
    image = request.getfixturevalue("image") if request.param == "oci" else None
    if why := works(request.param, image, tmp_path_factory.getbasetemp()):
        cannot(why)
    return lambda **options: Box(request.param, image, **options)


def run(script: str, sandbox: Box, place: Workspace, timeout: float = 30.0, **env: str) -> spawn.Finished:
    """A shell script in the sandbox, with the environment that an agent would get."""
    full = environment.clean(env, base=place.host)
    with sandboxes.confined(["/bin/sh", "-c", script], sandbox, place, full) as command:
        return spawn.run(command.argv, cwd="/", env=command.env, timeout=timeout, pass_fds=command.pass_fds)


class TestAnySandbox:
    def test_the_project_and_the_run_s_state_can_be_written(
        self, wall: Callable[..., Box], place: Workspace
    ) -> None:
        done = run("pwd; echo new > src.py; echo claim > .samuel/run/claim; touch .git/index2", wall(), place)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.decode().strip() == str(place.root)
        assert (place.root / "src.py").read_text() == "new\n"
        assert (place.state / "claim").read_text() == "claim\n"
        assert (place.root / "src.py").stat().st_uid == os.geteuid()

    def test_sandboxed_agent_cannot_write_what_runs_outside_later(
        self, wall: Callable[..., Box], place: Workspace
    ) -> None:
        names = (*PROTECTED, ".samuel/hooks/new", ".git/hooks/new", ".git/commondir")
        before = {name: content(place.root / name) for name in names}
        script = "for f; do echo evil > $f && echo WRITTEN $f; rm -f $f && ! [ -e $f ] && echo REMOVED $f; done; :"
        done = run(f"set -- {' '.join(names)}; {script}", wall(), place)
        assert done.stdout.decode().split() == ["REMOVED", ".samuel/hooks/new", "REMOVED", ".git/hooks/new"]
        assert done.stderr.count(b"Read-only file system") >= len(names)
        assert {name: content(place.root / name) for name in names} == before

    def test_directory_is_readable_for_the_program_that_is_given_it_and_for_no_other(
        self, wall: Callable[..., Box], place: Workspace, home: Path
    ) -> None:
        sealed = home / "acceptance"
        sealed.mkdir()
        (sealed / "run").write_text("the secret\n")
        script = f"cat {sealed}/run; echo mine > {sealed}/run || echo refused"
        hidden = replace(place, private=(Private(str(sealed), ()),))
        assert b"secret" not in run(script, wall(), hidden).stdout
        finished = run(script, wall(), replace(place, readable=(str(sealed),)))
        assert finished.stdout == b"the secret\nrefused\n"
        assert (sealed / "run").read_text() == "the secret\n"

    def test_sandboxed_agent_cannot_replace_protected_files_by_moving_a_directory(
        self, wall: Callable[..., Box], place: Workspace
    ) -> None:
        done = run("for d in .git .samuel samuel.toml; do mv $d moved && echo MOVED $d; done; :", wall(), place)
        assert done.stdout == b""
        assert done.stderr.count(b"busy") == 3
        assert (place.root / ".git" / "hooks" / "pre-commit").exists()

    def test_sandboxed_agent_cannot_write_outside_the_project(
        self, wall: Callable[..., Box], place: Workspace, home: Path
    ) -> None:
        outside = place.root.parent / "outside"
        outside.write_text("mine")
        script = f"cat {outside}; echo evil >> {home}/.bashrc; echo evil > {home}/.new; echo evil > {outside}"
        assert run(script, wall(), place).stdout == b""
        assert (home / ".bashrc").read_text() == "# mine\n"
        assert not (home / ".new").exists()
        assert outside.read_text() == "mine"

    def test_root_in_a_sandbox_cannot_undo_the_mounts(self, wall: Callable[..., Box], place: Workspace) -> None:
        done = run(
            "echo x > /proc/sys/kernel/core_uses_pid; mount -o remount,rw,bind .git/hooks; umount .git/hooks;"
            "echo evil > .git/hooks/new || echo kept",
            wall(),
            place,
        )
        assert b"kept" in done.stdout
        assert Path("/proc/sys/kernel/core_uses_pid").read_text() != "x"

    def test_sandbox_can_switch_the_network_off(self, wall: Callable[..., Box], place: Workspace) -> None:
        done = run("cat /proc/net/dev", wall(network=False), place)
        interfaces = [line.split(":")[0].strip() for line in done.stdout.decode().splitlines()[2:]]
        assert interfaces == ["lo"]

    def test_everything_in_a_sandbox_ends_at_the_deadline(
        self, wall: Callable[..., Box], place: Workspace, patiently: Any
    ) -> None:
        mark = uuid.uuid4().hex
        script = f"(trap '' TERM; while :; do : {mark}; sleep 0.1; done) & echo up; wait"
        done = patiently(lambda seconds: run(script, wall(), place, timeout=seconds), lambda done: done.stdout)
        assert (done.ended, done.stdout) == ("timed_out", b"up\n")
        commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if readable(path)]
        assert not [command for command in commands if mark.encode() in command]
        assert not containers(place)

    def test_a_volume_is_mounted_as_it_says(self, wall: Callable[..., Box], place: Workspace, home: Path) -> None:
        (home / "rw").mkdir()
        (home / "ro").mkdir()
        sandbox = wall(volumes=[f"~/rw:{home}/rw", f"{home}/ro:{home}/ro:ro"])
        run(f"echo a > {home}/rw/a; echo a > {home}/ro/a", sandbox, place)
        assert [path.name for path in home.glob("*/a")] == ["a"]
        assert (home / "rw" / "a").exists()

    def test_git_looks_the_same_afterwards(
        self, wall: Callable[..., Box], place: Workspace, git: Callable[..., str]
    ) -> None:
        run(":", wall(), place)
        assert not (place.root / ".git" / "commondir").exists()
        git(place.root, "commit", "-q", "--no-verify", "--allow-empty", "-m", "x")

    def test_a_link_in_a_protected_place_is_refused(self, wall: Callable[..., Box], place: Workspace) -> None:
        shutil.rmtree(place.root / ".git" / "hooks")
        (place.root / ".git" / "hooks").symlink_to("../githooks")
        (place.root / "githooks").mkdir()
        with pytest.raises(NotRunnable, match=r"hooks` is a symbolic link"):
            run(":", wall(), place)


class TestBubblewrap:
    @pytest.fixture(autouse=True)
    def _only_where_it_works(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        if why := works("bwrap", None, tmp_path_factory.getbasetemp()):
            cannot(why)

    def test_the_machine_can_be_read_and_the_environment_is_as_given(self, place: Workspace, home: Path) -> None:
        done = run(f"cat {home}/.bashrc; env", Box("bwrap"), place, KEY="secret")
        assert done.stdout.startswith(b"# mine\n")
        assert b"\nKEY=secret\n" in done.stdout
        assert b"SECRET_OF_THE_HOST" not in done.stdout

    def test_mounts_that_come_and_go_below_run_are_not_part_of_the_sandbox(self, place: Workspace) -> None:
        """Container engines mount there all the time; a mount that vanishes while it is copied is an error."""
        with sandboxes.confined(["/bin/true"], Box("bwrap"), place, {}) as command:
            words = command.argv
        sources = [words[at + 1] for at, word in enumerate(words) if word.startswith(("--bind", "--ro-bind"))]
        assert "/usr" in sources
        assert not {"/", "/run"} & set(sources)

    def test_nothing_can_be_made_at_the_root_of_the_machine(self, place: Workspace) -> None:
        done = run("mkdir /new || touch /new; ls -d /usr /etc", Box("bwrap"), place)
        assert done.stdout.decode().split() == ["/etc", "/usr"], done.stderr
        assert b"Read-only file system" in done.stderr

    def test_other_programs_sockets_are_out_of_reach(self, place: Workspace) -> None:
        done = run("ls /run /var/run; ls -A /tmp; touch /tmp/new && echo private", Box("bwrap"), place)
        assert b"docker.sock" not in done.stdout
        assert done.stdout.decode().split()[-1] == "private"
        assert not Path("/tmp/new").exists()

    @pytest.mark.parametrize("hidden", ["/tmp", "/var/tmp"])
    def test_home_in_a_hidden_directory_can_be_read_and_not_written(self, place: Workspace, hidden: str) -> None:
        """`samuel run done` needs a home directory that exists, and the user's own guards are in it."""
        with tempfile.TemporaryDirectory(dir=hidden) as directory:
            home = Path(directory, "home")
            home.mkdir()
            (home / ".bashrc").write_text("# mine\n")
            (Path(directory) / "beside").touch()
            script = f"cat ~/.bashrc; touch ~/new; ls {directory}"
            place = replace(place, host={**place.host, "HOME": str(home)})
            assert run(script, Box("bwrap"), place).stdout == b"# mine\nhome\n"
            assert sorted(path.name for path in home.iterdir()) == [".bashrc"]

    @pytest.mark.skipif(
        platform.machine() not in ARCHITECTURES, reason="the numbers of this machine are not known"
    )
    def test_the_keyring_is_not_the_agent_s_and_namespaces_are(self, place: Workspace) -> None:
        """A browser or the agent's own sandbox needs namespaces; no program needs the user's keys."""
        calls = ARCHITECTURES[platform.machine()].calls
        numbers = [calls[name] for name in ("add_key", "request_key", "keyctl", "io_uring_setup", "userfaultfd")]
        code = (
            "import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
            f"for number in {numbers}: print(libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno())\n"
            "libc.socket(40, 1, 0); print(ctypes.get_errno())\n"
            "print(libc.unshare(0x10000000))"
        )
        place = replace(place, visible=(sys.prefix, sys.base_prefix))
        done = run(f"{sys.executable} -I -S -c '{code}'", Box("bwrap"), place)
        assert done.stdout.decode().splitlines() == [*["-1 1"] * 5, "1", "0"], done.stderr

    def test_private_directory_is_empty_but_for_its_visible_files(self, place: Workspace, home: Path) -> None:
        (home / ".codex").mkdir()
        (home / ".codex" / "auth.json").write_text("key")
        (home / ".codex" / "history").write_text("long")
        private = sandboxes.Private(str(home / ".codex"), ("auth.json", "absent"))
        fresh = Workspace(place.root, place.state, place.host, private=(private,))
        script = "cd ~/.codex; ls -A; cat auth.json; echo evil > auth.json; echo new > session && cat session"
        done = run(script, Box("bwrap"), fresh)
        assert done.stdout == b"auth.json\nkeynew\n"
        assert sorted(path.name for path in (home / ".codex").iterdir()) == ["auth.json", "history"]
        assert (home / ".codex" / "auth.json").read_text() == "key"

    def test_the_network_is_there_unless_it_is_off(self, place: Workspace) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            connect = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)"
            script = f'{sys.executable} -ISc "{connect}"'
            # Our own Python may be below /tmp, in a clone there.
            visible_place = replace(place, visible=(sys.prefix, sys.base_prefix))
            assert run(script, Box("bwrap"), visible_place).stderr == b""
            assert b"ConnectionRefusedError" in run(script, Box("bwrap", network=False), visible_place).stderr

    def test_a_worktree_can_commit_and_not_touch_the_hooks(
        self, place: Workspace, git: Callable[..., str], tmp_path: Path
    ) -> None:
        git(place.root, "commit", "-q", "--no-verify", "--allow-empty", "-m", "first")
        git(place.root, "worktree", "add", "-q", str(tmp_path / "tree"))
        there = Workspace(tmp_path / "tree", tmp_path / "tree" / ".samuel" / "run", place.host)
        author = "-c user.name=a -c user.email=a@example.com"
        done = run(f"echo x > x; git add x && git {author} commit -q --no-verify -m second", Box("bwrap"), there)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "second" in git(tmp_path / "tree", "log", "--oneline")
        evil = f"echo evil > {place.root}/.git/hooks/new; echo evil > {place.root}/samuel.toml; mv .git moved"
        run(evil, Box("bwrap"), there)
        assert not (place.root / ".git" / "hooks" / "new").exists()
        assert (place.root / "samuel.toml").read_text() == "# mine\n"

    def test_a_git_file_that_points_elsewhere_opens_nothing(self, place: Workspace, home: Path) -> None:
        shutil.rmtree(place.root / ".git")
        (place.root / ".git").write_text(f"gitdir: {home}\n")
        run(f"echo evil > {home}/.bashrc; echo evil > .git", Box("bwrap"), place)
        assert (home / ".bashrc").read_text() == "# mine\n"
        assert "evil" not in (place.root / ".git").read_text()


class TestAContainer:
    @pytest.fixture(autouse=True)
    def _only_where_it_works(self, image: str, tmp_path_factory: pytest.TempPathFactory) -> None:
        if why := works("oci", image, tmp_path_factory.getbasetemp()):
            cannot(why)

    def test_values_are_not_on_the_command_line_and_this_machine_s_names_stay_out(
        self, image: str, place: Workspace
    ) -> None:
        env = {"KEY": "the secret", "LD_PRELOAD": "/evil.so", "PATH": "/host/bin", "SAMUEL_TASK_ID": "1"}
        with sandboxes.confined(["/bin/sh", "-c", "env"], Box("oci", image), place, env) as command:
            assert not [word for word in command.argv if "secret" in word]
            assert "LD_PRELOAD" not in command.env
            done = spawn.run(command.argv, cwd="/", env=command.env, timeout=300)
        lines = done.stdout.decode().splitlines()
        assert {"KEY=the secret", "SAMUEL_TASK_ID=1"} <= set(lines)
        assert not [line for line in lines if "/evil.so" in line or "/host/bin" in line]

    def test_samuel_commands_in_a_container_are_spooled_for_the_loop(self, image: str, place: Workspace) -> None:
        script = """
            samuel run done 1.10 --commit abc && samuel run skip 2 --reason "it's
two lines"
            for i in $(seq 20); do samuel run enqueue "task $i" & done; wait
            samuel run block 3 --reason last
            samuel run start; echo $?
        """
        done = run(script, Box("oci", image), place)
        assert (
            b"in a container only run done, run skip, run block, run ask, run dispute, run enqueue work"
            in done.stderr
        )
        assert done.stdout.decode().splitlines()[-1] == "2"
        calls = sandboxes.apply_spool(place.state / "spool")
        assert calls[:2] == [
            ["run", "done", "1.10", "--commit", "abc"],
            ["run", "skip", "2", "--reason", "it's\ntwo lines"],
        ]
        assert sorted(calls[2:22]) == sorted(["run", "enqueue", f"task {i}"] for i in range(1, 21))
        assert calls[22:] == [["run", "block", "3", "--reason", "last"]]
        assert sandboxes.apply_spool(place.state / "spool") == []

    def test_working_container_flags_are_found_once_and_cached(self, image: str, place: Workspace) -> None:
        assert place.cache is not None
        assert sandboxes.missing(Box("oci", image), place) == ""
        stored = file_cache.load(place.cache / probe.CACHE, msgpack_decoder(dict[str, probe.Flags])) or {}
        podman = shutil.which("podman") or ""
        assert list(stored.values()) == [probe.remembered_flags(podman, True, None)]

    @pytest.mark.slow
    def test_container_of_a_killed_run_ends_before_the_next_one_starts(self, image: str, place: Workspace) -> None:
        with sandboxes.confined(["/bin/sh", "-c", "sleep 60"], Box("oci", image), place, {}) as command:
            left = subprocess.Popen(command.argv, env=command.env, stdin=subprocess.DEVNULL)
            wait_until(lambda: bool(containers(place)))
            assert run("echo next", Box("oci", image), place).stdout == b"next\n"
        assert left.wait(300) != 0
        assert not containers(place)

    def test_missing_image_is_reported_with_the_command_that_pulls_it(self, place: Workspace) -> None:
        message = sandboxes.missing(Box("oci", "localhost/no-such-image"), place)
        assert "`podman pull localhost/no-such-image` gets it" in message


class TestWhatIsMissing:
    def test_host_sandbox_needs_no_program(self, place: Workspace) -> None:
        assert sandboxes.missing(Box("host"), place) == ""
        with sandboxes.confined(["a", "b"], Box("host"), place, {"A": "1"}) as command:
            assert command == (["a", "b"], {"A": "1"}, ())

    def test_unknown_sandbox_kind_is_an_error(self, place: Workspace) -> None:
        for ask in (lambda: sandboxes.missing(Box("chroot"), place), lambda: run(":", Box("chroot"), place)):
            with pytest.raises(UsageError, match=r"`chroot` is not a sandbox(.|\n)*host, bwrap, oci"):
                ask()

    @pytest.mark.parametrize(
        ("kind", "host", "message"),
        [
            ("bwrap", {}, "apt install bubblewrap"),
            ("oci", {}, "needs `podman` or `docker`"),
            ("oci", {"SAMUEL_CONTAINER": "docker"}, "needs `docker` (SAMUEL_CONTAINER says so)"),
        ],
    )
    def test_missing_sandbox_program_is_reported(
        self, place: Workspace, kind: str, host: dict[str, str], message: str
    ) -> None:
        bare = Workspace(place.root, place.state, {"PATH": "/nowhere", **host})
        assert message in sandboxes.missing(Box(kind, "image"), bare)

    def test_failing_sandbox_program_is_quoted(self, place: Workspace, tmp_path: Path) -> None:
        for name in ("bwrap", "podman"):
            (tmp_path / name).write_text("#!/bin/sh\necho No permissions to create a new namespace >&2\nexit 1\n")
            (tmp_path / name).chmod(0o755)
        broken = Workspace(place.root, place.state, {"PATH": f"{tmp_path}:/usr/bin:/bin"})
        for box in (Box("bwrap"), Box("oci", "image")):
            assert "No permissions to create a new namespace" in sandboxes.missing(box, broken)


class TestTheProbe:
    @pytest.fixture(autouse=True)
    def forgetful(self) -> Iterator[None]:
        before = dict(probe._flags_in_process)
        yield
        probe._flags_in_process.clear()
        probe._flags_in_process.update(before)

    def test_probe_concedes_as_little_as_it_takes(self, tmp_path: Path) -> None:
        calls: list[probe.Flags] = []

        def attempt(flags: probe.Flags) -> spawn.Finished:
            calls.append(flags)
            good = "--ulimit=nofile=4096:4096" in flags.after and "--cgroup-manager=cgroupfs" in flags.before
            return spawn.Finished("exited", 0 if good else 1, b"", b"the reason", 0.1)

        flags_found = probe.find("/x/podman", False, tmp_path, attempt)
        assert isinstance(flags_found, probe.Flags)
        assert "--network=none" in flags_found.after
        assert len(flags_found.before) + len(flags_found.after) == 5
        assert calls[0] == probe.Flags((), ("--network=none",))
        probe._flags_in_process.clear()
        calls.clear()
        assert probe.find("/x/podman", False, tmp_path, attempt) == flags_found
        assert calls == [flags_found]
        assert probe.remembered_flags("/x/podman", False, tmp_path) == flags_found
        assert probe.remembered_flags("/x/podman", True, tmp_path) is None

    def test_probe_reports_the_engine_error_when_no_flags_work(self) -> None:
        bad = spawn.Finished("exited", 125, b"", b"no such thing\n", 0.1)
        assert probe.find("/x/docker", True, None, lambda _: bad) == "no such thing"

    def test_damaged_cache_of_container_flags_is_ignored(self, tmp_path: Path) -> None:
        for text in ("", "[]", '{"a": 1}', '{"a": [1]}', '{"a": [["x"], ["y"], ["z"]]}'):
            (tmp_path / probe.CACHE).write_text(text)
            assert probe.remembered_flags("/x/podman", True, tmp_path) is None


class TestTheSpool:
    def test_spool_takes_only_whole_plain_calls_and_follows_no_link(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_bytes(b"run\0done\0stolen\0.\0")
        box = tmp_path / "spool"
        box.mkdir()
        (box / "10").write_bytes(b"run\0done\0b\0.\0")
        (box / "9").write_bytes(b"run\0done\0a\0.\0")
        (box / "1").symlink_to(secret)
        (box / "2").write_bytes(b"run\0done\0torn")
        (box / "3").write_bytes(b"run\0start\0.\0")
        (box / "4").write_bytes(b"init\0--force\0x\0.\0")
        (box / "5").write_bytes(b"run\0done\0" + b"x" * spool.LONGEST + b"\0.\0")
        (box / "6").write_bytes(b"")
        (box / "7").mkdir()
        os.mkfifo(box / "8")
        (box / "name").write_bytes(b"run\0done\0c\0.\0")
        assert sandboxes.apply_spool(box) == [["run", "done", "a"], ["run", "done", "b"]]
        assert [path.name for path in box.iterdir()] == ["7"]
        assert secret.exists()

    def test_spool_that_is_a_link_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "1").write_bytes(b"run\0done\0a\0.\0")
        (tmp_path / "spool").symlink_to("elsewhere")
        assert sandboxes.apply_spool(tmp_path / "spool") == []
        assert (tmp_path / "elsewhere" / "1").exists()
        assert sandboxes.apply_spool(tmp_path / "nowhere") == []


def test_project_without_git_gets_a_read_only_placeholder_for_it(tmp_path: Path) -> None:
    state = tmp_path / ".samuel" / "run" / "ralph"
    (tmp_path / ".system" / "hooks").mkdir(parents=True)
    with mounts.hold(Workspace(tmp_path, state, os.environ)) as held:
        shown_mounts = [(str(Path(path).relative_to(tmp_path)), writable) for path, writable in held]
    assert shown_mounts == [
        (".", True),
        (".git", False),
        (".samuel", False),
        (".samuel/run", True),
        (".samuel/run/quarantine", False),
        (".samuel/run/ralph", True),
        (".system", True),
        (".system/hooks", False),
    ]


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def readable(path: Path) -> bool:
    try:
        path.read_bytes()
    except OSError:
        return False
    return True


def containers(place: Workspace) -> list[str]:
    """The names of containers that are running and have this project in them."""
    if shutil.which("podman") is None:
        return []
    listed = subprocess.run(
        ["podman", "ps", "--all", "--format={{.Mounts}} {{.Names}}"], capture_output=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if str(place.root) in line]


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until, "waited 120 s in vain"
        time.sleep(0.05)

"""Walls around plugins, for real: each way in or out is tried by a process within them, for each kind of walls."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import pytest

from samuel.confine.walls import landlock as walls_landlock
from samuel.confine.walls import walls
from samuel.confine.walls.places import GrantedPaths, WallPlaces
from samuel.confine.walls.walls import BWRAP, LANDLOCK, NONE
from samuel.process import spawn, tree
from samuel.process.reason import NotGranted

PROTECTED = (
    *(
        ".git/config",
        ".git/hooks/pre-commit",
        ".kodelet/hooks/guard",
        ".samuel/hooks/guard",
        ".samuel/run/run.json",
    ),
    *(".system/hooks/guard.yaml", "samuel.toml", "samuel.lock"),
)
PYTHON = (sys.prefix, sys.base_prefix)
NOTHING = GrantedPaths()


def cannot(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")


@pytest.fixture(params=[BWRAP, LANDLOCK])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == BWRAP and walls.strength().kind != BWRAP:
        cannot(walls.strength().why)
    if request.param == LANDLOCK and not walls_landlock.try_it()[0]:
        cannot("this kernel has no landlock")
    return str(request.param)


class Project:
    """A project with a plugin in it, and a way to run something as that plugin."""

    def __init__(self, base: Path, kind: str) -> None:
        self.root = base / "project"
        self.kind = kind
        for name in (*PROTECTED, "docs/guide.md", "src/code.py", ".samuel/plugins/p/helper"):
            self.file(name).parent.mkdir(parents=True, exist_ok=True)
            self.file(name).write_text(f"{name}\n")
        self.data = self.root / ".samuel" / "run" / "plugins" / "p"
        self.inside = WallPlaces(str(self.root), str(self.file(".samuel/plugins/p")), str(self.data))

    def file(self, name: str) -> Path:
        return self.root / name

    def untouched(self, *names: str) -> bool:
        return all(self.file(name).read_text() == f"{name}\n" for name in names)

    def run(self, *argv: str, allowed: GrantedPaths = NOTHING, **options: object) -> spawn.Finished:
        visible = options.pop("visible", ())
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        with walls.walled(argv, allowed, self.inside, visible=visible, kind=self.kind) as command:  # type: ignore[arg-type]
            return spawn.run(
                command.argv,
                cwd=str(self.root),
                env=env,
                pass_fds=command.pass_fds,
                **{"timeout": 30.0, **options},  # type: ignore[arg-type]
            )

    def sh(self, script: str, allowed: GrantedPaths = NOTHING, **options: object) -> spawn.Finished:
        return self.run("/bin/sh", "-c", script, allowed=allowed, **options)

    def python(self, code: str, allowed: GrantedPaths = NOTHING, **options: object) -> spawn.Finished:
        return self.run(sys.executable, "-I", "-S", "-c", code, allowed=allowed, visible=PYTHON, **options)

    def works(self, script: str, allowed: GrantedPaths = NOTHING) -> bool:
        return self.sh(script, allowed).returncode == 0


@pytest.fixture
def project(tmp_path: Path, kind: str) -> Project:
    return Project(tmp_path, kind)


# Files


def test_without_a_grant_it_writes_and_reads_nothing_of_the_project(project: Project) -> None:
    assert not project.works("echo changed > docs/guide.md")
    assert not project.works("echo changed > new-file")
    assert not project.works("cat docs/guide.md")
    assert project.untouched("docs/guide.md", "src/code.py", *PROTECTED)
    assert not project.file("new-file").exists()


def test_walled_plugin_can_read_its_own_directory(project: Project) -> None:
    assert project.sh("cat .samuel/plugins/p/helper").stdout == b".samuel/plugins/p/helper\n"
    assert not project.works("echo changed > .samuel/plugins/p/helper")
    assert not project.works("echo new > .samuel/plugins/p/new")


def test_walled_plugin_keeps_what_it_writes_to_its_data_dir(project: Project) -> None:
    assert project.works(f"echo kept > {shlex.quote(str(project.data))}/x")
    assert (project.data / "x").read_text() == "kept\n"
    assert project.sh(f"cat {shlex.quote(str(project.data))}/x").stdout == b"kept\n"


def test_walled_plugin_cannot_reach_the_data_of_another_plugin(project: Project) -> None:
    other = project.file(".samuel/run/plugins/other/secret")
    other.parent.mkdir(parents=True)
    other.write_text("other")
    assert not project.works("cat .samuel/run/plugins/other/secret")
    assert not project.works("echo x > .samuel/run/plugins/other/secret", GrantedPaths(write=(".",)))
    assert other.read_text() == "other"


def test_a_grant_to_read_is_not_one_to_write(project: Project) -> None:
    granted = GrantedPaths(read=("docs",))
    assert project.sh("cat docs/guide.md", granted).stdout == b"docs/guide.md\n"
    assert not project.works("echo changed > docs/guide.md", granted)
    assert not project.works("rm docs/guide.md", granted)
    assert not project.works("cat src/code.py", granted)
    assert project.untouched("docs/guide.md")


def test_a_grant_to_write_is_for_what_it_names(project: Project) -> None:
    granted = GrantedPaths(write=("docs/",))
    assert project.works("echo changed > docs/guide.md && mkdir docs/a && mv docs/guide.md docs/a", granted)
    assert project.file("docs/a/guide.md").read_text() == "changed\n"
    assert not project.works("echo changed > src/code.py", granted)
    assert not project.works("cat src/code.py", granted)
    assert project.untouched("src/code.py", *PROTECTED)


def test_plugin_can_be_granted_a_single_file(project: Project) -> None:
    granted = GrantedPaths(read=("docs/guide.md",), write=("src/code.py",))
    assert project.works("cat docs/guide.md && echo changed > src/code.py", granted)
    assert not project.works("echo x > src/other.py", granted)
    assert project.file("src/code.py").read_text() == "changed\n"


def test_reading_and_writing_may_be_granted_inside_of_each_other(project: Project) -> None:
    granted = GrantedPaths(read=("docs", "src/code.py"), write=("docs/out/", "src"))
    assert project.works("cat docs/guide.md && echo x > docs/out/x && echo x > src/code.py", granted)
    assert not project.works("echo x > docs/guide.md", granted)


def test_missing_granted_path_is_made_only_if_it_ends_with_a_slash(project: Project) -> None:
    assert project.works("echo x > made/of/it/x", GrantedPaths(write=("made/of/it/",)))
    assert project.file("made/of/it/x").read_text() == "x\n"
    assert not project.works("mkdir missing", GrantedPaths(read=("missing",), write=("missing", "gone.txt")))
    assert not project.file("missing").exists()


@pytest.mark.slow
def test_plugin_granted_the_whole_project_cannot_write_what_runs_outside_later(project: Project) -> None:
    granted = GrantedPaths(write=(".",))
    for name in PROTECTED:
        assert project.sh(f"cat {name}", granted).stdout.decode() == f"{name}\n"
        for attempt in (
            "echo changed > {}",
            "rm -f {}",
            "chmod +x {} && false",
            "mv {} {}.old",
            "ln {} free && false",
        ):
            assert not project.works(attempt.format(name, name), granted), (name, attempt)
    for name in (".git", ".samuel", ".system", ".kodelet", ".git/hooks", ".system/hooks"):
        assert not project.works(f"mv {name} {name}.old", granted), name
        assert not project.works(f"touch {name}/hooks/new {name}/new", granted) or name == ".system"
    assert project.untouched(*PROTECTED)
    assert project.works("echo changed > src/code.py && echo x > src/new && rm docs/guide.md", granted)
    assert project.file("src/code.py").read_text() == "changed\n"


def test_reading_the_whole_project_is_not_writing_it(project: Project) -> None:
    granted = GrantedPaths(read=(".",))
    assert project.works("cat src/code.py samuel.toml", granted)
    assert not project.works("echo changed > src/code.py", granted)
    assert not project.works("echo new > new", granted)


@pytest.mark.parametrize(
    "name", [".git", ".git/hooks", ".samuel/hooks", ".kodelet", "samuel.toml", ".system/hooks/a/"]
)
def test_protected_places_cannot_be_granted_for_writing(project: Project, name: str) -> None:
    with pytest.raises(NotGranted, match="can never be written by a plugin"):
        project.works("true", GrantedPaths(write=(name,)))


def test_trust_store_cannot_be_written_when_the_project_is_the_home_directory(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project.root))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    trust = project.file(".local/state/samuel/trust/agreed.json")
    trust.parent.mkdir(parents=True)
    trust.write_text("{}")
    granted = GrantedPaths(write=(".",))
    assert not project.works(f"echo x > {trust}", granted)
    for name in (".local", ".local/state", ".local/state/samuel"):
        assert not project.works(f"mv {name} {name}.old", granted), name
    assert trust.read_text() == "{}"
    assert project.works("echo changed > src/code.py", granted)


def test_git_works_in_a_worktree_that_may_be_read(
    project: Project, git: Callable[..., str], tmp_path: Path
) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    shutil.rmtree(project.root)
    git(main, "worktree", "add", "-q", str(project.root))
    project.file(".samuel/plugins/p").mkdir(parents=True)
    log = "git -c safe.directory='*' log --format=%s"
    assert project.sh(log, GrantedPaths(read=(".",))).stdout == b"first\n"
    assert project.sh(log, GrantedPaths(write=(".",))).stdout == b"first\n"
    assert not project.works(f"echo x > {main}/.git/hooks/post-checkout", GrantedPaths(write=(".",)))
    assert not project.works(log, GrantedPaths(read=("docs",)))


def test_a_plugin_reached_through_a_link_is_where_its_path_says(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    os.rename(project.file(".samuel/plugins"), tmp_path / "elsewhere" / "plugins")
    project.file(".samuel/plugins").symlink_to(tmp_path / "elsewhere" / "plugins")
    for granted in (NOTHING, GrantedPaths(read=(".",)), GrantedPaths(write=(".",))):
        assert project.works(f"cat {project.inside.own}/helper", granted)
        assert not project.works(f"echo x > {project.inside.own}/helper", granted)


@pytest.mark.parametrize("name", ["../outside", "/etc", "docs/../src", "", "a//b"])
def test_a_path_that_leaves_the_project_is_refused(project: Project, name: str) -> None:
    for granted in (GrantedPaths(read=(name,)), GrantedPaths(write=(name,))):
        with pytest.raises(NotGranted):
            project.works("true", granted)


def test_the_home_and_the_temporary_files_of_the_user_are_not_there(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "home" / ".ssh" / "id_ed25519"
    key.parent.mkdir(parents=True)
    key.write_text("secret")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert not project.works(f"cat {key}", GrantedPaths(read=(".",)))
    assert not project.works(f"echo x > {key}", GrantedPaths(write=(".",)))
    (tmp_path / "temporary").write_text("secret")
    assert not project.works(f"cat {tmp_path}/temporary", GrantedPaths(read=(".",)))
    assert key.read_text() == "secret"


def test_a_home_or_project_in_the_midst_of_what_is_shown_is_still_hidden(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    project = Project(shared, kind)
    (shared / "home").mkdir()
    (shared / "home" / "secret").write_text("secret")
    (shared / "tool").write_text("tool")
    monkeypatch.setenv("HOME", str(shared / "home"))
    assert project.sh(f"cat {shared}/tool", visible=(str(shared),)).stdout == b"tool"
    for hidden in (shared / "home" / "secret", project.file("src/code.py")):
        assert project.sh(f"cat {hidden}", visible=(str(shared),)).returncode != 0
        assert project.sh(f"echo x > {hidden}", visible=(str(shared),)).returncode != 0
    assert project.sh("cat docs/guide.md", GrantedPaths(read=("docs",)), visible=(str(shared),)).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could read it anyway")
def test_root_does_not_read_passwords(project: Project) -> None:
    assert project.works("cat /etc/passwd")
    assert not project.works("cat /etc/shadow")


# Links


def test_a_granted_path_that_is_a_link_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    project.file("link").symlink_to(tmp_path / "outside")
    (tmp_path / "outside" / "below").mkdir()
    for name in ("link", "link/", "link/below", "link/new/"):
        with pytest.raises(NotGranted, match="symbolic link"):
            project.works("true", GrantedPaths(write=(name,)))
        with pytest.raises(NotGranted, match="symbolic link"):
            project.works("true", GrantedPaths(read=(name.replace("new/", "below"),)))
    assert not (tmp_path / "outside" / "new").exists()


def test_a_data_dir_that_a_clone_made_a_link_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    project.data.parent.mkdir(parents=True, exist_ok=True)
    project.data.symlink_to(tmp_path / "outside")
    with pytest.raises(NotGranted, match="symbolic link"):
        project.works("true")


def test_a_protected_place_that_is_a_link_is_refused(project: Project) -> None:
    project.file(".git").rename(project.file("elsewhere"))
    project.file(".git").symlink_to("elsewhere")
    with pytest.raises(NotGranted, match="symbolic link"):
        project.works("true", GrantedPaths(write=(".",)))


def test_a_link_inside_of_a_granted_place_leads_nowhere_else(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside")
    project.file("docs/out").symlink_to(tmp_path / "outside")
    project.file("docs/code").symlink_to("../src/code.py")
    granted = GrantedPaths(write=("docs",))
    for script in ("cat docs/out", "echo x > docs/code", "ln -s ../src/code.py docs/c; cat docs/c"):
        assert not project.works(script, granted)
    project.sh("echo x > docs/out", granted)  # with a /tmp of its own it writes there
    assert (tmp_path / "outside").read_text() == "outside"
    assert project.untouched("src/code.py")


def test_walled_plugin_cannot_hard_link_files_from_outside(project: Project) -> None:
    granted = GrantedPaths(read=("src",), write=("docs",))
    for source in ("src/code.py", "samuel.toml", "/etc/hostname", ".samuel/plugins/p/helper"):
        assert not project.works(f"ln {source} docs/linked", granted), source
    assert not project.file("docs/linked").exists()


def test_a_granted_file_that_is_a_hard_link_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside")
    project.file("notes").hardlink_to(tmp_path / "outside")
    with pytest.raises(NotGranted, match="hard link"):
        project.works("true", GrantedPaths(write=("notes",)))
    assert project.sh("cat notes", GrantedPaths(read=("notes",))).stdout == b"outside"


def test_a_link_swapped_in_after_the_check_changes_nothing(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "guide.md").write_text("outside")
    script = ["/bin/sh", "-c", "echo changed > docs/guide.md"]
    with walls.walled(script, GrantedPaths(write=("docs",)), project.inside, kind=project.kind) as command:
        project.file("docs").rename(project.file("docs-moved"))
        project.file("docs").symlink_to(outside)
        spawn.run(command.argv, cwd=str(project.root), env={"PATH": "/bin"}, pass_fds=command.pass_fds)
    assert (outside / "guide.md").read_text() == "outside"


def test_swapping_links_all_the_time_never_leads_out(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "guide.md").write_text("outside")
    project.file("link").symlink_to(outside)
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(project.file("docs"), project.file("spare"))  # now the directory, now the link
            os.rename(project.file("link"), project.file("docs"))
            os.rename(project.file("spare"), project.file("link"))

    thread = threading.Thread(target=swap)
    thread.start()
    refused = ran = 0
    try:
        for _ in range(40):
            try:
                project.works("echo changed > docs/guide.md; echo new > docs/new", GrantedPaths(write=("docs",)))
                ran += 1
            except NotGranted:
                refused += 1
    finally:
        done.set()
        thread.join()
    assert ran + refused == 40
    assert (outside / "guide.md").read_text() == "outside"
    assert not (outside / "new").exists()


# The network, other programs, other processes


@contextmanager
def listening(family: int, address: object) -> Iterator[socket.socket]:
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.bind(address)  # type: ignore[arg-type]
        server.listen()
        server.settimeout(300)
        yield server


def test_plugin_reaches_the_network_only_with_the_grant(project: Project) -> None:
    with listening(socket.AF_INET, ("127.0.0.1", 0)) as server:
        code = (
            f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5).sendall(b'hi')"
        )
        assert project.python(code).returncode != 0
        granted = project.python(code, GrantedPaths(network=True))
        assert granted.returncode == 0, granted.stderr
        connection, _ = server.accept()
        with connection:
            assert connection.recv(2) == b"hi"


def test_without_the_grant_no_datagram_leaves(project: Project) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.setblocking(False)
        port = server.getsockname()[1]
        code = f"import socket; socket.socket(2, socket.SOCK_DGRAM).sendto(b'hi', ('127.0.0.1', {port}))"
        project.python(code)
        with pytest.raises(BlockingIOError):
            server.recv(2)
        assert project.python(code, GrantedPaths(network=True)).returncode == 0
        assert server.recv(2) == b"hi"


@pytest.mark.parametrize("network", [False, True])
def test_programs_of_the_user_that_listen_are_not_reached(project: Project, tmp_path: Path, network: bool) -> None:
    stream, datagrams = str(tmp_path / "agent.sock"), str(tmp_path / "log.sock")
    granted = GrantedPaths(network=network)
    with listening(socket.AF_UNIX, stream) as agent, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(datagrams)
        for code in (
            f"socket.socket(1).connect({stream!r})",
            f"socket.socket(1, socket.SOCK_DGRAM).sendto(b'x', {datagrams!r})",
            f"socket.socketpair(1, socket.SOCK_DGRAM)[0].sendto(b'x', {datagrams!r})",
        ):
            assert project.python(f"import socket; {code}", granted).returncode != 0, code
        for server, take in ((agent, agent.accept), (log, lambda: log.recv(1))):
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                take()


def test_walled_plugin_can_use_socket_pairs(project: Project) -> None:
    finished = project.python("import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))")
    assert finished.stdout == b"b'x'\n", finished.stderr


def test_other_processes_are_out_of_reach(project: Project) -> None:
    victim = subprocess.Popen(["/bin/sleep", "60"])
    try:
        assert not project.works(f"kill -9 {victim.pid}")
        assert not project.works(f"cat /proc/{os.getpid()}/environ | grep -q .")
        assert not project.works(f"ls /proc/{os.getpid()}/cwd/ /proc/{os.getpid()}/root/")
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_behind_mounts_there_are_no_other_processes(project: Project) -> None:
    if project.kind != BWRAP:
        return
    finished = project.sh("cd /proc && echo [0-9]*")
    assert len(finished.stdout.split()) <= 3  # bubblewrap itself, and the shell


def test_walled_root_has_only_file_capabilities(project: Project) -> None:
    status = project.sh("cat /proc/self/status").stdout.decode()
    fields = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    assert int(fields["CapEff"], 16) & ~0b1011 == 0  # CHOWN, DAC_OVERRIDE, FOWNER
    assert fields["NoNewPrivs"] == "1"


def test_walls_are_not_taken_down_from_inside(project: Project) -> None:
    for attempt in (
        f"umount {project.root}",
        f"mount -o remount,rw {project.root}",
        f"unshare -rm sh -c 'umount -l {project.root}/docs; cat docs/../src/code.py'",
        f"unshare -rm sh -c 'mount -o remount,bind,rw {project.root}/docs && echo x > docs/guide.md'",
        "echo '|/bin/false' > /proc/sys/kernel/core_pattern",
    ):
        assert not project.works(attempt, GrantedPaths(read=("docs",))), attempt
    assert project.untouched("docs/guide.md", "src/code.py")


# Descriptors, deadlines


def test_no_descriptor_of_ours_is_left_open_inside(project: Project) -> None:
    granted = GrantedPaths(read=("docs",), write=("src", "."))
    code = "import os; print([fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')])"
    assert project.python(code, granted).stdout == b"[]\n"


def test_walls_leave_no_descriptor_open_outside(project: Project) -> None:
    granted = GrantedPaths(read=("docs",), write=("src", "."))
    project.file("link").symlink_to("docs")
    project.works("true", granted)
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(5):
        project.works("true", granted)
        with pytest.raises(NotGranted):
            project.works("true", GrantedPaths(read=("docs", "link"), write=("src",)))
    assert set(os.listdir("/proc/self/fd")) == before


def test_at_the_deadline_everything_inside_ends(project: Project, wait_for: Callable[..., None]) -> None:
    mark = f"6{os.getpid()}.25"  # an argument that no other process has
    script = f"setsid sleep {mark} & (setsid sleep {mark} &) ; sleep {mark}"
    finished = project.sh(script, timeout=1.0)
    assert finished.ended == "timed_out"
    wait_for(lambda: not _running(mark))


def test_a_daemon_does_not_outlive_its_call(project: Project, wait_for: Callable[..., None]) -> None:
    mark = f"7{os.getpid()}.25"
    assert project.works(f"setsid sleep {mark} >/dev/null 2>&1 </dev/null &")
    wait_for(lambda: not _running(mark))


def _running(argument: str) -> bool:
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and Path("/proc", name, "cmdline").read_bytes().split(b"\0")[:2] == [
                b"sleep",
                argument.encode(),
            ]:
                return True
        except OSError:
            continue
    return False


def test_walled_process_that_stays_outlives_the_thread_that_started_it(
    project: Project, wait_for: Callable[..., None]
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    releases: list[Callable[[], None]] = []

    def exchange(word: bytes) -> bytes:
        stdin, stdout = started[0].stdin, started[0].stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(word)
        stdin.flush()
        return stdout.readline()

    def start() -> None:
        argv = ["/bin/sh", "-c", "while read line; do echo $line; done"]
        with walls.walled(argv, GrantedPaths(), project.inside, stays=True, kind=project.kind) as command:
            started.append(
                spawn.start(command.argv, cwd=str(project.root), env={"PATH": "/bin"}, pass_fds=command.pass_fds)
            )
            releases.append(command.release)
            assert exchange(b"there\n") == b"there\n"  # from now on, whatever would end it is in force

    thread = threading.Thread(target=start)
    thread.start()
    task = Path(f"/proc/self/task/{thread.native_id}")
    thread.join()
    wait_for(lambda: not task.exists())
    try:
        for _ in range(20):  # a signal takes its time
            assert exchange(b"still there\n") == b"still there\n"
            time.sleep(0.005)
    finally:
        tree.end(started[0])
        releases[0]()
        for pipe in (started[0].stdin, started[0].stdout, started[0].stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


# Which walls there are


def ask(path: str, script: str = "print(strength().kind, strength().why, *strength().gaps)") -> str:
    """In a process of its own: what was found is remembered."""
    code = f"from samuel.confine.walls.walls import *; {script}"
    env = {**os.environ, "PATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return done.stdout


def test_without_bubblewrap_the_kernel_holds_the_rules(tmp_path: Path) -> None:
    if not walls_landlock.try_it()[0]:
        cannot("this kernel has no landlock")
    finished = ask(str(tmp_path))
    assert finished.startswith("landlock bubblewrap is not installed (apt install bubblewrap")
    assert "it can see which other processes run" in finished


def test_bubblewrap_that_may_not_make_namespaces_is_not_used(tmp_path: Path) -> None:
    if not walls_landlock.try_it()[0]:
        cannot("this kernel has no landlock")
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    assert "landlock bubblewrap does not work on this machine: bwrap: No permissions" in ask(str(tmp_path))


def test_an_older_bubblewrap_is_used_and_its_gap_is_said(tmp_path: Path) -> None:
    if walls.strength().kind != BWRAP:
        cannot(walls.strength().why)
    program = tmp_path / "bwrap"
    real = shutil.which("bwrap")
    refuse = 'for word in "$@"; do case $word in --*bind-fd) echo "Unknown option $word" >&2; exit 1;; esac; done'
    program.write_text(f'#!/bin/sh\n{refuse}\nexec {real} "$@"\n')
    program.chmod(0o755)
    assert "swapped in at the instant a plugin starts" in ask(str(tmp_path))
    project = Project(tmp_path, BWRAP)
    run = f"""
import subprocess
with walled(["/bin/sh", "-c", "echo x > docs/guide.md; echo x > src/code.py"],
            GrantedPaths(write=("docs",)), WallPlaces(*{project.inside[:3]!r})) as command:
    print(*command.argv, subprocess.run(command.argv, pass_fds=command.pass_fds).returncode)
"""
    assert f" -- {program} " in ask(str(tmp_path), f"exec({run!r})")
    assert project.file("docs/guide.md").read_text() == "x\n"
    assert project.untouched("src/code.py")


def test_gaps_are_said_for_each_version_of_the_rules() -> None:
    newest = walls_landlock.gaps(7, True)
    assert not any("network" in gap or "UDP" in gap or "signals" in gap for gap in newest)
    oldest = walls_landlock.gaps(1, False)
    assert set(newest) < set(oldest)
    assert any("reach the network" in gap for gap in oldest)
    assert any("UDP" in gap for gap in walls_landlock.gaps(5, False))


def test_without_walls_a_plugin_runs_plainly_and_its_grants_are_still_checked(tmp_path: Path) -> None:
    project = Project(tmp_path, NONE)
    assert project.works(f"echo kept > {project.data}/x")
    project.file("link").symlink_to(tmp_path)
    with pytest.raises(NotGranted):
        project.works("true", GrantedPaths(read=("link",)))

"""Plugins that are images, for real: containers of podman with nothing in them but busybox and a script."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from samuel.confine.containers import container, engine
from samuel.events import AfterIteration, Plugin, QualityCheck
from samuel.hooks.capability import Capabilities
from samuel.hooks.handler import Handler, Outcome, Package
from samuel.runtimes.oci import OciRuntime

from .contract import RuntimeContract, event, setting
from .images import MEMORY, another_samuel, containers, do, done, handler, package

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "oci-long-files"


@pytest.mark.sampled(every=4)  # the contract is tried completely with other runtimes
class _Contract(RuntimeContract):
    timeout = 60.0
    serve = False
    opens_files = False  # an image is stored by its digest

    @pytest.fixture(autouse=True)
    def _use_fixtures(self, hook_image: str, cache: Path) -> None:
        self.image, self.cache = hook_image, cache

    def build(self, root: Path) -> OciRuntime:
        return OciRuntime(setting(root, self.cache, host=os.environ, memory=MEMORY))

    def handler(self, root: Path, behaviour: str) -> Handler:
        return handler(behaviour, package(root, self.image, serve=self.serve))

    def test_a_deadline_ends_everything(self, call: Callable[..., Any], marked: Any, tmp_path: Path) -> None:
        assert call("hang", timeout=1.0).outcome is Outcome.TIMED_OUT
        assert marked.strays() == []
        assert containers(tmp_path) == []

    def test_a_handler_that_is_not_there(self, runtime: Any, tmp_path: Path) -> None:
        absent = package(tmp_path, f"sha256:{'0' * 64}", serve=self.serve)
        reply = runtime.call(handler("answers", absent), event(), self.timeout)
        assert reply.outcome is Outcome.NOT_STARTED
        assert "cannot be started" in reply.message
        assert "`samuel plugin install` gets the image" in reply.message


class TestOneContainerACall(_Contract):
    pass


class TestAKeptContainer(_Contract):
    serve = True


@pytest.mark.slow
def test_a_call_knows_what_it_is_about(runtime: OciRuntime, root: Path, hook_image: str) -> None:
    _, output = done(do(runtime, package(root, hook_image), "env"))
    variables = {line for line in output.splitlines() if line.startswith("SAMUEL_")}
    assert variables == {
        "SAMUEL_EVENT=context.extra",
        "SAMUEL_EVENT_ID=evt-1",
        "SAMUEL_PROJECT_ROOT=/p",
        "SAMUEL_DEADLINE=1060.000",
    }


class TestAtTheDeadline:
    @pytest.mark.slow
    def test_the_container_is_gone_and_the_next_call_is_fine(
        self, runtime: OciRuntime, root: Path, hook_image: str, serve: bool
    ) -> None:
        plugin = package(root, hook_image, serve=serve)
        mark = uuid.uuid4().hex
        script = f"(trap '' TERM; while :; do : {mark}; sleep 0.1; done) & wait"
        reply = do(runtime, plugin, script, timeout=2.0)
        assert (reply.outcome, reply.message) == (Outcome.TIMED_OUT, "killed after 2s")
        assert containers(root) == []
        assert mark not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        assert done(do(runtime, plugin, "echo fine")) == (0, "fine")


class TestOneThatIsKept:
    @pytest.mark.slow
    def test_answers_many_calls(self, runtime: OciRuntime, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, serve=True)
        names = {done(do(runtime, plugin, "hostname"))[1] for _ in range(20)}
        assert len(names) == 1
        assert len(containers(root)) == 1

    @pytest.mark.slow
    def test_has_a_further_one_beside_it_while_it_is_busy(
        self, runtime: OciRuntime, root: Path, hook_image: str
    ) -> None:
        plugin = package(root, hook_image, Capabilities(write=("docs",)), serve=True)
        with ThreadPoolExecutor(2) as threads:
            # Each waits for the other: one container alone could never answer.
            meet = "touch docs/{0}; until [ -e docs/{1} ]; do sleep 0.05; done; hostname"
            replies = list(threads.map(lambda pair: do(runtime, plugin, meet.format(*pair)), ["xy", "yx"]))
        assert len({done(reply)[1] for reply in replies}) == 2
        assert len(containers(root)) == 2
        assert done(do(runtime, plugin, "hostname"))[1] in {done(reply)[1] for reply in replies}

    @pytest.mark.slow
    def test_is_no_stray_to_what_else_a_command_runs(self, root: Path, hook_image: str, cache: Path) -> None:
        """The command line ends every process that it did not start itself."""
        body = """
tree.own_all_children()
first = done(do(runtime, plugin, "hostname"))
assert spawn.run(["/bin/true"], cwd="/", env={}).returncode == 0
print(done(do(runtime, plugin, "hostname")) == first)
runtime.close()
"""
        done = subprocess.run(
            [sys.executable, "-c", another_samuel(root, hook_image, cache) + body], capture_output=True, text=True
        )
        assert (done.stdout, done.stderr) == ("True\n", "")

    @pytest.mark.slow
    def test_is_replaced_when_it_was_killed(self, runtime: OciRuntime, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, serve=True)
        first = done(do(runtime, plugin, "hostname"))
        subprocess.run(["podman", "kill", *containers(root)], check=True, capture_output=True)
        wait_until(lambda: not runtime._containers._idle[plugin][0][0].is_usable())
        assert done(do(runtime, plugin, "hostname")) != first
        assert len(containers(root)) == 1

    @pytest.mark.slow
    def test_says_what_went_wrong_and_stays(self, runtime: OciRuntime, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, serve=True)
        first = containers_after(runtime, plugin, root, "answers")
        reply = runtime.call(handler("error", plugin), event(), 60.0)
        assert (reply.outcome, reply.message) == (Outcome.CRASHED, "the reason")
        reply = runtime.call(handler("null", plugin), event(), 60.0)
        assert (reply.outcome, reply.result) == (Outcome.OK, {})
        assert containers(root) == first

    @pytest.mark.slow
    @pytest.mark.parametrize("answer", ["bad", "bare", "twice"])
    def test_that_does_not_keep_to_the_protocol_is_not_asked_again(
        self, runtime: OciRuntime, root: Path, hook_image: str, answer: str
    ) -> None:
        plugin = package(root, hook_image, serve=True)
        reply = runtime.call(handler(answer, plugin), event(), 60.0)
        if reply.outcome is Outcome.OK:  # its second line was not there yet
            assert answer == "twice"
            wait_until(lambda: not runtime._containers._idle[plugin][0][0].is_usable())
        else:
            assert reply.outcome is Outcome.BAD_OUTPUT
            assert '{"result": {...}}' in reply.message
            assert containers(root) == []
        assert done(do(runtime, plugin, "echo fine")) == (0, "fine")

    @pytest.mark.slow
    def test_never_serves_other_grants(self, runtime: OciRuntime, root: Path, hook_image: str) -> None:
        script = "echo x > docs/new"
        serving = package(root, hook_image, Capabilities(write=("docs",)), serve=True)
        other = package(root, hook_image, Capabilities(read=("docs",)), serve=True)
        assert done(do(runtime, serving, script))[0] == 0
        assert done(do(runtime, other, script))[0] != 0
        assert len(containers(root)) == 2

    @pytest.mark.slow
    def test_sees_a_file_that_was_replaced(self, runtime: OciRuntime, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, Capabilities(read=("docs/b.md", "docs/later")), serve=True)
        look = "cat docs/b.md; cat docs/later 2>/dev/null; :"
        assert done(do(runtime, plugin, look))[1] == "mine"
        (root / "new").write_text("new\n")
        (root / "new").rename(root / "docs" / "b.md")
        assert done(do(runtime, plugin, look))[1] == "new"
        (root / "docs" / "later").write_text("later")
        assert done(do(runtime, plugin, look))[1] == "new\nlater"
        assert len(containers(root)) == 1


class TestLeftovers:
    @pytest.mark.slow
    def test_of_a_killed_samuel_are_removed_by_the_next_and_nobody_else_s(
        self, runtime: OciRuntime, root: Path, hook_image: str, cache: Path
    ) -> None:
        plugin = package(root, hook_image, serve=True)
        assert done(do(runtime, plugin, "echo up")) == (0, "up")
        alive = containers(root)
        code = (
            another_samuel(root, hook_image, cache)
            + """
print(done(do(runtime, plugin, "touch /tmp/stubborn")), flush=True)
time.sleep(600)
"""
        )
        killed = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"(0, '')\n"
        assert len(containers(root)) == 2
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        killed.stdout.close()
        later = OciRuntime(setting(root, cache, host=os.environ, memory=MEMORY))
        assert done(do(later, package(root, hook_image), "echo later")) == (0, "later")
        assert containers(root) == alive
        later.close()

    def test_leftover_containers_are_recognised_by_who_started_them(self) -> None:
        name = container.new_name()
        boot, namespace, _, born, _ = name.removeprefix("samuel-plugin-").split("-")
        assert not container._is_left(name)
        assert container._is_left(name.replace(f"-{born}-", f"-{int(born) + 1}-"))
        assert container._is_left(name.replace(boot, "0123abcd"))
        assert not container._is_left(name.replace(namespace, "1").replace(f"-{born}-", f"-{int(born) + 1}-"))
        for other in ("samuel-0123456789abcdef", "postgres", "samuel-plugin-x-1-1-1-1"):
            assert not container._is_left(other)


class TestWhatIsNotStarted:
    @pytest.mark.parametrize("image", ["localhost/samuel-test-hook:1", "busybox", "", "--privileged"])
    def test_an_image_that_is_not_pinned_by_a_digest_is_not_started(
        self, runtime: OciRuntime, root: Path, image: str, serve: bool
    ) -> None:
        reply = do(runtime, package(root, image, serve=serve), "echo x")
        assert reply.outcome is Outcome.NOT_STARTED
        assert "not pinned by a digest" in reply.message

    def test_without_a_container_engine_the_message_says_what_to_install(
        self, root: Path, cache: Path, serve: bool
    ) -> None:
        bare = OciRuntime(setting(root, cache, host={"PATH": "/nowhere"}, memory=MEMORY))
        reply = do(bare, package(root, f"sha256:{'0' * 64}", serve=serve), "echo x")
        assert reply.outcome is Outcome.NOT_STARTED
        assert "needs `podman` or `docker` (apt install podman" in reply.message

    def test_with_an_engine_that_does_not_work(self, root: Path, tmp_path: Path, cache: Path, serve: bool) -> None:
        (tmp_path / "docker").write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
        (tmp_path / "docker").chmod(0o755)
        host = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SAMUEL_CONTAINER": "docker"}
        broken = OciRuntime(setting(root, cache, host=host, memory=MEMORY))
        reply = do(broken, package(root, f"sha256:{'0' * 64}", serve=serve), "echo x")
        assert reply.outcome is Outcome.NOT_STARTED
        assert "Cannot connect to the Docker daemon" in reply.message

    @pytest.mark.slow
    def test_a_program_that_the_image_does_not_have(
        self, runtime: OciRuntime, root: Path, busybox_image: str, serve: bool
    ) -> None:
        pinned = engine.pin(busybox_image, host=os.environ)
        reply = runtime.call(handler("nonesuch", package(root, pinned, serve=serve)), event(), 60.0)
        assert reply.outcome is Outcome.NOT_STARTED
        assert ("serve" if serve else "nonesuch") in reply.message

    def test_a_project_with_a_colon_in_its_path(self, tmp_path: Path, hook_image: str, cache: Path) -> None:
        root = tmp_path / "a:b"
        root.mkdir()
        reply = do(
            OciRuntime(setting(root, cache, host=os.environ, memory=MEMORY)), package(root, hook_image), "echo x"
        )
        assert reply.outcome is Outcome.NOT_STARTED
        assert "has a `:`" in reply.message


# Podman understands docker's words. An older podman cannot hand its own pipes on to a container.
OTHERS = {
    "docker": "",
    "podman": 'case "$*" in *passthrough*) echo "invalid log driver" >&2; exit 125; esac\n',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_another_engine_runs_and_confines_it_too(
    root: Path, tmp_path: Path, hook_image: str, cache: Path, serve: bool, name: str
) -> None:
    (tmp_path / name).write_text(f'#!/bin/sh\n{OTHERS[name]}exec {shutil.which("podman")} "$@"\n')
    (tmp_path / name).chmod(0o755)
    host = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SAMUEL_CONTAINER": name}
    runtime = OciRuntime(setting(root, cache, host=host, memory=MEMORY))
    plugin = package(root, hook_image, Capabilities(read=("docs",)), serve=serve)
    _, output = done(do(runtime, plugin, "cat docs/b.md; echo evil > docs/b.md; echo x > /new"))
    assert output.startswith("mine\n")
    assert output.count("Read-only file system") == 2
    assert runtime.call(handler("crash", plugin), event(), 60.0).message == "exit code 1: the reason"
    assert do(runtime, plugin, "sleep 60", timeout=2.0).outcome is Outcome.TIMED_OUT
    runtime.close()
    assert containers(root) == []


@pytest.fixture(scope="session")
def example(busybox_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A copy that is built on our base, which is here, instead of one from a registry; and its image."""
    directory = tmp_path_factory.mktemp("example") / "plugin"
    shutil.copytree(EXAMPLE, directory)
    containerfile = directory / "Containerfile"
    text = containerfile.read_text()
    containerfile.write_text(text.replace("busybox:stable-musl", busybox_image))
    assert text != containerfile.read_text()
    name = f"localhost/samuel-test-example:{os.getpid()}"
    yield directory, engine.pin(name, containerfile=containerfile, host=os.environ)
    subprocess.run(["podman", "rmi", "--force", name], capture_output=True)


class TestTheExample:
    @pytest.mark.slow
    def test_finds_long_files_and_writes_a_report(
        self, runtime: OciRuntime, root: Path, example: tuple[Path, str], serve: bool
    ) -> None:
        directory, image = example
        plugin = Package(
            name="long-files",
            directory=str(directory),
            kind="oci",
            image=image,
            grants=Capabilities(read=(".",)),
            serve=serve,
        )
        data = root / ".samuel" / "run" / "plugins" / "long-files"
        long_files = Plugin("long-files", {"max_lines": 5, "names": ["*.py"]}, str(data))
        (root / "src" / 'odd "name".py').write_text("x\n" * 7)
        (root / "src" / "long.txt").write_text("x\n" * 7)
        check = QualityCheck(commands=[], plugin=long_files)
        reply = runtime.call(handler("check", plugin), check, 60.0)
        message = 'src/odd "name".py has 7 lines, and 5 are the most; split it'
        assert reply.result == {"failures": [{"source": "long-files", "message": message}]}, reply
        (root / "src" / 'odd "name".py').unlink()
        assert runtime.call(handler("check", plugin), check, 60.0).result == {"failures": []}
        for number in (1, 2):
            ended = AfterIteration(
                task={"id": "1.2"}, outcome="completed", iteration=number, timestamp="now", plugin=long_files
            )
            reply = runtime.call(handler("report", plugin), ended, 60.0)
            assert (reply.outcome, reply.result, reply.stderr) == (Outcome.OK, {}, "")
        rows = (data / "report.md").read_text().splitlines()
        assert rows[2:] == ["| now | 1 | 1.2 | completed |", "| now | 2 | 1.2 | completed |"]
        reply = runtime.call(handler("nonesuch", plugin), check, 60.0)
        assert reply.outcome is Outcome.CRASHED
        assert "there is no subcommand `nonesuch`" in reply.stderr


def containers_after(runtime: OciRuntime, plugin: Package, root: Path, behaviour: str) -> list[str]:
    assert runtime.call(handler(behaviour, plugin), event(), 60.0).outcome is Outcome.OK
    return containers(root)


def wait_until(condition: Callable[[], bool]) -> None:
    over = threading.Event()
    for _ in range(300):
        if condition():
            return
        over.wait(0.05)
    raise AssertionError("waited in vain")

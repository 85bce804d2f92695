"""Plugins that are images, for real: containers of podman with nothing in them but busybox and a script."""

from __future__ import annotations

import base64
import ctypes
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from samuel.clock import FakeClock, SystemClock
from samuel.events import AfterIteration, Plugin, QualityCheck
from samuel.hooks.capability import NOTHING, Capabilities
from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.hooks.package import Package
from samuel.process.confine import engine, leftovers
from samuel.runtimes.base import Reply
from samuel.runtimes.oci import Oci

from .contract import LIMIT, RuntimeContract, event

MEMORY = 64 * 1024 * 1024
EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "oci-long-files"

# `sh` does what the task says. Everything else is a behaviour of the contract.
SCRIPT = rf"""#!/bin/sh
field() {{ printf '%s' "$payload" | sed 's/.*"'"$1"'":"\{{0,1\}}\([^",}}]*\).*/\1/'; }}
answer() {{
    case $1 in
        answers) echo '{{"extras": [{{"name": "a", "content": "b"}}]}}' ;;
        data) echo '{{"data": {{"Venv": ".venv"}}, "unknown": [1]}}' ;;
        crash) echo the reason >&2; exit 1 ;;
        hang) setsid sleep 60 & sleep 60 ;;
        flood) head -c {4 * LIMIT} /dev/zero | tr '\0' x ;;
        chatter) echo chatter >&2; sleep 0.2; echo '{{"x": 1}}' ;;
        echo)
            size=$(field text | tr -d '\200-\277' | wc -c)
            echo "{{\"deadline_ms\": $(field deadline_ms), \"event\": \"$(field event)\", \"size\": $size," \
                "\"id\": \"$(field id)\"}}" ;;
        digest) printf '{{"digest": "%s"}}\n' "$(field text | sha256sum | cut -d ' ' -f 1)" ;;
        sh)
            said=$(eval "$(field text | base64 -d)" 2>&1)
            printf '{{"code": %s, "said": "%s"}}\n' $? "$(printf '%s' "$said" | base64 | tr -d '\n')" ;;
    esac
}}
if [ "$1" != serve ]; then
    payload=$(cat)
    [ "$1" = bad ] && echo hello
    answer "$1"
    exit
fi
while IFS= read -r line; do
    hook=$(printf '%s' "$line" | sed 's/.*"hook":"\([^"]*\)".*/\1/')
    payload=${{line#*\"payload\":}}
    case $hook in
        hang | flood) answer "$hook" ;;
        crash) echo the reason >&2; exit 1 ;;
        bad) echo hello ;;
        empty) echo ;;
        null) echo '{{"result": null}}' ;;
        error) echo '{{"error": "the reason"}}' ;;
        bare) echo '{{"extras": []}}' ;;
        twice) echo '{{"result": {{}}}}'; echo '{{"result": {{}}}}' ;;
        *) printf '{{"result": %s}}\n' "$(answer "$hook")" ;;
    esac
done
[ -e /tmp/stubborn ] && sleep 600
"""


@pytest.fixture(scope="session")
def hook_image(busybox_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("image")
    (directory / "hook").write_text(SCRIPT)
    (directory / "Containerfile").write_text(
        f'FROM {busybox_image}\nCOPY hook /hook\nENTRYPOINT ["/bin/sh", "/hook"]\n'
    )
    name = f"localhost/samuel-test-hook:{os.getpid()}"
    yield engine.pin(name, containerfile=directory / "Containerfile", host=os.environ)
    subprocess.run(["podman", "rmi", "--force", name], capture_output=True)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the machine needs is found once, as it is for a user."""
    return tmp_path_factory.mktemp("cache")


def package(root: Path, image: str, grants: Capabilities = NOTHING, *, serve: bool = False) -> Package:
    own = root / ".samuel" / "plugins" / "org@plugin"
    own.mkdir(parents=True, exist_ok=True)
    return Package(name="org/plugin", directory=str(own), kind="oci", image=image, grants=grants, serve=serve)


def handler(entry: str, package: Package) -> Handler:
    return Handler(
        name=f"plugin:{entry}",
        event="context.extra",
        origin=Origin.PROJECT_PLUGIN,
        runtime="oci",
        entry=entry,
        package=package,
    )


class _Contract(RuntimeContract):
    timeout = 60.0
    serve = False

    @pytest.fixture(autouse=True)
    def _given(self, hook_image: str, cache: Path) -> None:
        self.image, self.cache = hook_image, cache

    def build(self, root: Path) -> Oci:
        return Oci(root, os.environ, self.cache, LIMIT, MEMORY, SystemClock())

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


Shell = Callable[..., tuple[int, str]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("src/a.py", "docs/b.md", ".git/config", ".git/hooks/pre-commit", ".samuel/hooks/guard"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine\n")
    (root / "samuel.toml").write_text("# mine\n")
    return root


@pytest.fixture(params=[False, True], ids=["a call", "kept"])
def serve(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def runtime(root: Path, hook_image: str, cache: Path) -> Iterator[Oci]:
    host = {**os.environ, "GRANTED": "the value", "SECRET": "hidden", "http_proxy": "http://user:secret@proxy"}
    runtime = Oci(root, host, cache, LIMIT, MEMORY, FakeClock(1000.0))
    yield runtime
    runtime.close()
    assert containers(root) == []


@pytest.fixture
def shell(runtime: Oci, root: Path, hook_image: str, serve: bool) -> Shell:
    """A shell script in the plugin's container: its exit code and what it said."""

    def run(script: str, **granted: Any) -> tuple[int, str]:
        return done(do(runtime, package(root, hook_image, Capabilities(**granted), serve=serve), script))

    return run


def do(runtime: Oci, package: Package, script: str, timeout: float = 60.0) -> Reply:
    return runtime.call(handler("sh", package), asking(script, package), timeout)


def asking(script: str, package: Package) -> Any:
    text = base64.b64encode(script.encode()).decode()
    return event(task={"id": "1", "text": text}, project_root="/p")


def done(reply: Reply) -> tuple[int, str]:
    assert reply.outcome is Outcome.OK, reply
    return reply.result["code"], base64.b64decode(reply.result["said"]).decode()


def containers(root: Path) -> list[str]:
    words = ["podman", "ps", "--all", f"--filter=label={leftovers.label(str(root))}", "--format={{.Names}}"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()


class TestWhatIsInside:
    def test_a_value_is_computed_from_the_payload(
        self, runtime: Oci, root: Path, hook_image: str, serve: bool
    ) -> None:
        for _ in range(2):
            text = uuid.uuid4().hex
            given = event(task={"id": "1", "text": text})
            reply = runtime.call(handler("digest", package(root, hook_image, serve=serve)), given, 60.0)
            assert reply.result == {"digest": hashlib.sha256(text.encode()).hexdigest()}

    def test_nothing_can_be_written_but_tmp_and_the_plugin_s_own_data(self, shell: Shell, root: Path) -> None:
        data = root / ".samuel" / "run" / "plugins" / "org@plugin"
        script = f"""
            for place in / /bin /etc /run /var/tmp {root.parent} {root}/.samuel/plugins/org@plugin; do
                (echo x > $place/new) 2>/dev/null && echo WRITTEN $place
            done
            echo x > /tmp/new && echo kept > {data}/kept && pwd
        """
        code, said = shell(script)
        said = said.replace(f"WRITTEN {root.parent}\n", "")  # below /tmp, which is the container's own
        assert (code, said) == (0, f"{root}")
        assert (data / "kept").read_text() == "kept\n"
        assert (data / "kept").stat().st_uid == os.geteuid()
        assert not (root.parent / "new").exists()
        assert shell(f"cat {data}/kept")[1] == "kept"

    def test_no_rights_and_none_to_get(self, shell: Shell) -> None:
        _, said = shell("grep -E '^(Cap(Eff|Prm|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status")
        found = dict(line.split(":\t") for line in said.splitlines())
        assert {found[name] for name in ("CapEff", "CapPrm", "CapBnd")} == {"0" * 16}
        assert (found["NoNewPrivs"], found["Seccomp"]) == ("1", "2")

    def test_no_network_unless_it_is_granted(self, shell: Shell) -> None:
        with socket.create_server(("", 0)) as server:
            port = server.getsockname()[1]
            ours = {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
            tries = "".join(
                f"nc -w 2 {host} {port} </dev/null && echo REACHED {host}\n" for host in ("127.0.0.1", *ours)
            )
            code, said = shell(f"{tries}\ncut -d : -f 1 -s /proc/net/dev")
            assert "REACHED" not in said
            assert said.split()[-1] == "lo"
            assert len([word for word in said.split() if word in ("lo", "eth0")]) == 1
        assert code == 0
        _, said = shell("cut -d : -f 1 -s /proc/net/dev", network=True)
        assert len(said.split()) > 1

    def test_only_granted_variables(self, shell: Shell) -> None:
        _, said = shell("env", env=("GRANTED", "PATH", "HOME", "SAMUEL_TRUST", "ABSENT"))
        found = dict(line.partition("=")[::2] for line in said.splitlines())
        assert found["GRANTED"] == "the value"
        assert found["HOME"] == "/tmp"
        assert not {"SECRET", "http_proxy", "SAMUEL_TRUST", "ABSENT"} & set(found)
        assert found["PATH"] != os.environ["PATH"]
        assert "GRANTED" not in shell("env")[1]

    def test_no_more_memory_than_the_limit(self, runtime: Oci, root: Path, hook_image: str, serve: bool) -> None:
        plugin = package(root, hook_image, serve=serve)
        bomb = "x=0123456789abcdef; while :; do x=$x$x; done"
        reply = do(runtime, plugin, bomb)
        # The kernel ends the process that asked; what the script makes of it is its own affair.
        assert reply.outcome is Outcome.CRASHED or done(reply)[0] != 0
        assert done(do(runtime, plugin, "echo fine")) == (0, "fine")

    def test_no_more_processes_than_the_limit(
        self, runtime: Oci, root: Path, hook_image: str, serve: bool
    ) -> None:
        count = root / ".samuel" / "run" / "plugins" / "org@plugin" / "count"
        started = f"sleep 60 & n=$((n + 1)); echo $n > {count}"
        loop = f"n=0; while [ $n -lt {2 * engine.PIDS} ]; do {started}; done"
        do(runtime, package(root, hook_image, serve=serve), loop)  # what it makes of it is its own affair
        assert 0 < int(count.read_text()) < engine.PIDS


def test_a_call_knows_what_it_is_about(runtime: Oci, root: Path, hook_image: str) -> None:
    _, said = done(do(runtime, package(root, hook_image), "env"))
    found = {line for line in said.splitlines() if line.startswith("SAMUEL_")}
    assert found == {
        "SAMUEL_EVENT=context.extra",
        "SAMUEL_EVENT_ID=evt-1",
        "SAMUEL_PROJECT_ROOT=/p",
        "SAMUEL_DEADLINE=1060.000",
    }


class TestTheProject:
    def test_is_not_there_without_a_grant(self, shell: Shell, root: Path) -> None:
        _, said = shell(f"cat {root}/src/a.py; ls -A {root}; echo evil > {root}/src/a.py; echo evil > {root}/new")
        assert "mine" not in said
        assert said.splitlines()[1] == ".samuel"  # on the way to its own directory and its data
        assert (root / "src" / "a.py").read_text() == "mine\n"
        assert not (root / "new").exists()

    def test_can_be_read_where_that_is_granted(self, shell: Shell, root: Path) -> None:
        script = "cat src/a.py; cat docs/b.md; echo evil > docs/b.md; echo evil > docs/new; mv docs other"
        _, said = shell(script, read=("docs",))
        assert said.count("mine") == 1
        assert said.count("Read-only file system") >= 2
        _, said = shell(f"cd {root} && {script}", read=(".",))
        assert said.count("mine") == 2
        assert said.count("Read-only file system") >= 2
        assert sorted(os.listdir(root / "docs")) == ["b.md"]
        assert (root / "docs" / "b.md").read_text() == "mine\n"

    def test_can_be_written_where_that_is_granted(self, shell: Shell, root: Path) -> None:
        script = "echo one > docs/new; echo two > made/here/x; echo evil > src/a.py; cat docs/b.md"
        _, said = shell(script, write=("docs", "made/here/"))
        assert said.endswith("mine")
        assert (root / "docs" / "new").read_text() == "one\n"
        assert (root / "made" / "here" / "x").read_text() == "two\n"
        assert (root / "src" / "a.py").read_text() == "mine\n"
        assert (root / "docs" / "new").stat().st_uid == os.geteuid()

    def test_as_a_whole_is_writable_but_for_what_runs_later(self, shell: Shell, root: Path) -> None:
        protected = (".git/config", ".git/hooks/pre-commit", ".samuel/hooks/guard", "samuel.toml")
        before = {name: (root / name).read_bytes() for name in protected}
        script = f"""
            echo new > top && echo new > src/a.py && echo fine
            for f in {" ".join(protected)}; do echo evil > $f && echo WRITTEN $f; rm -f $f; done
            for d in .git .samuel samuel.toml; do mv $d moved && echo MOVED $d; done; :
        """
        _, said = shell(script, write=(".",))
        assert said.startswith("fine")
        assert "WRITTEN" not in said
        assert "MOVED" not in said
        assert {name: (root / name).read_bytes() for name in protected} == before
        assert (root / "top").read_text() == "new\n"

    @pytest.mark.parametrize("grant", ["read", "write"])
    def test_a_link_in_the_place_of_a_granted_path_is_refused(
        self, runtime: Oci, root: Path, hook_image: str, serve: bool, grant: str, tmp_path: Path
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
        runtime = Oci(root, host, cache, LIMIT, MEMORY, SystemClock())
        plugin = package(root, hook_image, Capabilities(write=("docs",)), serve=serve)
        reply = do(runtime, plugin, "echo evil > docs/new")
        assert reply.outcome is Outcome.REFUSED, reply
        assert reply.message == f"`{root}/docs` was replaced while the container was made"
        assert os.listdir(outside) == []
        assert containers(root) == []

    def test_nor_does_one_that_comes_and_goes(
        self, runtime: Oci, root: Path, hook_image: str, tmp_path: Path
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


class TestAtTheDeadline:
    def test_the_container_is_gone_and_the_next_call_is_fine(
        self, runtime: Oci, root: Path, hook_image: str, serve: bool
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
    def test_answers_many_calls(self, runtime: Oci, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, serve=True)
        names = {done(do(runtime, plugin, "hostname"))[1] for _ in range(20)}
        assert len(names) == 1
        assert len(containers(root)) == 1

    def test_has_a_further_one_beside_it_while_it_is_busy(self, runtime: Oci, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, Capabilities(write=("docs",)), serve=True)
        with ThreadPoolExecutor(2) as threads:
            # Each waits for the other: one container alone could never answer.
            meet = "touch docs/{0}; until [ -e docs/{1} ]; do sleep 0.05; done; hostname"
            replies = list(threads.map(lambda pair: do(runtime, plugin, meet.format(*pair)), ["xy", "yx"]))
        assert len({done(reply)[1] for reply in replies}) == 2
        assert len(containers(root)) == 2
        assert done(do(runtime, plugin, "hostname"))[1] in {done(reply)[1] for reply in replies}

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

    def test_is_replaced_when_it_was_killed(self, runtime: Oci, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, serve=True)
        first = done(do(runtime, plugin, "hostname"))
        subprocess.run(["podman", "kill", *containers(root)], check=True, capture_output=True)
        wait_until(lambda: not runtime._idle[plugin][0].still_right())
        assert done(do(runtime, plugin, "hostname")) != first
        assert len(containers(root)) == 1

    def test_says_what_went_wrong_and_stays(self, runtime: Oci, root: Path, hook_image: str) -> None:
        plugin = package(root, hook_image, serve=True)
        first = containers_after(runtime, plugin, root, "answers")
        reply = runtime.call(handler("error", plugin), event(), 60.0)
        assert (reply.outcome, reply.message) == (Outcome.CRASHED, "the reason")
        reply = runtime.call(handler("null", plugin), event(), 60.0)
        assert (reply.outcome, reply.result) == (Outcome.OK, {})
        assert containers(root) == first

    @pytest.mark.parametrize("answer", ["bad", "bare", "twice"])
    def test_that_does_not_keep_to_the_protocol_is_not_asked_again(
        self, runtime: Oci, root: Path, hook_image: str, answer: str
    ) -> None:
        plugin = package(root, hook_image, serve=True)
        reply = runtime.call(handler(answer, plugin), event(), 60.0)
        if reply.outcome is Outcome.OK:  # its second line was not there yet
            assert answer == "twice"
            wait_until(lambda: not runtime._idle[plugin][0].still_right())
        else:
            assert reply.outcome is Outcome.BAD_OUTPUT
            assert '{"result": {...}}' in reply.message
            assert containers(root) == []
        assert done(do(runtime, plugin, "echo fine")) == (0, "fine")

    def test_never_serves_other_grants(self, runtime: Oci, root: Path, hook_image: str) -> None:
        script = "echo x > docs/new"
        one = package(root, hook_image, Capabilities(write=("docs",)), serve=True)
        other = package(root, hook_image, Capabilities(read=("docs",)), serve=True)
        assert done(do(runtime, one, script))[0] == 0
        assert done(do(runtime, other, script))[0] != 0
        assert len(containers(root)) == 2

    def test_sees_a_file_that_was_replaced(self, runtime: Oci, root: Path, hook_image: str) -> None:
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
    def test_of_a_killed_samuel_are_removed_by_the_next_and_nobody_else_s(
        self, runtime: Oci, root: Path, hook_image: str, cache: Path
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
        later = Oci(root, os.environ, cache, LIMIT, MEMORY, SystemClock())
        assert done(do(later, package(root, hook_image), "echo later")) == (0, "later")
        assert containers(root) == alive
        later.close()

    def test_are_told_by_who_made_them(self) -> None:
        name = leftovers.new_name()
        boot, namespace, _, born, _ = name.removeprefix("samuel-plugin-").split("-")
        assert not leftovers._is_left(name)
        assert leftovers._is_left(name.replace(f"-{born}-", f"-{int(born) + 1}-"))
        assert leftovers._is_left(name.replace(boot, "0123abcd"))
        assert not leftovers._is_left(name.replace(namespace, "1").replace(f"-{born}-", f"-{int(born) + 1}-"))
        for other in ("samuel-0123456789abcdef", "postgres", "samuel-plugin-x-1-1-1-1"):
            assert not leftovers._is_left(other)


class TestWhatIsNotStarted:
    @pytest.mark.parametrize("image", ["localhost/samuel-test-hook:1", "busybox", "", "--privileged"])
    def test_an_image_by_its_tag(self, runtime: Oci, root: Path, image: str, serve: bool) -> None:
        reply = do(runtime, package(root, image, serve=serve), "echo x")
        assert reply.outcome is Outcome.NOT_STARTED
        assert "not pinned by a digest" in reply.message

    def test_without_an_engine(self, root: Path, cache: Path, serve: bool) -> None:
        bare = Oci(root, {"PATH": "/nowhere"}, cache, LIMIT, MEMORY, SystemClock())
        reply = do(bare, package(root, f"sha256:{'0' * 64}", serve=serve), "echo x")
        assert reply.outcome is Outcome.NOT_STARTED
        assert "needs `podman` or `docker` (apt install podman" in reply.message

    def test_with_an_engine_that_does_not_work(self, root: Path, tmp_path: Path, cache: Path, serve: bool) -> None:
        (tmp_path / "docker").write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
        (tmp_path / "docker").chmod(0o755)
        host = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SAMUEL_CONTAINER": "docker"}
        broken = Oci(root, host, cache, LIMIT, MEMORY, SystemClock())
        reply = do(broken, package(root, f"sha256:{'0' * 64}", serve=serve), "echo x")
        assert reply.outcome is Outcome.NOT_STARTED
        assert "Cannot connect to the Docker daemon" in reply.message

    def test_a_program_that_the_image_does_not_have(
        self, runtime: Oci, root: Path, busybox_image: str, serve: bool
    ) -> None:
        pinned = engine.pin(busybox_image, host=os.environ)
        reply = runtime.call(handler("nonesuch", package(root, pinned, serve=serve)), event(), 60.0)
        assert reply.outcome is Outcome.NOT_STARTED
        assert ("serve" if serve else "nonesuch") in reply.message

    def test_a_project_with_a_colon_in_its_path(self, tmp_path: Path, hook_image: str, cache: Path) -> None:
        root = tmp_path / "a:b"
        root.mkdir()
        reply = do(Oci(root, os.environ, cache, LIMIT, MEMORY, SystemClock()), package(root, hook_image), "echo x")
        assert reply.outcome is Outcome.NOT_STARTED
        assert "has a `:`" in reply.message


def test_values_of_variables_are_on_no_command_line(root: Path, tmp_path: Path, cache: Path) -> None:
    """A stand-in for the engine writes down how it was called."""
    tried = '[ "$1" != run ] || { echo "$@" >&2; exit 127; }'
    (tmp_path / "docker").write_text(f'#!/bin/sh\necho "$@" "[$GRANTED]" >> {tmp_path}/calls\n{tried}\n')
    (tmp_path / "docker").chmod(0o755)
    host = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GRANTED": "the value", "SAMUEL_CONTAINER": "docker"}
    runtime = Oci(root, host, cache, LIMIT, MEMORY, SystemClock())
    do(runtime, package(root, f"sha256:{'0' * 64}", Capabilities(env=("GRANTED",))), "x")
    created = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("create ")]
    assert len(created) == 1
    assert "--env=GRANTED" in created[0].split()
    assert created[0].endswith("[the value]")
    assert "the value" not in created[0].removesuffix("[the value]")


# Podman understands docker's words. An older podman cannot hand its own pipes on to a container.
OTHERS = {
    "docker": "",
    "podman": 'case "$*" in *passthrough*) echo "invalid log driver" >&2; exit 125; esac\n',
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_engine_runs_and_confines_it_too(
    root: Path, tmp_path: Path, hook_image: str, cache: Path, serve: bool, name: str
) -> None:
    (tmp_path / name).write_text(f'#!/bin/sh\n{OTHERS[name]}exec {shutil.which("podman")} "$@"\n')
    (tmp_path / name).chmod(0o755)
    host = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SAMUEL_CONTAINER": name}
    runtime = Oci(root, host, cache, LIMIT, MEMORY, SystemClock())
    plugin = package(root, hook_image, Capabilities(read=("docs",)), serve=serve)
    _, said = done(do(runtime, plugin, "cat docs/b.md; echo evil > docs/b.md; echo x > /new"))
    assert said.startswith("mine\n")
    assert said.count("Read-only file system") == 2
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
    containerfile.write_text(text.replace("docker.io/library/busybox:stable-musl", busybox_image))
    assert text != containerfile.read_text()
    name = f"localhost/samuel-test-example:{os.getpid()}"
    yield directory, engine.pin(name, containerfile=containerfile, host=os.environ)
    subprocess.run(["podman", "rmi", "--force", name], capture_output=True)


class TestTheExample:
    def test_finds_long_files_and_writes_a_report(
        self, runtime: Oci, root: Path, example: tuple[Path, str], serve: bool
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
        said = Plugin("long-files", {"max_lines": 5, "names": ["*.py"]}, str(data))
        (root / "src" / 'odd "name".py').write_text("x\n" * 7)
        (root / "src" / "long.txt").write_text("x\n" * 7)
        check = QualityCheck(commands=[], plugin=said)
        reply = runtime.call(handler("check", plugin), check, 60.0)
        message = 'src/odd "name".py has 7 lines, and 5 are the most; split it'
        assert reply.result == {"failures": [{"source": "long-files", "message": message}]}, reply
        (root / "src" / 'odd "name".py').unlink()
        assert runtime.call(handler("check", plugin), check, 60.0).result == {"failures": []}
        for number in (1, 2):
            ended = AfterIteration(
                task={"id": "1.2"}, outcome="completed", iteration=number, timestamp="now", plugin=said
            )
            reply = runtime.call(handler("report", plugin), ended, 60.0)
            assert (reply.outcome, reply.result, reply.stderr) == (Outcome.OK, {}, "")
        rows = (data / "report.md").read_text().splitlines()
        assert rows[2:] == ["| now | 1 | 1.2 | completed |", "| now | 2 | 1.2 | completed |"]
        reply = runtime.call(handler("nonesuch", plugin), check, 60.0)
        assert reply.outcome is Outcome.CRASHED
        assert "there is no subcommand `nonesuch`" in reply.stderr


def another_samuel(root: Path, image: str, cache: Path) -> str:
    """The beginning of a program with a `runtime` of its own, and a `plugin` that is kept."""
    return f"""
import os, sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from samuel.clock import SystemClock
from samuel.process import spawn, tree
from samuel.runtimes.oci import Oci
from tests.runtimes.test_oci import do, done, package
root = Path({str(root)!r})
runtime = Oci(root, os.environ, Path({str(cache)!r}), {LIMIT}, {MEMORY}, SystemClock())
plugin = package(root, {image!r}, serve=True)
"""


def containers_after(runtime: Oci, plugin: Package, root: Path, behaviour: str) -> list[str]:
    assert runtime.call(handler(behaviour, plugin), event(), 60.0).outcome is Outcome.OK
    return containers(root)


def wait_until(condition: Callable[[], bool]) -> None:
    over = threading.Event()
    for _ in range(300):
        if condition():
            return
        over.wait(0.05)
    raise AssertionError("waited in vain")

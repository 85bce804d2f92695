"""Handlers of plugins in their walls: everything a runtime must do, and nothing that was not granted."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from samuel.confine.walls import landlock as walls_landlock
from samuel.confine.walls import walls
from samuel.confine.walls.walls import BWRAP, LANDLOCK
from samuel.files.survey import signature
from samuel.hooks.capability import Capabilities
from samuel.hooks.handler import Handler, Origin, Outcome, Package
from samuel.process.environment import clean
from samuel.runtimes.base import Reply
from samuel.runtimes.exec import ExecRuntime
from samuel.runtimes.python import PythonRuntime
from samuel.sources.declarations import DeclarationCache

from .contract import RuntimeContract, event, setting
from .test_exec import SCRIPTS
from .test_python import MODULE

MARK = "SAMUEL_TEST_MARK"  # granted, so that what a test leaves running can be found


def cannot(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")


@pytest.fixture(params=[BWRAP, LANDLOCK])
def kind(request: pytest.FixtureRequest) -> str:
    return there(str(request.param))


def there(kind: str) -> str:
    if kind == BWRAP and walls.strength().kind != BWRAP:
        cannot(walls.strength().why)
    if kind == LANDLOCK and not walls_landlock.try_it()[0]:
        cannot("this kernel has no landlock")
    return kind


def package(root: Path, *, name: str = "org/p", python: str = "", **grants: Any) -> Package:
    directory = root / ".samuel" / "plugins" / name.replace("/", "@")
    directory.mkdir(parents=True, exist_ok=True)
    granted = Capabilities(**{"env": (MARK,), **grants})
    return Package(name=name, directory=str(directory), kind="skill", grants=granted, python=python)


def handler(of: Package, file: str, entry: str = "", runtime: str = "exec") -> Handler:
    return Handler(
        name=f"{of.name}/{file}",
        event="context.extra",
        origin=Origin.PROJECT_PLUGIN,
        runtime=runtime,
        owner=of.name,
        path=os.path.join(of.directory, file),
        entry=entry,
        package=of,
    )


def script(of: Package, text: str, name: str = "script", entry: str = "") -> Handler:
    file = Path(of.directory, name)
    file.write_text(text)
    file.chmod(0o755)
    return handler(of, name, entry)


def function(of: Package, body: str) -> Handler:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    Path(of.directory, "plugin.py").write_text(f"import os, sys\n\ndef answer(event):\n{lines}")
    return handler(of, "plugin.py", "answer", "python")


# The contract of runtimes, with walls around


@pytest.mark.sampled(every=2)  # the contract is tried completely without walls
class WalledExec(RuntimeContract):
    walls: str

    def build(self, root: Path) -> ExecRuntime:
        for behaviour, text in SCRIPTS.items():
            script(package(root), text, behaviour)
        return ExecRuntime(setting(root, root.parent / "samuel-cache", walls=there(self.walls)))

    def handler(self, root: Path, behaviour: str) -> Handler:
        return handler(package(root), behaviour)


class TestExecBehindMounts(WalledExec):
    walls = BWRAP


class TestExecByRules(WalledExec):
    walls = LANDLOCK


@pytest.mark.sampled(every=2)
class WalledPython(RuntimeContract):
    walls: str

    def build(self, root: Path) -> PythonRuntime:
        Path(package(root).directory, "hooks.py").write_text(MODULE)
        return PythonRuntime(setting(root, root.parent / "samuel-cache", walls=there(self.walls)))

    def handler(self, root: Path, behaviour: str) -> Handler:
        return handler(package(root), "hooks.py", behaviour, "python")


class TestPythonBehindMounts(WalledPython):
    walls = BWRAP


class TestPythonByRules(WalledPython):
    walls = LANDLOCK


# What is granted, and what is not


class Place:
    """A project, and both runtimes with the same walls."""

    def __init__(self, base: Path, kind: str) -> None:
        self.root = base / "here"
        self.root.mkdir()
        self.cache = base / "cache"
        (self.root / "docs").mkdir()
        (self.root / "docs" / "guide.md").write_text("guide")
        (self.root / "code.py").write_text("code")
        self.exec = ExecRuntime(setting(self.root, self.cache, walls=kind))
        self.python = PythonRuntime(setting(self.root, self.cache, walls=kind))

    def call(self, hook: Handler) -> Reply:
        runtime = self.exec if hook.runtime == "exec" else self.python
        return runtime.call(hook, event(), 60.0)

    def result(self, hook: Handler) -> Any:
        reply = self.call(hook)
        assert reply.outcome is Outcome.OK, (reply.message, reply.stderr)
        return reply.result


@pytest.fixture
def place(tmp_path: Path, kind: str, marked: Any) -> Iterator[Place]:
    place = Place(tmp_path, kind)
    yield place
    place.exec.close()
    place.python.close()


def test_a_script_without_the_grant_does_not_open_a_project_file_for_writing(place: Place) -> None:
    write = "#!/bin/sh\necho changed > code.py\n"
    reply = place.call(script(package(place.root), write))
    assert reply.outcome is Outcome.CRASHED
    assert (place.root / "code.py").read_text() == "code"
    assert place.call(script(package(place.root, write=("code.py",)), write)).outcome is Outcome.OK
    assert (place.root / "code.py").read_text() == "changed\n"


def test_nor_does_a_function(place: Place) -> None:
    write = "open('docs/guide.md', 'w').write('changed')"
    assert place.call(function(package(place.root), write)).outcome is Outcome.CRASHED
    assert place.call(function(package(place.root, read=(".",)), write)).outcome is Outcome.CRASHED
    assert (place.root / "docs" / "guide.md").read_text() == "guide"
    assert place.call(function(package(place.root, write=("docs/",)), write)).outcome is Outcome.OK
    assert (place.root / "docs" / "guide.md").read_text() == "changed"


def test_a_bound_script_gets_the_payload_and_no_argument(place: Place) -> None:
    result = place.result(script(package(place.root), "#!/bin/sh\n[ $# = 0 ] && cat\n"))
    assert result["event_id"] == "evt-1"
    named = '#!/bin/sh\necho "{\\"argument\\": \\"$1\\"}"\n'
    assert place.result(script(package(place.root), named, entry="run")) == {"argument": "run"}


def test_a_script_works_in_the_project_and_keeps_its_data(place: Place) -> None:
    body = "print(json.dumps(dict(cwd=os.getcwd(), kept=os.path.exists(sys.argv[0] + 'x'))))"
    text = f"#!/usr/bin/env python3\nimport json, os, sys\n{body}\n"
    assert place.result(script(package(place.root), text))["cwd"] == str(place.root)
    data = place.root / ".samuel" / "run" / "plugins" / "org@p"
    assert place.call(script(package(place.root), f"#!/bin/sh\necho kept >> {data}/log\n")).outcome is Outcome.OK
    place.call(script(package(place.root), f"#!/bin/sh\necho kept >> {data}/log\n"))
    assert (data / "log").read_text() == "kept\nkept\n"


def test_only_granted_names_of_the_hosts_environment_are_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "granted")
    for name in ("OTHER_TOKEN", "LD_PRELOAD_X", "SAMUEL_RUN_ID", "PYTHONSTARTUP", "NODE_OPTIONS"):
        monkeypatch.setenv(name, "leaked")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("SAMUEL_TRUST", "all")
    granted = package(place.root, env=("API_TOKEN", "SAMUEL_TRUST", MARK))
    dump = "#!/usr/bin/env python3\nimport json, os\nprint(json.dumps(dict(os.environ)))\n"
    always = {"PATH", "HOME", "TMPDIR", "LC_ALL", "PYTHONPYCACHEPREFIX", "SAMUEL_CALL", "API_TOKEN", MARK}
    passed = {"LANG", "LANGUAGE", "TZ"} | {name for name in os.environ if name.startswith("LC_")}
    by_the_shell = {"PWD", "LC_CTYPE"}
    calls = {"SAMUEL_DEADLINE", "SAMUEL_EVENT", "SAMUEL_EVENT_ID", "SAMUEL_PROJECT_ROOT"}
    of_script = place.result(script(granted, dump))
    assert always | calls <= set(of_script) <= always | calls | passed | by_the_shell
    of_function = place.result(function(granted, "return dict(os.environ)"))
    assert always <= set(of_function) <= always | passed | by_the_shell
    assert of_script["API_TOKEN"] == of_function["API_TOKEN"] == "granted"
    assert Path(of_script["HOME"]).is_relative_to(place.cache)


def test_what_the_host_preloads_is_not_passed_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "")
    result = place.result(script(package(place.root), '#!/bin/sh\necho "{\\"set\\": \\"${LD_PRELOAD-no}\\"}"\n'))
    assert result == {"set": "no"}


def test_temporary_files_and_a_home_work(place: Place) -> None:
    body = """
import pathlib, subprocess, tempfile
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x")
pathlib.Path.home().joinpath("kept").write_text("kept")
return {"home": str(pathlib.Path.home()), "said": subprocess.check_output(["sh", "-c", "cat ~/kept"], text=True)}
"""
    result = place.result(function(package(place.root), body))
    assert result["said"] == "kept"
    assert Path(result["home"], "kept").read_text() == "kept"


def test_a_granted_path_that_is_a_link_refuses_the_call(place: Place, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (place.root / "out").symlink_to(tmp_path / "outside")
    granted = package(place.root, write=("out",))
    for hook in (script(granted, "#!/bin/sh\n"), function(granted, "return {}")):
        reply = place.call(hook)
        assert reply.outcome is Outcome.REFUSED
        assert "symbolic link" in reply.message


# Interpreters


def test_an_interpreter_in_a_hidden_place_is_there_if_it_is_on_path(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "node" / "bin").mkdir(parents=True)
    (home / "node" / "lib").mkdir()
    (home / "node" / "lib" / "words").write_text('{"from": "lib"}')
    (home / "secret").write_text("secret")
    node = home / "node" / "bin" / "node"
    node.write_text(f"#!/bin/sh\ncat {home}/secret; cat {home}/node/lib/words\n")
    node.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{node.parent}:{os.environ['PATH']}")
    place = Place(tmp_path, kind)
    reply = place.call(script(package(place.root), "#!/usr/bin/env node\n"))
    assert (reply.outcome, reply.result) == (Outcome.OK, {"from": "lib"})
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    place.exec = ExecRuntime(setting(place.root, place.cache, walls=kind))
    reply = place.call(script(package(place.root), f"#!{node}\n"))
    assert reply.outcome is Outcome.NOT_STARTED
    assert "is not where a plugin may read" in reply.message


def test_interpreter_in_a_hidden_place_may_be_replaced_by_another_version(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")
    place = Place(tmp_path, kind)
    try:
        for version in ("1", "2"):
            tree = home / "versions" / version
            for part in ("bin", "lib"):
                (tree / part).mkdir(parents=True)
            (tree / "lib/words").write_text(f'{{"version": "{version}"}}')
            (tree / "bin/tool").write_text(f"#!/bin/sh\ncat {tree}/lib/words\n")
            (tree / "bin/tool").chmod(0o755)
            (home / "bin/tool").unlink(missing_ok=True)
            (home / "bin/tool").symlink_to(tree / "bin/tool")
            for _ in range(3):
                reply = place.call(script(package(place.root), "#!/usr/bin/env tool\n"))
                assert reply.result == {"version": version}, reply
    finally:
        place.exec.close()


def test_a_program_in_a_hidden_place_does_not_stand_before_one_that_can_be_run(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "home" / "bin" / "cat"
    hidden.parent.mkdir(parents=True)
    hidden.write_text("#!/bin/sh\necho hidden\n")
    hidden.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{hidden.parent}:{os.environ['PATH']}")
    place = Place(tmp_path, kind)
    assert place.result(script(package(place.root), "#!/bin/sh\ncat\n"))["event_id"] == "evt-1"


def test_a_home_on_the_path_is_not_shown_for_that(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}:{home.parent}:/:{os.environ['PATH']}")
    place = Place(tmp_path, kind)
    try:
        for secret in (home / "secret", place.root / "code.py"):
            reply = place.call(script(package(place.root), f"#!/bin/sh\ncat {secret}\n"))
            assert reply.outcome is Outcome.CRASHED
    finally:
        place.exec.close()


@pytest.mark.slow
def test_bytecode_that_lies_beside_a_plugin_is_never_run(place: Place) -> None:
    """It is not part of what anybody agreed to."""
    of = package(place.root)
    helper = Path(of.directory, "helper.py")
    helper.write_text("WORD = 'forged!'\n")
    py_compile.compile(str(helper), doraise=True)  # its name, size and time are those of the real one
    times = helper.stat()
    helper.write_text("WORD = 'sincere'\n")
    os.utime(helper, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert place.result(function(of, "import helper\nreturn {'word': helper.WORD}")) == {"word": "sincere"}
    tell = "import json, helper; print(json.dumps({'word': helper.WORD}))"
    for text in (
        f"#!{sys.executable}\n{tell}\n",
        f"#!{sys.executable} -E\n{tell}\n",
        f'#!/bin/sh\ncd {of.directory} && exec python3 -c "{tell}"\n',
    ):
        assert place.result(script(of, text)) == {"word": "sincere"}, text


@pytest.mark.slow
def test_plugin_of_the_same_size_and_time_runs_as_it_is_now(place: Place) -> None:
    of = package(place.root)
    helper, tell = Path(of.directory, "helper.py"), "import json, helper; print(json.dumps({'word': helper.WORD}))"
    for word in ("one", "two"):
        helper.write_text(f"WORD = '{word}'\n")
        os.utime(helper, (1_700_000_000, 1_700_000_000))
        hook = function(of, "import helper\nreturn {'word': helper.WORD}")
        os.utime(hook.path, (1_700_000_000, 1_700_000_000))
        for text in (
            f"#!{sys.executable}\n{tell}\n",
            f'#!/bin/sh\ncd {of.directory} && exec python3 -c "{tell}"\n',
        ):
            assert place.result(script(of, text)) == {"word": word}, text
        assert place.result(hook) == {"word": word}
        place.python.close()  # the next call is that of a new process of Samuel


def test_what_a_clone_put_into_the_data_dir_steers_nothing(place: Place) -> None:
    site = f".local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    planted = place.root / ".samuel" / "run" / "plugins" / "org@p" / site / "usercustomize.py"
    planted.parent.mkdir(parents=True)
    planted.write_text("raise SystemExit('planted')")
    assert place.result(function(package(place.root), "return {'fine': True}")) == {"fine": True}
    python = f"#!{sys.executable}\nprint('{{}}')\n"
    assert place.call(script(package(place.root), python)).outcome is Outcome.OK


# Workers


TOKEN = """
global token
token = globals().get("token") or os.urandom(8).hex()
return {"token": token}
"""


@pytest.mark.slow
def test_a_worker_is_warm_and_never_shared_between_plugins_or_grants(place: Place) -> None:
    hook, *others = [  # all written before the first call: a file that is written again makes a new worker
        function(package(place.root), TOKEN),
        function(package(place.root, name="org/q"), TOKEN),
        function(package(place.root, read=("docs",)), TOKEN),
        function(package(place.root, network=True), TOKEN),
    ]
    first = place.result(hook)["token"]
    assert place.result(hook)["token"] == first
    assert len({first, *(place.result(other)["token"] for other in others)}) == 4
    assert place.result(hook)["token"] == first


def test_a_worker_sees_what_is_there_now(place: Place) -> None:
    """A checkout replaces directories, and an editor files: what a kept process was given is then another one."""
    hook = function(package(place.root, read=("docs", "later")), "return {'docs': open('docs/guide.md').read()}")
    assert place.result(hook) == {"docs": "guide"}
    (place.root / "docs").rename(place.root / "old")
    (place.root / "docs").mkdir()
    (place.root / "docs" / "guide.md").write_text("another")
    assert place.result(hook) == {"docs": "another"}


@pytest.mark.slow
def test_a_worker_never_comes_to_write_what_was_protected_later(place: Place) -> None:
    body = "open('samuel.toml', 'w' if os.path.exists('samuel.toml') else 'r').write('changed')"
    hook = function(package(place.root, write=(".",)), f"try:\n    {body}\nexcept FileNotFoundError:\n    pass")
    assert place.call(hook).outcome is Outcome.OK
    for text in ("mine", "mine too"):
        (place.root / "new.toml").write_text(text)
        (place.root / "new.toml").rename(place.root / "samuel.toml")
        assert place.call(hook).outcome is Outcome.CRASHED
        assert (place.root / "samuel.toml").read_text() == text


def test_functions_of_a_plugin_need_no_mark_but_must_be_there(place: Place) -> None:
    hook = function(package(place.root), "return {'x': 1}")
    assert place.result(hook) == {"x": 1}
    reply = place.call(handler(package(place.root), "plugin.py", "missing", "python"))
    assert reply.outcome is Outcome.CRASHED
    assert "no function `missing`" in reply.message


def test_a_function_finds_samuel_and_the_typed_event(place: Place) -> None:
    body = "import samuel\nreturn {'kind': type(event).__name__, 'hook': callable(samuel.hook)}"
    assert place.result(function(package(place.root), body)) == {"kind": "ContextExtra", "hook": True}


def test_the_plugins_own_environment_comes_before_samuels(place: Place, tmp_path: Path) -> None:
    venv = tmp_path / "state" / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "click").mkdir()
    (site / "click" / "__init__.py").write_text("WHOSE = 'the plugin'\n")
    of = package(place.root, python=str(venv / "bin" / "python"))
    body = "import click, msgspec, samuel\nreturn {'whose': click.WHOSE, 'prefix': sys.prefix}"
    assert place.result(function(of, body)) == {"whose": "the plugin", "prefix": str(venv)}


def test_what_a_function_starts_ends_with_the_call(place: Place, marked: Any) -> None:
    body = "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)\nreturn {}"
    assert place.call(function(package(place.root), body)).outcome is Outcome.OK
    assert marked.strays() == []


def test_no_descriptor_is_left_open_by_calls(place: Place) -> None:
    granted = package(place.root, read=("docs",), write=(".",))
    hook, two = script(granted, "#!/bin/sh\n"), function(granted, "return {}")
    for each in (hook, two):
        place.call(each)
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert place.call(hook).outcome is place.call(two).outcome is Outcome.OK
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_worker_has_no_descriptor_but_its_own(place: Place) -> None:
    granted = package(place.root, read=("docs",), write=(".",))
    body = "return {'open': [fd for fd in os.listdir('/proc/self/fd') if os.path.isdir(f'/proc/self/fd/{fd}')]}"
    assert len(place.result(function(granted, body))["open"]) <= 1  # the one that lists them


# Asking a file what it is for


def asking(place: Place) -> Callable[[Handler], Any]:
    def ask(hook: Handler) -> Any:
        answers = DeclarationCache(
            place.cache / "answers.json", str(place.root), clean(), place.cache, place.python
        )
        file_signature = signature(os.stat(hook.path))
        return answers.ask([(hook.path, file_signature)], hook.package)[hook.path]

    return ask


def test_a_file_is_asked_within_the_walls_and_without_its_grants(place: Place) -> None:
    granted = package(place.root, write=(".",), network=True)
    tries = f"#!/bin/sh\necho changed > {place.root}/code.py\necho x > {granted.directory}/x\necho context.extra\n"
    answer = asking(place)(script(granted, tries))
    assert [hook.event for hook in answer.declared] == ["context.extra"], answer.problem
    assert (place.root / "code.py").read_text() == "code"
    assert not Path(granted.directory, "x").exists()
    assert not (place.root / ".samuel" / "run").exists()  # it has no data yet


def test_a_module_is_loaded_within_the_walls(place: Place) -> None:
    granted = package(place.root, write=(".",))
    file = Path(granted.directory, "module.py")
    file.write_text(
        "import samuel\n"
        f"try:\n    open({str(place.root / 'code.py')!r}, 'w')\nexcept OSError:\n    pass\n"
        "@samuel.hook('context.extra')\ndef tell(event):\n    return {}\n"
    )
    answer = asking(place)(handler(granted, "module.py", "tell", "python"))
    assert [hook.function for hook in answer.declared] == ["tell"], answer.problem
    assert (place.root / "code.py").read_text() == "code"
    assert (place.cache / "answers.json").read_bytes()

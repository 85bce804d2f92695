"""Content that is swapped in right after the permit was given: it is not even started."""

from __future__ import annotations

import importlib.util
import marshal
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from tests.runtimes.wasm_build import saying

from samuel.app import App
from samuel.dispatch.dispatcher import Dispatcher
from samuel.dispatch.record import Fired
from samuel.events import PreAbilityCall
from samuel.files.survey import file_signature
from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.process import spawn
from samuel.runtimes.opened_program import ProgramSearch, opened_program
from samuel.sources.hook_files import DirectoryCheck, in_directory
from samuel.testing import Recorder, SamuelProject
from samuel.trust.content import ContentChanged, TrustedContent, TrustedFile
from samuel.trust.digests import digest_file
from samuel.trust.permit import PermitCheck

NOT_RUN = "changed after it was permitted, so it was not run"
MODULE = """\
    import samuel
    {first}
    @samuel.hook("PreAbilityCall", role="guard")
    def guard(event):
        {then}
        return {{}}
"""
PYTHON_SCRIPT = """\
    #!{python}
    import sys
    if sys.argv[1:] == ["hook"]:
        print("PreAbilityCall")
        sys.exit()
    {then}
    print("{{}}")
"""
SHELL_SCRIPT = """\
    #!/bin/sh
    [ "$1" = hook ] && echo PreAbilityCall && exit
    {then}
    echo '{{}}'
"""
YAML = "id: guard\nevent_type: PreAbilityCall\nblocking: true\nhandler: {handler}\n"
PYTHON_PLUGIN = """\
    name = "guard"
    version = "0.1.0"
    kind = "python"
    samuel.protocol = ">=1"
    hooks.PreAbilityCall = {handler = "guard", role = "guard"}
"""
WASM_PLUGIN = """\
    name = "guard"
    version = "0.1.0"
    kind = "wasm"
    samuel.protocol = ">=1"
    wasm.module = "plugin.wasm"
    wasm.hook_handlers.PreAbilityCall = {handler = "hook", role = "guard"}
"""


class Swapped:
    """A trusted guard, and what is put in its place: that leaves a mark in the project."""

    def __init__(self, project: SamuelProject) -> None:
        self.project = project
        self.root = project.root
        self.mark = project.root / "mark"
        self.leave_mark = f"open({str(self.mark)!r}, 'w').close()"

    def fire_swapping(self, file: Path, other: str | bytes, calls_before: int = 0) -> Fired:
        """Fire an event, with `other` in the place of `file` from right after its permit on."""
        app = self.project.open()
        calls = 0

        def permit(handler: Handler) -> str:
            nonlocal calls
            why = app.permit(handler)
            calls += 1
            if calls > calls_before:
                replace(file, other)
            return why

        dispatcher = with_permit(app, permit)
        for _ in range(calls_before):
            assert not dispatcher.fire(PreAbilityCall(ability_id="x")).stopped
        return dispatcher.fire(PreAbilityCall(ability_id="x"))

    def assert_not_run(self, fired: Fired) -> None:
        assert not self.mark.exists()
        assert (fired.stopped, NOT_RUN in fired.reason) == (True, True), fired


def with_permit(app: App, permit: Callable[[Handler], str]) -> Dispatcher:
    """A dispatcher of the project that asks this permit."""
    return Dispatcher(
        chains=app.chains,
        runtimes=app.runtimes,
        permit=PermitCheck(permit, app.permit.stamp, app.permit.content),
        sink=Recorder(),
        clock=app.clock,
        project=app._project_fields(),
    )


def replace(file: Path, content: str | bytes) -> None:
    """Put another file with the same mode in its place, as git does."""
    other = file.with_name(f"{file.name}.new")
    other.write_bytes(content.encode() if isinstance(content, str) else content)
    other.chmod(file.stat().st_mode)
    other.replace(file)


@pytest.fixture
def swapped(samuel_project: SamuelProject) -> Swapped:
    return Swapped(samuel_project)


def module(first: str = "", then: str = "pass") -> str:
    return dedent(MODULE).format(first=first, then=then)


def test_python_hook_that_is_swapped_after_the_permit_is_not_loaded(swapped: Swapped) -> None:
    file = swapped.project.python_hook("guard", module())
    swapped.assert_not_run(swapped.fire_swapping(file, module(first=swapped.leave_mark)))


def test_python_hook_that_is_swapped_while_a_worker_has_the_trusted_one_is_not_loaded(swapped: Swapped) -> None:
    file = swapped.project.python_hook("guard", module())
    fired = swapped.fire_swapping(file, module(first=swapped.leave_mark), calls_before=2)
    swapped.assert_not_run(fired)


@pytest.mark.parametrize("name", ["helper.py", "helper/__init__.py"])
@pytest.mark.parametrize("late", [False, True], ids=["with the hook", "in the call"])
def test_helper_beside_a_python_hook_that_is_swapped_is_not_imported(
    swapped: Swapped, name: str, late: bool
) -> None:
    helper = swapped.root / ".samuel/hooks" / name
    helper.parent.mkdir(parents=True)
    helper.write_text("VALUE = 1\n")
    imports = {"then" if late else "first": "import helper"}
    swapped.project.python_hook("guard", module(**imports))
    swapped.assert_not_run(swapped.fire_swapping(helper, swapped.leave_mark))


def test_hook_cannot_hide_that_its_helper_was_swapped(swapped: Swapped) -> None:
    helper = swapped.root / ".samuel/hooks/helper.py"
    helper.parent.mkdir(parents=True)
    helper.write_text("VALUE = 1\n")
    hides = "try: import helper\n    except BaseException: pass"
    swapped.project.python_hook("guard", module(then=hides))
    swapped.assert_not_run(swapped.fire_swapping(helper, swapped.leave_mark))


def test_module_that_appears_after_the_permit_is_not_imported(swapped: Swapped) -> None:
    swapped.project.python_hook("guard", module(then="import helper"))
    helper = swapped.root / ".samuel/hooks/helper.py"
    app = swapped.project.open()

    def permit(handler: Handler) -> str:
        why = app.permit(handler)
        helper.write_text(swapped.leave_mark)
        return why

    swapped.assert_not_run(with_permit(app, permit).fire(PreAbilityCall(ability_id="x")))


def test_python_function_of_a_yaml_hook_that_is_swapped_is_not_loaded(swapped: Swapped) -> None:
    file = swapped.root / "guard.py"  # in the root, where it is trusted alone
    file.write_text("def guard(event):\n    return {}\n")
    yaml = YAML.format(handler="{kind: python, file: guard.py, function: guard}")
    swapped.project.hook("guard.yaml", yaml, executable=False, where=swapped.root / ".system/hooks")
    swapped.assert_not_run(swapped.fire_swapping(file, f"{swapped.leave_mark}\n{file.read_text()}"))


def test_bytecode_of_another_source_is_never_used_for_a_trusted_hook(swapped: Swapped) -> None:
    file = swapped.root / "guard.py"
    file.write_text("def guard(event):\n    return {}\n")
    yaml = YAML.format(handler="{kind: python, file: guard.py, function: guard}")
    swapped.project.hook("guard.yaml", yaml, executable=False, where=swapped.root / ".system/hooks")
    plant_bytecode(file, swapped.project.user.cache / "pycache/exact", swapped.leave_mark)
    assert not swapped.project.fire("PreAbilityCall", ability_id="x").stopped
    assert not swapped.mark.exists()


def plant_bytecode(file: Path, cache: Path, source: str) -> None:
    """Compile `source` into the file that Python would take for the bytecode of `file`."""
    status = file.stat()
    time = hash((status.st_ino, status.st_ctime_ns, status.st_mtime_ns)) & 0xFFFFFFFF
    head = importlib.util.MAGIC_NUMBER + b"".join(n.to_bytes(4, "little") for n in (0, time, status.st_size))
    name = f"{file.stem}.{sys.implementation.cache_tag}.pyc"
    compiled = Path(f"{cache}{file.parent}", name)
    compiled.parent.mkdir(parents=True, exist_ok=True)
    compiled.write_bytes(head + marshal.dumps(compile(source, str(file), "exec")))


def test_yaml_hook_that_is_swapped_after_the_permit_runs_what_was_agreed_to(swapped: Swapped) -> None:
    yaml = YAML.format(handler="{{kind: script, command: \"{} '{{}}'\"}}")
    where = swapped.root / ".system/hooks"
    file = swapped.project.hook("guard.yaml", yaml.format("echo"), executable=False, where=where)
    swapped.mark = swapped.root / "{}"
    assert not swapped.fire_swapping(file, yaml.format("touch")).stopped
    assert not swapped.mark.exists()


@pytest.mark.parametrize("text", [PYTHON_SCRIPT, SHELL_SCRIPT], ids=["python", "sh"])
def test_script_that_is_swapped_after_the_permit_is_not_started(swapped: Swapped, text: str) -> None:
    text = dedent(text)
    mark = swapped.leave_mark if text.startswith("#!{") else f"touch {swapped.mark}"
    file = swapped.project.hook("guard", text.format(python=sys.executable, then=""))
    swapped.assert_not_run(swapped.fire_swapping(file, text.format(python=sys.executable, then=mark)))


def program(name: str) -> bytes:
    return Path(shutil.which(name) or "").resolve().read_bytes()


def test_binary_that_is_swapped_after_the_permit_is_not_started(swapped: Swapped) -> None:
    file = swapped.root / "tools/guard"
    file.parent.mkdir()
    file.write_bytes(program("echo"))
    file.chmod(0o755)
    yaml = YAML.format(handler="{kind: script, command: \"tools/guard '{}'\"}")
    swapped.project.hook("guard.yaml", yaml, executable=False, where=swapped.root / ".system/hooks")
    swapped.mark = swapped.root / "{}"  # what `touch {}` makes
    assert not swapped.project.fire("PreAbilityCall", ability_id="x").stopped
    swapped.assert_not_run(swapped.fire_swapping(file, program("touch")))


def plugin(directory: Path, manifest: str, file: str, content: bytes) -> Path:
    source = directory / "source"
    source.mkdir()
    (source / "samuel-plugin.toml").write_text(dedent(manifest))
    (source / file).write_bytes(content)
    return source


def test_python_plugin_that_is_swapped_after_the_permit_is_not_loaded(swapped: Swapped, tmp_path: Path) -> None:
    text = "def guard(event):\n    return {}\n"
    file = swapped.project.plugin(plugin(tmp_path, PYTHON_PLUGIN, "plugin.py", text.encode())) / "plugin.py"
    assert not swapped.project.fire("PreAbilityCall", ability_id="x").stopped
    swapped.assert_not_run(swapped.fire_swapping(file, f"{text}VALUE = 1\n"))


def test_plugin_with_a_file_whose_name_is_not_utf_8_is_called(swapped: Swapped, tmp_path: Path) -> None:
    source = plugin(tmp_path, PYTHON_PLUGIN, "plugin.py", b"def guard(event):\n    return {}\n")
    Path(os.fsdecode(os.fsencode(source) + b"/\xff.txt")).touch()
    swapped.project.plugin(source)
    assert not swapped.project.fire("PreAbilityCall", ability_id="x").stopped


@pytest.mark.parametrize("calls_before", [0, 1])
def test_module_of_webassembly_that_is_swapped_after_the_permit_is_not_compiled(
    swapped: Swapped, tmp_path: Path, calls_before: int
) -> None:
    file = swapped.project.plugin(plugin(tmp_path, WASM_PLUGIN, "plugin.wasm", saying("{}"))) / "plugin.wasm"
    assert not swapped.project.fire("PreAbilityCall", ability_id="x").stopped
    swapped.assert_not_run(swapped.fire_swapping(file, saying('{"logs": []}'), calls_before))


@pytest.mark.parametrize("executable", [False, True], ids=["module", "script"])
def test_hook_file_that_is_swapped_before_it_is_asked_for_its_events_is_not_run(
    swapped: Swapped, executable: bool
) -> None:
    text = dedent(PYTHON_SCRIPT).format(python=sys.executable, then="") if executable else module()
    file = swapped.project.hook("guard.py", text, executable=executable)
    app = swapped.project.open(fresh=True)
    answers = app.discovery.context().project_answers

    def objections(directory: str) -> dict[str, str]:
        refused = dict(app.permit.objections(directory))
        replace(file, text.replace("import s", f"{swapped.leave_mark}\nimport s", 1))
        return refused

    check = DirectoryCheck(objections, app.permit.content_of)
    [handler] = in_directory(str(file.parent), Origin.PROJECT, answers, check, app.permit.digests)
    assert (handler.status, NOT_RUN in handler.reason) == (HandlerStatus.BROKEN, True), handler.reason
    assert not swapped.mark.exists()


class TestAnOpenedProgram:
    """The same between the look at the file and the start of the process."""

    @pytest.fixture
    def search(self, tmp_path: Path) -> ProgramSearch:
        return ProgramSearch("/usr/bin:/bin", str(tmp_path / "pycache"), tmp_path)

    def trusted(self, file: Path, content: str | bytes) -> TrustedContent:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        file.chmod(0o755)
        path = str(file)
        return TrustedContent((str(file.parent),), {path: TrustedFile(file_signature(path), (digest_file(path),))})

    def run(self, file: Path, other: str | bytes, search: ProgramSearch, content: TrustedContent) -> str:
        with opened_program(str(file), ("a", "b c"), search, content) as program:
            replace(file, other)
            finished = spawn.run(
                program.argv,
                cwd="/",
                env={"PATH": search.path},
                pass_fds=program.pass_fds,
                executable=program.executable,
            )
        assert (finished.ended, finished.returncode) == ("exited", 0), finished
        return finished.stdout.decode()

    def test_binary_runs_as_it_was_opened(self, tmp_path: Path, search: ProgramSearch) -> None:
        file = tmp_path / "program"
        content = self.trusted(file, program("echo"))
        assert self.run(file, program("false"), search, content) == "a b c\n"

    def test_python_script_runs_as_it_was_opened(self, tmp_path: Path, search: ProgramSearch) -> None:
        file = tmp_path / "program"
        text = f"#!{sys.executable}\nimport sys\nprint(__file__, sys.argv, sorted(globals()))\n"
        content = self.trusted(file, text)
        names = sorted(("__annotations__", "__builtins__", "__doc__", "__file__", "__loader__", "__name__"))
        names = sorted([*names, "__package__", "__spec__", "sys"])
        assert self.run(file, "#!/bin/false\n", search, content) == f"{file} {[str(file), 'a', 'b c']} {names}\n"

    def test_it_has_the_descriptors_and_names_that_it_always_has(
        self, tmp_path: Path, search: ProgramSearch
    ) -> None:
        file = tmp_path / "program"
        text = f"#!{sys.executable}\nimport os\nprint(len(os.listdir('/proc/self/fd')))\n"
        with opened_program(str(file), (), search, self.trusted(file, text)) as opened:
            finished = spawn.run(opened.argv, cwd="/", env={}, pass_fds=opened.pass_fds)
        assert finished.stdout == b"4\n"  # stdin, stdout, stderr, and that of the listing
        link = tmp_path / "readlink"
        with opened_program(
            str(link), ("/proc/self/exe",), search, self.trusted(link, program("readlink"))
        ) as opened:
            finished = spawn.run(opened.argv, cwd="/", env={}, executable=opened.executable)
        assert finished.stdout.decode() == f"{link}\n"

    def test_link_runs_what_it_led_to(self, tmp_path: Path, search: ProgramSearch) -> None:
        target, link = tmp_path / "target", tmp_path / "link"
        target.write_bytes(program("echo"))
        target.chmod(0o755)
        link.symlink_to(target)
        trusted = TrustedFile(file_signature(str(link)), (digest_file(str(link)),))
        content = TrustedContent((str(tmp_path),), {str(link): trusted})
        with opened_program(str(link), ("a",), search, content) as opened:
            assert spawn.run(opened.argv, cwd="/", env={}, executable=opened.executable).stdout == b"a\n"
        replace(target, program("false"))
        with pytest.raises(ContentChanged), opened_program(str(link), (), search, content):
            pass

    def test_file_that_nobody_agreed_to_is_not_started(self, tmp_path: Path, search: ProgramSearch) -> None:
        file = tmp_path / "program"
        content = self.trusted(file, program("echo"))
        new = tmp_path / "new"
        shutil.copy2(file, new)
        with pytest.raises(ContentChanged), opened_program(str(new), (), search, content):
            pass

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
    def test_file_that_cannot_be_read_any_more_is_not_started(self, tmp_path: Path, search: ProgramSearch) -> None:
        file = tmp_path / "program"
        content = self.trusted(file, program("echo"))
        file.chmod(0o111)
        with pytest.raises(ContentChanged), opened_program(str(file), (), search, content):
            pass

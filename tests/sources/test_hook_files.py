"""Hook files, as a person writes them: found, asked once, shadowed, disabled, broken."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.testing import SamuelProject

Script = Callable[[str, str], str]


def hooks_of(project: SamuelProject) -> list[Handler]:
    with project.open() as app:
        return [handler for handler in app.handlers if handler.origin is not Origin.BUILT_IN]


def hook_named(project: SamuelProject, name: str) -> Handler:
    (handler,) = [handler for handler in hooks_of(project) if handler.name == name]
    return handler


class Counting:
    """A hook that notes each time it is asked."""

    def __init__(self, project: SamuelProject, counter: Path) -> None:
        self._project = project
        self._counter = counter
        counter.touch()

    def write(self, name: str = "counting", where: Path | None = None) -> Path:
        declare = f"echo x >> {self._counter}; echo context.extra"
        script = f'#!/bin/sh\nif [ "$1" = hook ]; then {declare}; exit; fi\n'
        return self._project.hook(name, script, where=where)

    def __call__(self) -> int:
        """How often it was asked."""
        return len(self._counter.read_text().splitlines())


@pytest.fixture
def counting(samuel_project: SamuelProject, tmp_path: Path) -> Counting:
    return Counting(samuel_project, tmp_path / "asked")


class TestAsking:
    def test_a_hook_file_is_asked_once_for_its_events(
        self, samuel_project: SamuelProject, counting: Counting
    ) -> None:
        counting.write()
        for _ in range(3):
            assert hook_named(samuel_project, "counting").event == "context.extra"
        assert counting() == 1

    @pytest.mark.parametrize(
        "change",
        [
            lambda file: os.utime(file, (1, 1)),
            lambda file: file.chmod(0o711),
            lambda file: (file.rename(file.with_name("tmp")), file.write_text(file.with_name("tmp").read_text())),
            lambda file: file.write_text(file.read_text() + "\n"),
        ],
        ids=["touched", "another mode", "replaced by a copy", "changed"],
    )
    @pytest.mark.parametrize("user", [False, True], ids=["project", "user"])
    def test_a_hook_file_is_asked_again_after_a_change(
        self,
        samuel_project: SamuelProject,
        counting: Counting,
        change: Callable[[Path], object],
        user: bool,
    ) -> None:
        where = samuel_project.user.home / ".samuel/hooks" if user else None
        file = counting.write(where=where)
        hooks_of(samuel_project)
        assert counting() == 1
        change(file)
        if file.with_name("tmp").exists():
            file.with_name("tmp").unlink()
            file.chmod(0o755)
        samuel_project.trust()
        assert hook_named(samuel_project, "counting").status is HandlerStatus.ACTIVE
        assert counting() == 2
        hooks_of(samuel_project)
        assert counting() == 2

    def test_only_the_changed_hook_file_is_asked_again(
        self, samuel_project: SamuelProject, counting: Counting, sh: Script
    ) -> None:
        for number in range(5):
            counting.write(f"c{number}")
        hooks_of(samuel_project)
        samuel_project.hook("new", sh("context.extra", ""))
        hooks_of(samuel_project)
        assert counting() == 5

    def test_hook_files_are_asked_concurrently(self, samuel_project: SamuelProject, tmp_path: Path) -> None:
        """Two hooks that each wait for the other: asked one after the other, none would answer."""
        for me, other in (("a", "b"), ("b", "a")):
            samuel_project.hook(
                me,
                f"#!/bin/sh\ntouch {tmp_path}/{me}.here\n"
                f"while [ ! -e {tmp_path}/{other}.here ]; do sleep 0.01; done\necho context.extra\n",
            )
        assert [handler.status for handler in hooks_of(samuel_project)] == [HandlerStatus.ACTIVE] * 2

    @pytest.mark.slow
    def test_a_hook_file_that_does_not_answer_is_ended(
        self, samuel_project: SamuelProject, sh: Script, marked: object
    ) -> None:
        samuel_project.hook("good", sh("context.extra", ""))
        for number in range(2):
            samuel_project.hook(f"slow{number}", "#!/bin/sh\nsleep 600\n")
        handlers = {handler.name: handler for handler in hooks_of(samuel_project)}
        assert handlers["good"].status is HandlerStatus.ACTIVE
        assert handlers["slow0"].status is HandlerStatus.BROKEN
        assert "did not answer within 10s" in handlers["slow0"].reason

    def test_a_hook_file_with_a_problem_is_asked_again(
        self, samuel_project: SamuelProject, tmp_path: Path
    ) -> None:
        samuel_project.hook("needs", f"#!/bin/sh\ncat {tmp_path}/needed\n")
        assert hook_named(samuel_project, "needs").status is HandlerStatus.BROKEN
        (tmp_path / "needed").write_text("context.extra\n")
        assert hook_named(samuel_project, "needs").status is HandlerStatus.ACTIVE

    def test_a_script_may_print_several_events(self, samuel_project: SamuelProject) -> None:
        script = (
            '#!/bin/sh\nif [ "$1" = hook ]; then echo context.extra; echo before_loop agent_stop; exit; fi\n'
            'echo "{\\"event\\": \\"$SAMUEL_EVENT\\"}"\n'
        )
        samuel_project.hook("many", script)
        handlers = hooks_of(samuel_project)
        assert [(handler.event, handler.dialect) for handler in handlers] == [
            ("context.extra", ""),
            ("before:loop", ""),
            ("SessionStop", "kodelet"),
        ]
        assert samuel_project.fire("before:loop", prd_path="x", max_iterations=1).result["event"] == "before:loop"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("#!/bin/sh\necho contxt.extra\n", "did you mean `context.extra`?"),
            ("#!/bin/sh\n", "printed nothing"),
            ("#!/bin/sh\necho oops >&2\nexit 3\n", "exit code 3: oops"),
            ("#!/bin/sh\nkill -9 $$\n", "SIGKILL"),
            ("#!/bin/sh\nhead -c 1000000 /dev/zero\n", "too much output"),
            ("echo context.extra\n", "no shebang"),
            ("#!/nowhere/sh\n", "/nowhere/sh"),
            ("", "empty"),
        ],
    )
    def test_the_reason_names_what_is_wrong_with_a_script(
        self, samuel_project: SamuelProject, text: str, says: str
    ) -> None:
        samuel_project.hook("wrong", text)
        handler = hook_named(samuel_project, "wrong")
        assert handler.status is HandlerStatus.BROKEN
        assert says in handler.reason


class TestNames:
    def test_a_hook_is_disabled_by_a_file_name_disable_beside_it(
        self, samuel_project: SamuelProject, sh: Script
    ) -> None:
        file = samuel_project.hook("a", sh("context.extra", ""))
        samuel_project.hook("a.disable", "", executable=False)
        handler = hook_named(samuel_project, "a")
        assert handler.status is HandlerStatus.DISABLED
        assert "a.disable" in handler.reason
        assert samuel_project.fire("context.extra", task={}).calls == ()
        file.with_name("a.disable").unlink()
        assert hook_named(samuel_project, "a").status is HandlerStatus.ACTIVE

    def test_a_hook_renamed_to_name_disable_is_disabled(self, samuel_project: SamuelProject, sh: Script) -> None:
        samuel_project.hook("a.disable", sh("context.extra", ""))
        assert hook_named(samuel_project, "a").status is HandlerStatus.DISABLED

    def test_the_four_directories_and_their_precedence(self, samuel_project: SamuelProject, sh: Script) -> None:
        root, home = samuel_project.root, samuel_project.user.home
        places = [root / ".samuel/hooks", root / ".kodelet/hooks", home / ".samuel/hooks", home / ".kodelet/hooks"]
        for number, place in enumerate(places):
            samuel_project.hook("same", sh("context.extra", f"""echo '{{"from": {number}}}'"""), where=place)
        for number, place in enumerate(places):
            statuses = [handler.status for handler in hooks_of(samuel_project)]
            assert statuses == [HandlerStatus.ACTIVE] + [HandlerStatus.SHADOWED] * (3 - number)
            assert samuel_project.fire("context.extra", task={}).result["from"] == number
            (place / "same").unlink()
            samuel_project.trust()

    @pytest.mark.parametrize("name", ["default", "samuel-default"])
    def test_a_hook_file_with_the_name_of_the_built_in_handlers_is_refused(
        self, samuel_project: SamuelProject, sh: Script, name: str
    ) -> None:
        samuel_project.hook(name, sh("context.task", """echo '{"toon_blob": "mine"}'"""))
        samuel_project.config(f'[hooks."context.task".order]\n{name} = 50\n')
        handler = hook_named(samuel_project, name)
        assert handler.status is HandlerStatus.BROKEN
        assert "is the name of the built-in handlers; rename `" in handler.reason
        with samuel_project.open() as app:
            steps = app.chains["context.task"].steps
        assert [(step.handler.origin, step.order) for step in steps] == [(Origin.BUILT_IN, 50)]

    def test_a_python_hook_file_with_the_name_of_the_built_in_handlers_is_refused(
        self, samuel_project: SamuelProject
    ) -> None:
        text = "import samuel\n@samuel.hook('context.task')\ndef default(event):\n    return {}\n"
        samuel_project.python_hook("default", text)
        assert hook_named(samuel_project, "default").status is HandlerStatus.BROKEN

    def test_a_shadowed_hook_names_the_file_that_shadows_it(
        self, samuel_project: SamuelProject, sh: Script
    ) -> None:
        mine = samuel_project.hook("a", sh("context.extra", ""))
        samuel_project.hook("a", sh("context.extra", ""), where=samuel_project.user.home / ".samuel/hooks")
        (shadowed,) = [handler for handler in hooks_of(samuel_project) if handler.status is HandlerStatus.SHADOWED]
        assert shadowed.origin is Origin.USER
        assert str(mine) in shadowed.reason

    @pytest.mark.parametrize("state", ["broken", "untrusted", "disabled"])
    def test_a_broken_hook_does_not_shadow_a_working_one(
        self, samuel_project: SamuelProject, sh: Script, state: str
    ) -> None:
        samuel_project.hook(
            "a",
            sh("context.extra", """echo '{"from": "user"}'"""),
            where=samuel_project.user.home / ".samuel/hooks",
        )
        file = samuel_project.hook("a", sh("no_event_at_all" if state == "broken" else "context.extra", ""))
        if state == "untrusted":
            file.write_text(sh("context.extra", "true"))
        if state == "disabled":
            samuel_project.hook("a.disable", "")
        assert samuel_project.fire("context.extra", task={}).result["from"] == "user"

    def test_helper_files_are_not_hooks(self, samuel_project: SamuelProject, sh: Script) -> None:
        samuel_project.hook("a", sh("context.extra", ""))
        for name, text in (
            ("helper.py", "VALUE = 1\n"),
            ("data.json", "{}"),
            ("README.md", "about samuel"),
            ("old~", "#!/bin/sh\n"),
            (".hidden", "#!/bin/sh\n"),
        ):
            samuel_project.hook(name, text, executable=False)
        (samuel_project.root / ".samuel/hooks/lib").mkdir()
        assert [handler.name for handler in hooks_of(samuel_project)] == ["a"]

    def test_a_script_that_is_not_executable_is_listed_as_broken(
        self, samuel_project: SamuelProject, sh: Script
    ) -> None:
        samuel_project.hook("a", sh("context.extra", ""), executable=False)
        handler = hook_named(samuel_project, "a")
        assert handler.status is HandlerStatus.BROKEN
        assert "chmod +x" in handler.reason

    def test_a_dangling_link_is_listed_as_broken(self, samuel_project: SamuelProject, tmp_path: Path) -> None:
        where = samuel_project.user.home / ".samuel/hooks"
        where.mkdir(parents=True)
        (where / "gone").symlink_to(tmp_path / "nowhere")
        (where / "gone.py").symlink_to(tmp_path / "nowhere")
        assert [handler.status for handler in hooks_of(samuel_project)] == [HandlerStatus.BROKEN] * 2


class TestPythonFiles:
    def test_the_decorator_sets_order_role_mode_timeout_and_strictness(
        self, samuel_project: SamuelProject
    ) -> None:
        samuel_project.python_hook(
            "facts",
            """
            import samuel

            @samuel.hook("context_extra", order=150, strict=True, timeout="2s")
            def facts(event):
                return {}

            @samuel.hook("PreAbilityCall", "TurnEnd", role="guard", mode="observe")
            def other(event):
                return {}
            """,
        )
        handlers = hooks_of(samuel_project)
        assert [(handler.name, handler.event) for handler in handlers] == [
            ("facts", "context.extra"),
            ("facts:other", "PreAbilityCall"),
            ("facts:other", "TurnEnd"),
        ]
        assert (handlers[0].order, handlers[0].strict, handlers[0].timeout) == (150, True, 2.0)
        assert handlers[1].role == "guard"
        assert [handler.mode for handler in handlers] == ["enforce", "observe", "observe"]
        assert {handler.owner for handler in handlers} == {"facts"}

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("import samuel\n", "no function in it is marked"),
            ("import samuel\nraise RuntimeError('at import')\n", "at import"),
            ("import samuel\ndef (:\n", "SyntaxError"),
            ("import samuel\n@samuel.hook('contxt.extra')\ndef f(e): ...\n", "did you mean `context.extra`?"),
            ("import samuel\n@samuel.hook('context.extra', timeout='5')\ndef f(e): ...\n", "needs a unit"),
            ("import samuel\n@samuel.hook('context.extra', role='boss')\ndef f(e): ...\n", "boss"),
            ("import samuel\n@samuel.hook('context.extra', mode='watch')\ndef f(e): ...\n", "not `watch`"),
            ("import samuel\n@samuel.hook('iteration.gate', mode='observe')\ndef f(e): ...\n", "only one handler"),
            ("import samuel\n@samuel.hook('context.extra', order='x')\ndef f(e): ...\n", "order"),
            ("import samuel, sys\nsys.exit(3)\n", "SystemExit"),
            ("import samuel, os\nos._exit(3)\n", "exit code 3"),
        ],
    )
    def test_the_reason_names_what_is_wrong_with_a_python_file(
        self, samuel_project: SamuelProject, text: str, says: str
    ) -> None:
        samuel_project.python_hook("wrong", text)
        (handler,) = hooks_of(samuel_project)
        assert handler.status is HandlerStatus.BROKEN
        assert says in handler.reason

    @pytest.mark.parametrize("wrong", ["role='guard', timeout='30'", "role='gard'", "mode='watch'"])
    def test_a_guard_with_a_wrong_declaration_denies(self, samuel_project: SamuelProject, wrong: str) -> None:
        text = f"import samuel\n@samuel.hook('PreAbilityCall', {wrong})\ndef wrong(event): ...\n"
        samuel_project.python_hook("wrong", text)
        assert samuel_project.fire("PreAbilityCall", ability_id="x").denied

    @pytest.mark.slow
    def test_a_python_hook_cannot_import_from_another_hook_directory(self, samuel_project: SamuelProject) -> None:
        """They are none of what was looked at when this hook was permitted."""
        here, there = (samuel_project.root / name / "hooks" for name in (".samuel", ".kodelet"))
        text = "import samuel\n@samuel.hook('SessionStart')\ndef {0}(event):\n    import far\n    return {{}}\n"
        samuel_project.python_hook("one", text.format("one"), where=here)
        samuel_project.hook("far.py", "", executable=False, where=here)
        samuel_project.python_hook("two", text.format("two"), where=there)
        with samuel_project.open() as app:
            app.fire("SessionStart")
            outcomes = {call.handler.name: call.outcome for call in app.fire("SessionStart").calls}
        assert outcomes == {"one": "ok", "two": "crashed"}

    def test_an_executable_python_file_is_run_as_a_program(
        self, samuel_project: SamuelProject, py: Script
    ) -> None:
        samuel_project.hook("tool.py", py("context.extra", "print('{\"x\": 1}')"))
        assert hook_named(samuel_project, "tool.py").runtime == "exec"
        assert samuel_project.fire("context.extra", task={}).result["x"] == 1

    def test_a_python_hook_reads_the_name_of_the_event_and_the_root_of_the_repository(
        self, samuel_project: SamuelProject
    ) -> None:
        text = """
            import samuel

            @samuel.hook("SessionStart", "TurnEnd")
            def names(event):
                return {"messages_to_user": [event.event, event.event_type, event.repository_root]}
            """
        samuel_project.python_hook("names", text)
        fired = samuel_project.fire("SessionStart")
        assert fired.result["messages_to_user"] == ["SessionStart", "SessionStart", str(samuel_project.root)]

    def test_a_python_hook_can_import_helpers_beside_it(self, samuel_project: SamuelProject) -> None:
        samuel_project.hook("helper.py", "VALUE = 41\n", executable=False)
        samuel_project.python_hook(
            "uses",
            """
            import helper
            import samuel

            @samuel.hook("context.extra")
            def uses(event):
                return {"x": helper.VALUE + 1}
            """,
        )
        assert samuel_project.fire("context.extra", task={}).result["x"] == 42


class TestKeepingItsPlace:
    GUARD = """
        import samuel

        @samuel.hook("PreAbilityCall", role="guard")
        def guard(event):
            return {"decision": "allow"}
        """

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "breaking", ["import samuel\nraise RuntimeError\n", "import samuel\n", "def\nsamuel\n"]
    )
    def test_a_guard_that_no_longer_works_denies(self, samuel_project: SamuelProject, breaking: str) -> None:
        samuel_project.python_hook("guard", self.GUARD)
        assert not samuel_project.fire("PreAbilityCall", ability_id="x").denied
        samuel_project.python_hook("guard", breaking)
        fired = samuel_project.fire("PreAbilityCall", ability_id="x")
        assert fired.denied
        assert [call.outcome for call in fired.calls] == ["not_started"]

    def test_a_hook_that_lost_its_execute_bit_keeps_its_place(
        self, samuel_project: SamuelProject, sh: Script
    ) -> None:
        samuel_project.config('[hooks.PreAbilityCall]\nhandlers = [{ use = "guard", strict = true }]')
        file = samuel_project.hook("guard", sh("PreAbilityCall", """echo '{"decision": "allow"}'"""))
        assert not samuel_project.fire("PreAbilityCall", ability_id="x").denied
        file.chmod(0o644)
        samuel_project.trust()
        assert samuel_project.fire("PreAbilityCall", ability_id="x").denied
        samuel_project.config("[hooks.PreAbilityCall]\nstrict = true")
        assert samuel_project.fire("PreAbilityCall", ability_id="x").denied


class TestSamuelToml:
    def test_an_unknown_handler_in_samuel_toml_is_reported_with_its_line(
        self, samuel_project: SamuelProject, sh: Script
    ) -> None:
        samuel_project.hook("notify", sh("context.extra", ""))
        samuel_project.config('[hooks."context.extra"]\nstrict = true\nhandlers = ["default", "notfy"]\n')
        with samuel_project.open() as app:
            (warning,) = app.chains["context.extra"].warnings
        assert "samuel.toml:3: " in warning
        assert "did you mean `notify`?" in warning

    def test_a_distribution_that_is_not_installed_is_listed(self, samuel_project: SamuelProject) -> None:
        samuel_project.config('distributions = ["no-such-distribution"]')
        handler = hook_named(samuel_project, "no-such-distribution")
        assert handler.status is HandlerStatus.BROKEN
        assert "pip install no-such-distribution" in handler.reason

    def test_an_installed_distribution_must_be_trusted_before_it_runs(self, samuel_project: SamuelProject) -> None:
        samuel_project.config('distributions = ["pytest"]')  # any that is there, with no hooks in it
        assert "no entry point in the group `samuel.hooks`" in hook_named(samuel_project, "pytest").reason


class TestDisablingAGuard:
    """A guard that worked does not leave its chain because a file was put beside it, or because it was renamed."""

    GUARD = '#!/bin/sh\n[ "$1" = hook ] && echo PreAbilityCall\nexit 0\n'

    def test_a_guard_disabled_by_a_file_beside_it_denies_until_that_is_trusted(
        self, samuel_project: SamuelProject
    ) -> None:
        guard = samuel_project.hook("guard", self.GUARD)
        assert hook_named(samuel_project, "guard").status is HandlerStatus.ACTIVE
        guard.with_name("guard.disable").touch()
        assert (hook_named(samuel_project, "guard").event, hook_named(samuel_project, "guard").status) == (
            "PreAbilityCall",
            HandlerStatus.UNTRUSTED,
        )
        samuel_project.trust()
        assert hook_named(samuel_project, "guard").status is HandlerStatus.DISABLED

    def test_a_guard_disabled_by_renaming_denies_until_that_is_trusted(
        self, samuel_project: SamuelProject
    ) -> None:
        guard = samuel_project.hook("guard", self.GUARD)
        assert hook_named(samuel_project, "guard").status is HandlerStatus.ACTIVE
        guard.rename(guard.with_name("guard.disable"))
        refused = hook_named(samuel_project, "guard")
        assert (refused.event, refused.status) == ("PreAbilityCall", HandlerStatus.UNTRUSTED)
        samuel_project.trust()
        assert hook_named(samuel_project, "guard").status is HandlerStatus.DISABLED

    def test_a_removed_guard_denies_until_that_is_trusted(self, samuel_project: SamuelProject) -> None:
        guard = samuel_project.hook("guard", self.GUARD)
        assert hook_named(samuel_project, "guard").status is HandlerStatus.ACTIVE
        guard.unlink()
        missing = hook_named(samuel_project, "guard")
        assert (missing.event, missing.status) == ("PreAbilityCall", HandlerStatus.BROKEN)
        assert "is gone" in missing.reason
        samuel_project.trust()
        assert hooks_of(samuel_project) == []


@pytest.mark.parametrize("user", [False, True], ids=["project", "user"])
def test_a_hook_file_with_a_name_that_is_not_utf8_is_listed_as_broken(
    samuel_project: SamuelProject, sh: Script, user: bool
) -> None:
    where = (samuel_project.user.home if user else samuel_project.root) / ".samuel/hooks"
    samuel_project.hook("good", sh("SessionStart", ""), where=where)
    samuel_project.hook(os.fsdecode(b"bad\xff"), sh("SessionStart", ""), where=where)
    bad = hook_named(samuel_project, "bad\\udcff")
    assert bad.status is (HandlerStatus.BROKEN if user else HandlerStatus.UNTRUSTED)
    assert hook_named(samuel_project, "good").status is (HandlerStatus.ACTIVE if user else HandlerStatus.UNTRUSTED)


def test_a_project_in_a_home_behind_a_link_has_one_set_of_hooks(
    samuel_project: SamuelProject, sh: Script, tmp_path: Path
) -> None:
    samuel_project.hook("mine", sh("SessionStart", ""))
    (tmp_path / "link").symlink_to(samuel_project.root)
    with samuel_project.open(user=replace(samuel_project.user, home=tmp_path / "link")) as app:
        assert [handler.origin for handler in app.handlers if handler.name == "mine"] == [Origin.PROJECT]

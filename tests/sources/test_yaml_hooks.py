"""YAML hooks in a project: found, agreed to, run, filtered, refused in their place when they change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.length import at_length

from samuel.base.errors import UnsafePath
from samuel.dispatch.record import Fired
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Outcome
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.sources.yaml_cache import YamlHookCache
from samuel.sources.yaml_hooks import files
from samuel.testing import Recorder, SamuelProject

SCRIPT = "#!/bin/sh\ncat > seen.json\necho '{answer}'\n"


class Yaml:
    """Writes YAML hooks and their scripts into a project."""

    def __init__(self, project: SamuelProject) -> None:
        self.project = project

    def hook(
        self, id: str = "h", event: str = "PostAbilityCall", more: str = "", *, answer: str = "{}", file: str = ""
    ) -> Path:
        """A hook whose script keeps its input in seen.json and prints `answer`."""
        self.script(f"scripts/hooks/{id}.sh", SCRIPT.replace("{answer}", answer))
        handler = f"handler:\n  kind: script\n  command: ./scripts/hooks/{id}.sh\n"
        return self.file(file or f"{id}.yaml", f"id: {id}\nevent_type: {event}\n{handler}{dedent(more)}")

    def file(self, name: str, text: str) -> Path:
        path = self.project.root / ".system/hooks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def script(self, name: str, text: str, mode: int = 0o755) -> Path:
        path = self.project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def handlers(self, **options: Any) -> dict[str, Handler]:
        with self.project.open(**options) as app:
            return {yaml_handler.file: yaml_handler for yaml_handler in app.handlers if yaml_handler.file}

    def only_handler(self, **options: Any) -> Handler:
        (handler,) = self.handlers(**options).values()
        return handler

    def fire(self, **fields: Any) -> Fired:
        return self.project.fire("PostAbilityCall", **{"ability_id": "a", "status": "success", **fields})

    def guard(self, **fields: Any) -> Fired:
        return self.project.fire("PreAbilityCall", **{"ability_id": "a", **fields})

    def context(self) -> dict[str, Any]:
        text: dict[str, Any] = json.loads((self.project.root / "seen.json").read_text())
        return text


@pytest.fixture
def yaml(samuel_project: SamuelProject) -> Yaml:
    return Yaml(samuel_project)


class TestRunning:
    def test_a_script_gets_the_flat_context_and_its_result_counts(self, yaml: Yaml) -> None:
        yaml.hook(answer='{"usage_recorded": true, "unknown": [1]}')
        yaml.project.trust()
        fired = yaml.fire(session_id="s", stage="act", extra={"cli_command": "make", "event": "no", "stage": "no"})
        assert fired.result == {"usage_recorded": True, "unknown": [1]}
        context = yaml.context()
        assert context["event_type"] == context["event"] == "PostAbilityCall"
        assert context["repository_root"] == context["project_root"] == str(yaml.project.root)
        assert (context["session_id"], context["stage"]) == ("s", "act")
        assert context["cli_command"] == "make"  # what the caller said besides, and never over what we say
        assert "extra" not in context

    def test_a_yaml_script_without_a_session_gets_an_empty_session_id(self, yaml: Yaml) -> None:
        yaml.hook()
        yaml.project.trust()
        yaml.fire()
        assert yaml.context()["session_id"] == ""

    def test_arguments_of_a_yaml_script_are_passed_without_a_shell(self, yaml: Yaml) -> None:
        yaml.script("scripts/args.sh", '#!/bin/sh\nprintf "%s|" "$@" > args\n')
        yaml.file(
            "h.yaml",
            """
            id: h
            event_type: PostAbilityCall
            handler: {kind: script, command: "./scripts/args.sh 'a b' $HOME ; touch hacked"}
            """,
        )
        yaml.project.trust()
        assert yaml.fire().ok
        assert (yaml.project.root / "args").read_text() == "a b|$HOME|;|touch|hacked|"
        assert not (yaml.project.root / "hacked").exists()

    def test_a_yaml_script_with_shell_runs_in_a_shell(self, yaml: Yaml) -> None:
        yaml.file(
            "h.yaml",
            """
            id: h
            event_type: PostAbilityCall
            handler: {kind: script, shell: true, command: "cat > /dev/null; echo '{\\"a\\": 1}' | cat"}
            """,
        )
        yaml.project.trust()
        assert yaml.fire().result == {"a": 1}

    def test_a_yaml_hook_may_run_a_program_of_the_path(self, yaml: Yaml) -> None:
        yaml.script("tools/h.sh", """echo '{"a": 1}'""", 0o644)
        handler = "handler: {kind: script, command: [sh, tools/h.sh]}"
        yaml.file("h.yaml", f"id: h\nevent_type: PostAbilityCall\n{handler}\n")
        yaml.project.trust()
        assert yaml.fire().result == {"a": 1}

    def test_a_yaml_hook_whose_program_is_missing_fails(self, yaml: Yaml) -> None:
        yaml.file(
            "h.yaml", "id: h\nevent_type: PostAbilityCall\nhandler: {kind: script, command: no-such-thing}\n"
        )
        yaml.project.trust()
        (call,) = yaml.fire().calls
        assert call.outcome is Outcome.NOT_STARTED
        assert call.message.startswith("`no-such-thing` was not found on PATH")

    @pytest.mark.parametrize("function", ["tools/h.py:run", "tools.h:run"])
    def test_a_python_function_of_a_yaml_hook_runs_in_a_worker(self, yaml: Yaml, function: str) -> None:
        text = "import os\n\ndef run(event):\n    return {'who': event.ability_id, 'pid': os.getpid()}\n"
        yaml.script("tools/h.py", text, 0o644)
        yaml.file(
            "h.yaml", f"id: h\nevent_type: PostAbilityCall\nhandler: {{kind: python, function: '{function}'}}\n"
        )
        assert yaml.fire().calls[0].outcome is Outcome.REFUSED
        yaml.project.trust()
        result = yaml.fire().result
        assert result["who"] == "a"
        assert result["pid"] != os.getpid()
        (yaml.project.root / "tools/h.py").write_text(f"{text}\n# changed\n")
        assert yaml.fire().calls[0].outcome is Outcome.REFUSED

    def test_a_yaml_hook_may_call_an_installed_module(self, yaml: Yaml) -> None:
        function = "json:loads"  # not of much use as a hook, but surely there
        yaml.file(
            "h.yaml", f"id: h\nevent_type: PostAbilityCall\nhandler: {{kind: python, function: '{function}'}}\n"
        )
        yaml.project.trust()
        (call,) = yaml.fire().calls
        assert call.outcome is Outcome.CRASHED
        assert "TypeError: the JSON object must be str" in call.message

    def test_a_yaml_hook_with_an_unknown_builtin_is_broken(self, yaml: Yaml) -> None:
        yaml.file("h.yaml", "id: h\nevent_type: PostAbilityCall\nhandler: {kind: builtin, name: policy_gard}\n")
        yaml.project.trust()
        handler = yaml.only_handler()
        assert handler.status is HandlerStatus.BROKEN
        assert (
            "`policy_gard` is not a hook that comes with Samuel (did you mean `policy_guard`?)" in handler.reason
        )

    def test_a_yaml_hook_may_have_several_events(self, yaml: Yaml) -> None:
        yaml.hook(event="[PostAbilityCall, turn_end]", answer='{"a": 1}')
        yaml.project.trust()
        assert yaml.fire().result == {"a": 1}
        assert yaml.project.fire("TurnEnd", response="x", turn_number=1).result == {"a": 1}

    def test_a_yaml_hook_may_handle_an_event_of_the_loop(self, yaml: Yaml) -> None:
        yaml.hook(event="context.extra", answer='{"extras": [{"name": "a", "content": "b"}]}')
        yaml.project.trust()
        fired = yaml.project.fire("context.extra", task={"id": "1"})
        assert fired.result["extras"] == [{"name": "a", "content": "b"}]
        assert yaml.context()["task"] == {"id": "1"}

    def test_the_timeout_of_a_yaml_hook_ends_it(self, yaml: Yaml) -> None:
        yaml.hook(more="timeout: 50ms\n")
        yaml.script("scripts/hooks/h.sh", "#!/bin/sh\nsleep 60\n")
        yaml.project.trust()
        (call,) = yaml.fire().calls
        assert (call.outcome, call.message) == (Outcome.TIMED_OUT, "killed after 0.05s")

    def test_samuel_toml_overrides_the_order_of_a_yaml_hook(self, yaml: Yaml) -> None:
        for id, order in (("a", 300), ("b", 100), ("c", 200)):
            yaml.hook(id, more=f"order: {order}\n")
        yaml.project.trust()
        assert [call.handler.name for call in yaml.fire().calls] == ["b", "c", "a"]
        yaml.project.config("[hooks.PostAbilityCall]\nhandlers = ['a', 'b']\n")
        assert [call.handler.name for call in yaml.fire().calls] == ["a", "b"]

    def test_a_yaml_script_receives_a_prompt_of_a_megabyte(self, yaml: Yaml) -> None:
        yaml.hook(event="UserPromptSubmit", answer='{"messages_to_user": ["seen"]}')
        yaml.project.trust()
        message = "long — " * 130_000
        fired = yaml.project.fire("UserPromptSubmit", user_message=message)
        assert fired.result == {"messages_to_user": ["seen"]}
        assert yaml.context()["user_message"] == message


class TestMatching:
    def test_a_yaml_hook_that_does_not_match_is_not_called_and_not_recorded(self, yaml: Yaml) -> None:
        yaml.hook(more="match: {ability_id: 'billing_*', min_duration_ms: 100}\n")
        yaml.project.trust()
        context = Recorder()
        with yaml.project.open(sinks=[context]) as app:
            app.fire("PostAbilityCall", ability_id="other", status="success", duration_ms=500)
            app.fire("PostAbilityCall", ability_id="billing_x", status="success", duration_ms=50)
            assert context.calls == []
            app.fire("PostAbilityCall", ability_id="billing_x", status="success", duration_ms=500)
            assert [call.handler.name for call in context.calls] == ["h"]

    def test_a_yaml_hook_can_match_changed_paths(self, yaml: Yaml) -> None:
        yaml.hook(
            event="SessionStop", more="match:\n  only_if_changed_paths: ['services/**']\n", answer='{"a": 1}'
        )
        yaml.project.trust()
        inside = str(yaml.project.root / "services/x")
        for changed, expected in ((["docs/x"], {}), (["services/x"], {"a": 1}), ([inside], {"a": 1}), ([], {})):
            assert yaml.project.fire("SessionStop", changed_files=changed).result == expected
        assert yaml.project.fire("SessionStop").result == {}

    def test_a_yaml_hook_can_match_the_scope_that_the_caller_sends(self, yaml: Yaml) -> None:
        yaml.hook(more="match: {ability_scope: payments}\n", answer='{"a": 1}')
        yaml.project.trust()
        assert yaml.fire().result == {}
        assert yaml.fire(extra={"ability_scope": ["payments"]}).result == {"a": 1}

    def test_a_yaml_guard_that_does_not_match_decides_nothing(self, yaml: Yaml) -> None:
        yaml.hook(event="PreAbilityCall", more="match: {ability_id: deploy}\n", answer='{"decision": "deny"}')
        yaml.project.trust()
        assert not yaml.guard().stopped
        assert yaml.guard(ability_id="deploy").denied


class TestVerdicts:
    @pytest.mark.parametrize(
        "answer", ['{"decision": "deny"}', '{"blocked": true}', '{"error": "blocked_by_policy"}']
    )
    @pytest.mark.parametrize("blocking", ["", "blocking: true\n"])
    def test_an_explicit_deny_of_a_yaml_hook_denies_with_or_without_blocking(
        self, yaml: Yaml, answer: str, blocking: str
    ) -> None:
        yaml.hook(event="PreAbilityCall", more=blocking, answer=answer)
        yaml.project.trust()
        assert yaml.guard().denied

    @pytest.mark.parametrize(
        "script",
        [
            "exit 3",
            "sleep 60",
            "echo not json",
            """echo '{"error": "the disk is full"}'""",
            """echo '{"messages_to_user": 7}'""",
        ],
        ids=["crash", "timeout", "bad output", "error", "wrong shape"],
    )
    @pytest.mark.parametrize("event", ["PreAbilityCall", "UserPromptSubmit", "SessionStop"])
    def test_a_failure_of_a_yaml_hook_denies_if_it_is_blocking_and_warns_otherwise(
        self, yaml: Yaml, script: str, event: str
    ) -> None:
        # samuel.toml cannot talk a blocking hook out of it
        yaml.project.config(f"[hooks.{event}]\nstrict = false\n")
        fields: Mapping[str, dict[str, Any]] = {
            "PreAbilityCall": {"ability_id": "a"},
            "UserPromptSubmit": {"user_message": "x"},
            "SessionStop": {},
        }
        for blocking in (False, True):
            yaml.hook(event=event, more=f"blocking: {str(blocking).lower()}\ntimeout: 500ms\n")
            yaml.script("scripts/hooks/h.sh", f"#!/bin/sh\n{script}\n")
            yaml.project.trust()
            fired = yaml.project.fire(event, **fields[event])
            assert fired.stopped is blocking
            assert fired.denied is (blocking and event != "SessionStop")
            assert len(fired.warnings) == 1

    def test_blocking_applies_only_to_its_own_hook(self, yaml: Yaml) -> None:
        yaml.hook("a", "PreAbilityCall", "blocking: true\n")
        yaml.hook("b", "PreAbilityCall")
        yaml.script("scripts/hooks/b.sh", "#!/bin/sh\nexit 1\n")
        yaml.project.trust()
        assert not yaml.guard().stopped


class TestEnvironments:
    def test_a_yaml_hook_of_another_environment_is_disabled(
        self, yaml: Yaml, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        yaml.hook(more="environments: [dev, staging]\n")
        yaml.project.trust()
        handler = yaml.only_handler()
        assert handler.status is HandlerStatus.DISABLED
        assert handler.reason.startswith("it is for `dev` and `staging`, and no environment is set")
        assert yaml.only_handler(environment="prod").reason.startswith(
            "it is for `dev` and `staging`, and this is `prod`"
        )
        assert yaml.only_handler(environment="dev").status is HandlerStatus.ACTIVE

        yaml.project.config('environment = "staging"\n')
        assert yaml.only_handler().status is HandlerStatus.ACTIVE
        monkeypatch.setenv("SAMUEL_ENV", "prod")
        assert yaml.only_handler().status is HandlerStatus.DISABLED
        assert yaml.only_handler(environment="dev").status is HandlerStatus.ACTIVE

    def test_a_disabled_yaml_hook_is_listed_and_does_not_run(self, yaml: Yaml) -> None:
        yaml.hook(more="enabled: false\n")
        yaml.project.trust()
        assert yaml.only_handler().status is HandlerStatus.DISABLED
        assert "samuel hooks enable h" in yaml.only_handler().reason
        assert yaml.fire().calls == ()


class TestProblems:
    def test_a_broken_yaml_hook_is_listed_and_hides_no_other(self, yaml: Yaml) -> None:
        yaml.hook("good", answer='{"a": 1}')
        yaml.file("bad.yaml", "id: bad\nevent_type: Nothing\n")
        yaml.file("tabs.yml", "id: x\n\tevent_type: y\n")
        yaml.file("not-a-hook.txt", "id: [")
        yaml.project.trust()
        handlers = yaml.handlers()
        assert handlers[".system/hooks/bad.yaml"].status is HandlerStatus.BROKEN
        assert ".system/hooks/bad.yaml:2: `Nothing` is not an event" in handlers[".system/hooks/bad.yaml"].reason
        assert handlers[".system/hooks/tabs.yml"].name == "tabs"
        assert yaml.fire().result == {"a": 1}

    @pytest.mark.parametrize(
        ("name", "make", "message"),
        [
            ("link.yaml", lambda path: path.symlink_to("good.yaml"), "it is a symbolic link"),
            ("pipe.yaml", os.mkfifo, "it is not a regular file"),
            ("large.yaml", lambda path: path.write_text("a" * 1_100_000), "it is larger than 1048576 bytes"),
            ("bytes.yaml", lambda path: path.write_bytes(b"\xff\xfe"), "it is not UTF-8"),
            ("empty.yaml", lambda path: path.touch(), "`event_type` is missing"),
        ],
    )
    def test_a_yaml_hook_that_is_not_a_readable_file_is_broken(
        self, yaml: Yaml, name: str, make: Callable[[Path], object], message: str
    ) -> None:
        yaml.hook("good")
        make(yaml.project.root / ".system/hooks" / name)
        yaml.project.trust()
        handler = yaml.handlers()[f".system/hooks/{name}"]
        assert handler.status is HandlerStatus.BROKEN
        assert message in handler.reason
        assert yaml.fire().calls[0].outcome is Outcome.OK

    def test_a_yaml_hook_with_a_name_that_is_not_utf8_is_broken(self, yaml: Yaml) -> None:
        yaml.hook("good")
        directory = os.fsencode(yaml.project.root / ".system/hooks")
        with open(os.path.join(directory, b"\xff.yaml"), "wb") as file:
            file.write(b"id: x\n")
        (odd,) = [yaml_handler for yaml_handler in yaml.handlers().values() if yaml_handler.name != "good"]
        assert odd.status is HandlerStatus.BROKEN

    def test_a_yaml_hook_directory_that_is_a_link_is_refused(self, yaml: Yaml, tmp_path: Path) -> None:
        yaml.hook()
        (yaml.project.root / ".system").rename(tmp_path / "elsewhere")
        (yaml.project.root / ".system").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UnsafePath, match="symbolic link"):
            yaml.project.open()

    def test_the_second_yaml_hook_with_the_same_id_is_broken(self, yaml: Yaml) -> None:
        yaml.hook("h", answer='{"a": 1}')
        yaml.project.trust()
        # It comes first by name, but it was not agreed to.
        yaml.hook("h", answer='{"a": 1}', file="a.yaml", more="blocking: true\n")
        handlers = yaml.handlers()
        assert handlers[".system/hooks/h.yaml"].status is HandlerStatus.ACTIVE
        assert handlers[".system/hooks/a.yaml"].status is HandlerStatus.BROKEN
        assert "has the id `h` too" in handlers[".system/hooks/a.yaml"].reason
        yaml.project.trust()
        handlers = yaml.handlers()
        assert handlers[".system/hooks/a.yaml"].status is HandlerStatus.ACTIVE
        assert handlers[".system/hooks/h.yaml"].status is HandlerStatus.BROKEN
        outcomes = [(call.handler.file, call.outcome) for call in yaml.fire().calls]
        assert (".system/hooks/h.yaml", Outcome.NOT_STARTED) in outcomes  # it worked once: it keeps its place

    def test_a_yaml_hook_whose_script_is_missing_or_not_executable_is_broken(self, yaml: Yaml) -> None:
        yaml.hook()
        script = yaml.project.root / "scripts/hooks/h.sh"
        script.chmod(0o644)
        yaml.project.trust()
        assert yaml.only_handler().reason == f"`{script}` is not executable; `chmod +x {script}`"
        script.unlink()
        yaml.project.trust()
        assert yaml.only_handler().reason == f"`{script}` does not exist"

    def test_of_one_name_hook_files_of_samuel_come_first_then_yaml_hooks_then_kodelet(
        self, yaml: Yaml, sh: Callable[[str, str], str]
    ) -> None:
        """`.samuel/hooks/` comes first, `.kodelet/hooks/` last."""
        yaml.hook("one", answer='{"from": "yaml"}')
        kodelet = yaml.project.root / ".kodelet/hooks"
        yaml.project.hook("one", sh("PostAbilityCall", """echo '{"from": "kodelet"}'"""), where=kodelet)
        assert yaml.fire().result == {"from": "yaml"}
        yaml.project.hook("one", sh("PostAbilityCall", """echo '{"from": "file"}'"""))
        assert yaml.fire().result == {"from": "file"}
        assert yaml.only_handler().status is HandlerStatus.SHADOWED


class TestTrust:
    def test_an_untrusted_yaml_hook_does_not_run(self, yaml: Yaml) -> None:
        yaml.hook()
        (call,) = yaml.fire().calls
        assert call.outcome is Outcome.REFUSED
        assert "`.system/hooks/h.yaml` has not been agreed to yet" in call.message
        assert not (yaml.project.root / "seen.json").exists()

    def test_trusting_a_yaml_hook_includes_its_scripts_and_the_files_beside_them(self, yaml: Yaml) -> None:
        yaml.hook("a")
        yaml.script("scripts/hooks/lib/helper.sh", "true")
        yaml.script("check.sh", "#!/bin/sh\n")
        yaml.script("beside.sh", "#!/bin/sh\n")
        yaml.file("b.yaml", "id: b\nevent_type: TurnEnd\nhandler: {kind: script, command: ./check.sh}\n")
        yaml.script("tools/x.py", "")
        yaml.file(
            "c.yaml", "id: c\nevent_type: TurnEnd\nhandler: {kind: script, command: python3 tools/x.py -v}\n"
        )
        assert [name for name, _ in files(yaml.project.root, SHIPPED_HOOKS)] == [
            ".system/hooks/a.yaml",
            ".system/hooks/b.yaml",
            ".system/hooks/c.yaml",
            "check.sh",  # in the root: the script alone
            "scripts/hooks/a.sh",
            "scripts/hooks/lib/helper.sh",
            "tools/x.py",
        ]

    @pytest.mark.parametrize("more", ["", ", shell: true"])
    @pytest.mark.parametrize(
        "command",
        [
            "./tools/run tools/given.sh",
            "sh tools/given.sh",
            "env FILE=tools/given.sh sh -c 'exec sh $FILE'",
            "sh -c 'test $# = 0 && sh tools/given.sh'",
        ],
    )
    def test_files_in_the_arguments_of_a_program_must_be_trusted(
        self, yaml: Yaml, command: str, more: str
    ) -> None:
        self.agreed_to(yaml, f"{json.dumps(command)}{more}")

    @pytest.mark.parametrize(
        "words",
        [
            "[sh, -c, 'set -e; exec sh tools/given.sh']",
            "[./tools/run, -c, 'sh \"tools/given.sh\"']",
            "[sh, -c, 'exec sh \"lib dir/given.sh\"']",
        ],
    )
    def test_files_in_a_command_given_as_a_list_must_be_trusted(self, yaml: Yaml, words: str) -> None:
        self.agreed_to(yaml, words)

    def test_a_project_module_after_dash_m_must_be_trusted(self, yaml: Yaml) -> None:
        yaml.script("tools/given.py", "open('ran', 'w')\n")
        python = json.dumps([sys.executable, "-m", "tools.given"])
        yaml.file("h.yaml", f"id: h\nevent_type: PostAbilityCall\nhandler: {{kind: script, command: {python}}}\n")
        yaml.project.trust()
        assert yaml.fire().calls[0].outcome is Outcome.OK
        yaml.script("tools/given.py", "open('hacked', 'w')\n")
        assert yaml.fire().calls[0].outcome is Outcome.REFUSED

    def agreed_to(self, yaml: Yaml, command: str) -> None:
        yaml.script("tools/run", '#!/bin/sh\nexec sh "$@"\n')
        for place in ("tools", "lib dir"):
            yaml.script(f"{place}/given.sh", "touch ran\n")
        handler = f"handler: {{kind: script, command: {command}}}"
        yaml.file("h.yaml", f"id: h\nevent_type: PostAbilityCall\n{handler}\n")
        yaml.project.trust()
        assert yaml.fire().calls[0].outcome is Outcome.OK
        assert (yaml.project.root / "ran").exists()
        for place in ("tools", "lib dir"):
            yaml.script(f"{place}/given.sh", "touch hacked\n")
        assert yaml.fire().calls[0].outcome is Outcome.REFUSED
        assert not (yaml.project.root / "hacked").exists()

    @pytest.mark.parametrize(
        "change",
        [
            lambda root: (root / "scripts/hooks/h.sh").write_text("#!/bin/sh\ntouch hacked\n"),
            lambda root: (root / "scripts/hooks/new").write_text(""),
            lambda root: (root / ".system/hooks/h.yaml").write_text(
                (root / ".system/hooks/h.yaml").read_text() + "timeout: 5s\n"
            ),
            lambda root: (root / ".system/hooks/h.yaml").write_text(
                (root / ".system/hooks/h.yaml").read_text() + "enabled: false\n"
            ),
            lambda root: (root / ".system/hooks/h.yaml").write_text(
                (root / ".system/hooks/h.yaml").read_text().replace("PreAbilityCall", "TurnEnd")
            ),
            lambda root: (root / ".system/hooks/h.yaml").write_text("id: [\n"),
            lambda root: (root / ".system/hooks/h.yaml").unlink(),
        ],
        ids=["script", "beside", "yaml", "switched off", "another event", "broken", "gone"],
    )
    @pytest.mark.parametrize("how", ["blocking: true\n", "role: guard\n"])
    def test_a_yaml_hook_that_was_tampered_with_is_refused_in_its_place(
        self, yaml: Yaml, change: Callable[[Path], object], how: str
    ) -> None:
        yaml.hook(event="PreAbilityCall", more=how + "match: {ability_id: 'a*'}\n")
        yaml.project.trust()
        assert not yaml.guard().stopped
        change(yaml.project.root)
        fired = yaml.guard()
        assert fired.denied
        assert fired.calls[0].outcome in (Outcome.REFUSED, Outcome.NOT_STARTED)
        assert not yaml.guard(ability_id="other").stopped  # its place is where its filters put it
        assert not (yaml.project.root / "hacked").exists()

    def test_a_changed_yaml_hook_works_again_once_trusted(self, yaml: Yaml) -> None:
        yaml.hook()
        yaml.project.trust()
        yaml.fire()
        yaml.hook(more="enabled: false\n")
        assert yaml.only_handler().status is HandlerStatus.UNTRUSTED
        yaml.project.trust()
        assert yaml.only_handler().status is HandlerStatus.DISABLED
        (yaml.project.root / ".system/hooks/h.yaml").unlink()
        yaml.project.trust()
        assert yaml.handlers() == {}

    def test_a_script_that_changes_while_the_project_is_open_is_refused(self, yaml: Yaml) -> None:
        yaml.hook()
        yaml.project.trust()
        with yaml.project.open() as app:
            fields = {"ability_id": "a", "status": "success"}
            assert app.fire("PostAbilityCall", **fields).calls[0].outcome is Outcome.OK
            yaml.script("scripts/hooks/h.sh", "#!/bin/sh\ntouch hacked\n")
            assert app.fire("PostAbilityCall", **fields).calls[0].outcome is Outcome.REFUSED

    def test_a_file_named_by_an_argument_and_created_later_must_be_trusted(self, yaml: Yaml) -> None:
        yaml.file("h.yaml", "id: h\nevent_type: PostAbilityCall\nhandler: {kind: script, command: sh late.sh}\n")
        yaml.project.trust()
        assert yaml.fire().calls[0].outcome is Outcome.CRASHED  # it is not there
        yaml.script("late.sh", "touch hacked\n")
        assert yaml.fire().calls[0].outcome is Outcome.REFUSED
        assert not (yaml.project.root / "hacked").exists()

    def test_arguments_that_are_not_files_need_no_trust(self, yaml: Yaml) -> None:
        (yaml.project.root / "src").mkdir()
        yaml.file(
            "h.yaml",
            "id: h\nevent_type: PostAbilityCall\n"
            "handler: {kind: script, command: true src src/ example.com/path 1.5 -x --y=z}\n",
        )
        yaml.project.trust()
        assert yaml.fire().calls[0].outcome is Outcome.OK
        assert [name for name, _ in files(yaml.project.root, SHIPPED_HOOKS)] == [".system/hooks/h.yaml"]


class TestKnown:
    def test_pyyaml_is_not_imported_while_no_file_changes(self, yaml: Yaml) -> None:
        yaml.hook()
        yaml.project.trust()
        yaml.handlers()
        code = (
            "import sys, samuel\n"
            f"from samuel.base.paths import User\n"
            f"app = samuel.open({str(yaml.project.root)!r})\n"
            "print([one.file for one in app.handlers if one.file], 'yaml' in sys.modules)\n"
        )
        env = {**os.environ, "HOME": str(yaml.project.user.home)}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert done.stdout == "['.system/hooks/h.yaml'] False\n"

    def test_only_changed_yaml_files_are_parsed_again(self, yaml: Yaml, tmp_path: Path) -> None:
        first, second = yaml.hook("a"), yaml.hook("b")
        store = tmp_path / "known"
        before = {read.file: read for read in YamlHookCache(SHIPPED_HOOKS, store).look(yaml.project.root)}
        second.write_text("id: [\n")
        first.chmod(0o000)  # it could not be read, were it read again
        first.chmod(0o644)
        os.utime(first, ns=(1, 1))
        after = {read.file: read for read in YamlHookCache(SHIPPED_HOOKS, store).look(yaml.project.root)}
        assert after[".system/hooks/b.yaml"].hook is None
        assert after[".system/hooks/a.yaml"].hook == before[".system/hooks/a.yaml"].hook

    @pytest.mark.parametrize("content", [b"", b"\xc1", b"[]", b"\x81\xa5files\x01"])
    def test_a_damaged_cache_of_yaml_hooks_is_ignored(self, yaml: Yaml, tmp_path: Path, content: bytes) -> None:
        yaml.hook()
        store = tmp_path / "known"
        store.write_bytes(content)
        (read,) = YamlHookCache(SHIPPED_HOOKS, store).look(yaml.project.root)
        assert read.hook is not None

    @pytest.mark.slow
    def test_thousands_of_hooks_are_read_and_only_the_one_that_matches_is_called(self, yaml: Yaml) -> None:
        many = at_length(1_000, 5_000)
        yaml.script("scripts/hooks/h.sh", "#!/bin/sh\necho '{\"a\": 1}'\n")
        handler = "handler: {kind: script, command: ./scripts/hooks/h.sh}\n"
        for number in range(many):
            match = f"match: {{ability_id: ability_{number}}}\n"
            yaml.file(f"h{number}.yaml", f"id: h{number}\nevent_type: PostAbilityCall\n{match}{handler}")
        yaml.project.trust()
        for _ in range(2):  # read, and then remembered
            with yaml.project.open() as app:
                mine = [yaml_handler for yaml_handler in app.handlers if yaml_handler.origin is Origin.PROJECT]
                assert len(mine) == many
                assert {yaml_handler.status for yaml_handler in mine} == {HandlerStatus.ACTIVE}
                fired = app.fire("PostAbilityCall", ability_id="ability_711", status="success")
                assert [call.handler.name for call in fired.calls] == ["h711"]
                assert fired.result == {"a": 1}


class TestObserved:
    DENY = '{"decision": "deny", "reason": "no"}'

    def test_an_observed_yaml_guard_denies_nothing_even_if_it_is_blocking(self, yaml: Yaml) -> None:
        yaml.hook(event="PreAbilityCall", more="mode: observe\nblocking: true\n", answer=self.DENY)
        yaml.project.trust()
        fired = yaml.guard()
        assert fired.ok
        assert [call.would and call.would.verdict for call in fired.calls] == ["deny"]

    def test_a_trusted_guard_that_is_changed_to_observe_denies_until_that_is_trusted(self, yaml: Yaml) -> None:
        yaml.hook(event="PreAbilityCall", more="role: guard\n", answer="{}")
        yaml.project.trust()
        assert yaml.guard().ok
        yaml.hook(event="PreAbilityCall", more="role: guard\nmode: observe\n", answer="{}")
        assert yaml.guard().denied
        yaml.project.trust()
        assert yaml.guard().ok

    def test_the_mode_of_a_file_that_nobody_agreed_to_does_not_count(self, yaml: Yaml) -> None:
        yaml.hook(event="PreAbilityCall", more="role: guard\nmode: observe\n")
        assert yaml.only_handler().mode == "enforce"
        assert yaml.guard().denied


class TestNoGuard:
    """A hook that is no guard and never was one costs a warning where it cannot run, and denies nothing."""

    PROMPT = "UserPromptSubmit"

    def prompt(self, yaml: Yaml) -> Fired:
        return yaml.project.fire(self.PROMPT, user_message="hello")

    @pytest.mark.parametrize("state", ["untrusted", "not executable", "missing", "changed", "gone"])
    def test_a_yaml_hook_that_is_no_guard_and_cannot_run_lets_the_prompt_through(
        self, yaml: Yaml, state: str
    ) -> None:
        file = yaml.hook(event=self.PROMPT, answer='{"suggested_abilities": [{"id": "x"}]}')
        script = yaml.project.root / "scripts/hooks/h.sh"
        if state != "untrusted":
            yaml.project.trust()
            assert self.prompt(yaml).result["suggested_abilities"]
        match state:
            case "not executable":
                script.chmod(0o644)
                yaml.project.trust()
            case "missing":
                script.unlink()
                yaml.project.trust()
            case "changed":
                script.write_text("#!/bin/sh\n")
            case "gone":
                file.unlink()
        fired = self.prompt(yaml)
        assert (fired.ok, fired.denied) == (True, False)
        (warning,) = fired.warnings
        assert warning.endswith("; the prompt is sent, because `h` is not a guard")

    @pytest.mark.parametrize("guard", ["role: guard\n", "blocking: true\n"])
    def test_a_yaml_guard_that_cannot_run_denies(self, yaml: Yaml, guard: str) -> None:
        yaml.hook(event=self.PROMPT, more=guard)
        assert self.prompt(yaml).denied

    def test_a_yaml_hook_that_once_denied_is_a_guard_from_then_on(self, yaml: Yaml) -> None:
        yaml.hook(event="PreAbilityCall", answer='{"decision": "deny", "reason": "no"}')
        yaml.project.trust()
        assert yaml.guard().reason == "no"
        (yaml.project.root / "scripts/hooks/h.sh").write_text("#!/bin/sh\n")
        fired = yaml.guard()
        assert fired.denied
        assert "a guard that cannot run denies" in fired.reason

    def test_a_hook_that_denies_while_the_project_is_open_is_a_guard_at_once(self, yaml: Yaml) -> None:
        yaml.hook(event="PreAbilityCall", answer='{"decision": "deny", "reason": "no"}')
        yaml.project.trust()
        with yaml.project.open() as app:
            assert app.fire("PreAbilityCall", ability_id="a").reason == "no"
            (yaml.project.root / "scripts/hooks/h.sh").write_text("#!/bin/sh\n")
            assert "a guard that cannot run denies" in app.fire("PreAbilityCall", ability_id="a").reason

    def test_a_yaml_hook_that_is_a_guard_only_in_its_new_version_denies_until_that_is_trusted(
        self, yaml: Yaml
    ) -> None:
        yaml.hook(event=self.PROMPT)
        yaml.project.trust()
        assert self.prompt(yaml).ok
        yaml.hook(event=self.PROMPT, more="role: guard\n")
        assert self.prompt(yaml).denied
        yaml.project.trust()
        assert self.prompt(yaml).ok

    def test_a_yaml_guard_whose_new_version_is_none_denies_until_that_is_trusted(self, yaml: Yaml) -> None:
        yaml.hook(event=self.PROMPT, more="role: guard\n")
        yaml.project.trust()
        assert self.prompt(yaml).ok
        yaml.hook(event=self.PROMPT)
        assert self.prompt(yaml).denied
        yaml.project.trust()
        assert self.prompt(yaml).ok

    def test_a_yaml_file_that_cannot_be_read_any_more_denies(self, yaml: Yaml) -> None:
        file = yaml.hook(event=self.PROMPT)
        yaml.project.trust()
        assert self.prompt(yaml).ok
        file.write_text("id: [")
        assert self.prompt(yaml).denied

    def test_a_yaml_hook_that_samuel_toml_makes_strict_denies(self, yaml: Yaml) -> None:
        yaml.hook(event=self.PROMPT)
        yaml.project.config("[hooks.UserPromptSubmit]\nstrict = true\n")
        assert self.prompt(yaml).denied

    @pytest.mark.parametrize(
        "handler",
        [
            "handler: {kind: builtin, name: policy_guard}\n",
            "handler: {kind: script, command: ./s.sh, protocol: claude/PreToolUse}\n",
        ],
        ids=["policy_guard", "written for an agent"],
    )
    def test_a_yaml_hook_that_denies_by_its_nature_is_a_guard_without_a_role(
        self, yaml: Yaml, handler: str
    ) -> None:
        yaml.file("h.yaml", f"id: h\nevent_type: PreAbilityCall\n{handler}")
        assert yaml.guard().denied

    def test_a_hook_of_the_project_around_denies_only_if_it_is_a_guard_or_once_denied(self, yaml: Yaml) -> None:
        inner = SamuelProject(yaml.project.root / "sub")
        inner.user = yaml.project.user
        yaml.hook(event="PreAbilityCall", answer='{"decision": "deny", "reason": "no"}')
        yaml.hook("other", event="PreAbilityCall")
        yaml.project.trust()
        assert "no" in inner.fire("PreAbilityCall", ability_id="a").reason
        for name in ("h", "other"):
            (yaml.project.root / f"scripts/hooks/{name}.sh").chmod(0o644)
        yaml.project.trust()
        assert "`h` not_started" in inner.fire("PreAbilityCall", ability_id="a").reason
        (yaml.project.root / ".system/hooks/h.yaml").unlink()
        yaml.project.trust()
        assert inner.fire("PreAbilityCall", ability_id="a").ok

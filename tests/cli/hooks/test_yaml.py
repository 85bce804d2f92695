"""The commands for YAML hooks: register, validate, enable, disable, new --yaml; how list and explain show them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.events.names import ALL

HOOK = """\
# What it is for
id: {id}
event_type: {event}
enabled: true  # for now
{more}handler:
  kind: script
  command: ./scripts/hooks/h.sh
"""


@pytest.fixture
def hook(put: Callable[..., Path]) -> Callable[..., Path]:
    put("scripts/hooks/h.sh", "#!/bin/sh\n", 0o755)

    def write(id: str = "h", event: str = "PostAbilityCall", more: str = "") -> Path:
        return put(f".system/hooks/{id}.yaml", HOOK.format(id=id, event=event, more=more))

    return write


def entry(id: str, command: str = "./scripts/hooks/h.sh", kind: str = "script") -> dict[str, object]:
    return {"id": id, "handler": {"kind": kind, "command": command}}


def test_what_lies_in_the_wrong_place_is_named(samuel, hook, put) -> None:
    hook("h")
    samuel("trust", "--yes")
    for name in ("guards/deny.yaml", "deny.YAML", "README.md"):
        put(f".system/hooks/{name}", "id: deny\n")
    ran = samuel("hooks", "validate")
    warning = "`.system/hooks/{}` is not read: hooks are `.yaml` files right in .system/hooks/"
    assert (ran.code, ran.err.splitlines()) == (
        0,
        [f"warning: {warning.format(name)}" for name in ("deny.YAML", "guards")],
    )


class TestRegister:
    def test_hooks_register_prints_an_empty_object_without_yaml_hooks(self, samuel) -> None:
        assert samuel("hooks", "register") == (0, "{}\n", "")

    def test_grouped_in_the_order_of_events_and_chains_and_spelled_as_in_the_files(self, samuel, hook) -> None:
        hook("b", "session_stop")
        hook("a", "SessionStop")
        hook("z", "PreAbilityCall", "order: 10\n")
        hook("y", "PreAbilityCall")
        hook("both", "[PreAbilityCall, TurnEnd]")
        samuel("trust", "--yes")
        ran = samuel("hooks", "register")
        assert (ran.code, ran.err) == (0, "")
        assert ran.json == {
            "PreAbilityCall": [entry("z"), entry("both"), entry("y")],
            "TurnEnd": [entry("both")],
            "SessionStop": [entry("a")],
            "session_stop": [entry("b")],
        }
        assert list(ran.json) == ["PreAbilityCall", "TurnEnd", "SessionStop", "session_stop"]

    def test_hooks_register_prints_a_command_for_every_kind_of_hook(self, samuel, put) -> None:
        kinds = {
            "list": ("{kind: script, command: [./a, 'b c']}", "script", "./a 'b c'"),
            "python": ("{kind: python, file: tools/h.py, function: run}", "python", "tools/h.py:run"),
        }
        for id, (handler, _, _) in kinds.items():
            put(f".system/hooks/{id}.yaml", f"id: {id}\nevent_type: TurnEnd\nhandler: {handler}\n")
        row = samuel("hooks", "register").json["TurnEnd"]
        assert row == [entry(id, command, kind) for id, (_, kind, command) in kinds.items()]

    def test_of_two_with_one_id_the_one_that_runs(self, samuel, hook, put) -> None:
        hook("h")
        put(
            ".system/hooks/a.yaml",
            "id: h\nevent_type: TurnEnd\nhandler: {kind: script, command: ./not/there.sh}\n",
        )
        assert samuel("hooks", "register").json == {"PostAbilityCall": [entry("h")]}
        put(
            ".system/hooks/z.yaml",
            "id: h\nevent_type: TurnEnd\nhandler: {kind: script, command: ./scripts/hooks/h.sh}\n",
        )
        assert samuel("hooks", "register").json == {"PostAbilityCall": [entry("h")]}

    def test_environments_and_what_is_disabled(self, samuel, hook, put) -> None:
        hook("dev", more="environments: dev\n")
        hook("off").write_text(HOOK.format(id="off", event="TurnEnd", more="").replace("true", "false"))
        assert samuel("hooks", "register").json == {}
        assert samuel("hooks", "register", "--env", "dev").json == {"PostAbilityCall": [entry("dev")]}
        put("samuel.toml", 'environment = "dev"\n')
        assert samuel("hooks", "register").json == {"PostAbilityCall": [entry("dev")]}

    def test_what_is_wrong_or_not_trusted_is_said_on_stderr(self, samuel, hook, put) -> None:
        hook("good")
        put(".system/hooks/bad.yaml", "id: bad\n")
        ran = samuel("hooks", "register")
        assert (ran.code, ran.json) == (0, {"PostAbilityCall": [entry("good")]})
        assert "warning: `bad` is broken: .system/hooks/bad.yaml:1: `event_type` is missing" in ran.err
        assert "warning: `good` is untrusted" in ran.err

    def test_known_files_are_not_read_again(self, samuel, hook) -> None:
        hook()
        samuel("trust", "--yes")
        samuel("hooks", "register")
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "samuel", "hooks", "register"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout) == {"PostAbilityCall": [entry("h")]}
        assert " yaml\n" not in done.stderr


class TestValidate:
    def test_hooks_validate_says_when_there_is_no_yaml_hook(self, samuel) -> None:
        ran = samuel("hooks", "validate")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("there is no YAML hook: .system/hooks/*.yaml; ")

    def test_hooks_validate_lists_valid_yaml_hooks(self, samuel, hook) -> None:
        hook()
        samuel("trust", "--yes")
        assert samuel("hooks", "validate") == (
            0,
            "FILE                  ID  EVENTS           STATUS  REASON\n"
            ".system/hooks/h.yaml  h   PostAbilityCall  active  -\n",
            "",
        )

    def test_hooks_validate_reports_every_problem(self, samuel, hook, put) -> None:
        hook("missing").write_text(HOOK.format(id="missing", event="TurnEnd", more="").replace("h.sh", "x.sh"))
        put(".system/hooks/bad.yaml", "id: bad\nevent_type: Nothing\n\tx: y\n")
        samuel("trust", "--yes")
        ran = samuel("hooks", "validate")
        assert ran.code == 1
        assert ran.out == (
            "FILE                        ID       EVENTS   STATUS  REASON\n"
            ".system/hooks/bad.yaml      -        -        broken  1 problem, see below\n"
            ".system/hooks/missing.yaml  missing  TurnEnd  broken  1 problem, see below\n"
            "\n"
            ".system/hooks/bad.yaml:3: a tab where YAML wants spaces (indent with spaces)\n"
            ".system/hooks/missing.yaml: `PROJECT/scripts/hooks/x.sh` does not exist\n"
        )
        problems = [row["problems"] for row in samuel("hooks", "validate", "--json").json["data"]]
        assert [(problem["file"], problem["line"]) for (problem,) in problems] == [
            (".system/hooks/bad.yaml", 3),
            (".system/hooks/missing.yaml", 0),
        ]


class TestSwitching:
    def test_only_the_line_changes_and_it_stays_trusted(self, samuel, hook) -> None:
        file = hook()
        before = file.read_text()
        samuel("trust", "--yes")
        assert samuel("hooks", "disable", "h") == (0, "disabled `h` in .system/hooks/h.yaml\n", "")
        assert file.read_text() == before.replace("enabled: true  # for now", "enabled: false  # for now")
        assert "disabled" in samuel("hooks", "list", "--event", "PostAbilityCall").out
        assert samuel("trust", "--yes").out == "nothing is new or changed: there is nothing to trust\n"
        assert samuel("hooks", "enable", "h") == (0, "enabled `h` in .system/hooks/h.yaml\n", "")
        assert file.read_text() == before
        assert samuel("hooks", "list", "--event", "PostAbilityCall").out.count("active") == 1

    def test_enabling_an_enabled_yaml_hook_changes_nothing(self, samuel, hook) -> None:
        hook()
        assert samuel("hooks", "enable", "h").out == "`h` is enabled already\n"

    def test_what_was_not_trusted_stays_so(self, samuel, hook) -> None:
        hook()
        ran = samuel("hooks", "disable", "h")
        assert "`.system/hooks/h.yaml` is not trusted yet" in ran.err
        samuel("hooks", "enable", "h")
        assert "untrusted" in samuel("hooks", "list", "--event", "PostAbilityCall").out

    def test_what_else_is_in_it_is_not_agreed_to(self, samuel, hook) -> None:
        file = hook()
        samuel("trust", "--yes")
        file.write_text(file.read_text().replace("h.sh", "evil.sh"))
        samuel("hooks", "disable", "h")
        samuel("hooks", "enable", "h")
        assert "untrusted" in samuel("hooks", "list", "--event", "PostAbilityCall").out

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("id: h\nevent_type: TurnEnd\n", "id: h\nenabled: false\nevent_type: TurnEnd\n"),
            ("event_type: TurnEnd\r\nid: h\r\n", "event_type: TurnEnd\r\nid: h\r\nenabled: false\r\n"),
            ("enabled:   true#\nid: h#\n", None),
            ("enabled :  true\nid: h\nevent_type: TurnEnd\n", "enabled : false\nid: h\nevent_type: TurnEnd\n"),
            (
                "id: h\nevent_type: TurnEnd\nsummary: |\n  enabled: true\n",
                "id: h\nenabled: false\nevent_type: TurnEnd\nsummary: |\n  enabled: true\n",
            ),
        ],
    )
    def test_switching_a_yaml_hook_changes_only_its_enabled_line(
        self, samuel, put, before: str, after: str | None
    ) -> None:
        handler = "handler: {kind: script, command: 'true'}\n"
        file = put(".system/hooks/h.yaml", "")
        file.write_bytes((before + handler).encode())
        ran = samuel("hooks", "disable", "h")
        if after is None:
            assert ran.code != 0
        else:
            assert ran.code == 0
            assert file.read_bytes().decode() == after + handler

    def test_what_a_program_cannot_change(self, samuel, put) -> None:
        text = '{id: h, event_type: TurnEnd, handler: {kind: script, command: "true"}}\n'
        file = put(".system/hooks/h.yaml", text)
        ran = samuel("hooks", "disable", "h")
        assert (ran.code, file.read_text()) == (1, text)
        assert "write `enabled: false` in it" in ran.err

    def test_enabling_an_unknown_yaml_hook_is_refused(self, samuel, hook) -> None:
        hook("tracker")
        assert samuel("hooks", "disable", "traker").err == (
            "error: there is no YAML hook `traker`\ndid you mean `tracker`?\n"
        )

    def test_one_that_is_for_another_environment(self, samuel, hook) -> None:
        hook(more="environments: prod\n")
        samuel("hooks", "disable", "h")
        assert "`h` does not run here: it is for `prod`" in samuel("hooks", "enable", "h").err

    def test_yaml_hooks_cannot_be_switched_inside_a_run(
        self, samuel, hook, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = hook()
        monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
        ran = samuel("hooks", "disable", "h")
        assert ran.code == 1
        assert "enabled: true" in file.read_text()


class TestNew:
    @pytest.mark.parametrize(("lang", "ending"), [("bash", "sh"), ("python", "py")])
    def test_valid_trusted_and_runnable(self, samuel, project: Path, lang: str, ending: str) -> None:
        ran = samuel("hooks", "new", "slow_calls", "--event", "PostAbilityCall", "--yaml", "--lang", lang)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(
            f"wrote .system/hooks/slow_calls.yaml, scripts/hooks/slow_calls.{ending}, "
            "scripts/hooks/register_hooks.py for PostAbilityCall\n"
        )
        assert samuel("trust", "--yes").out == "nothing is new or changed: there is nothing to trust\n"
        ran = samuel("hooks", "fire", "PostAbilityCall")
        assert [(call["handler"], call["outcome"]) for call in ran.json["chain"]] == [("slow_calls", "ok")]
        assert samuel("hooks", "register").json == {
            "PostAbilityCall": [entry("slow_calls", f"./scripts/hooks/slow_calls.{ending}")]
        }

    @pytest.mark.parametrize("event", ALL)
    def test_hooks_new_writes_a_yaml_hook_for_every_event(self, samuel, event: str) -> None:
        assert samuel("hooks", "new", "h", "--event", event, "--yaml").code == 0
        (row,) = samuel("hooks", "validate", "--json").json["data"]
        assert (row["status"], row["events"]) == ("active", event)
        if event != "agent.invoke":
            chain = samuel("hooks", "fire", event).json["chain"]
            assert {call["outcome"] for call in chain if call["handler"] == "h"} == {"ok"}

    def test_the_filters_it_proposes_are_valid(self, samuel, project: Path) -> None:
        for event in ("PreAbilityCall", "PostAbilityCall", "SessionStop", "context.extra"):
            samuel("hooks", "new", event.replace(".", "_"), "--event", event, "--yaml")
            file = project / ".system/hooks" / f"{event.replace('.', '_')}.yaml"
            text = file.read_text().replace("# match:", "match:").replace("#   ", "    ")
            file.write_text(text.replace("# blocking", "blocking").replace("# timeout", "timeout"))
        assert samuel("hooks", "validate").code == 0

    def test_hooks_new_writes_the_registration_script(self, samuel, project: Path) -> None:
        samuel("hooks", "new", "h", "--event", "TurnEnd", "--yaml")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            [project / "scripts/hooks/register_hooks.py", "--env", "dev"],
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
            env={**os.environ, "PATH": path},
        )
        assert json.loads(done.stdout) == samuel("hooks", "register").json

    def test_a_second_one_keeps_the_registration_script(self, samuel, project: Path) -> None:
        samuel("hooks", "new", "a", "--event", "TurnEnd", "--yaml")
        ran = samuel("hooks", "new", "b", "--event", "TurnEnd", "--yaml", "--json")
        assert ran.json["data"]["written"] == [".system/hooks/b.yaml", "scripts/hooks/b.sh"]
        assert [call["outcome"] for call in samuel("hooks", "fire", "TurnEnd").json["chain"]] == ["ok", "ok"]

    @pytest.mark.parametrize("name", ["404", "1.5", "true", "null", "1e5", "2020-01-01"])
    def test_a_name_that_yaml_takes_for_something_else(self, samuel, name: str) -> None:
        ran = samuel("hooks", "new", name, "--event", "TurnEnd", "--yaml")
        assert (ran.code, ran.err) == (0, "")
        assert [call["handler"] for call in samuel("hooks", "fire", "TurnEnd").json["chain"]] == [name]

    @pytest.mark.parametrize("name", ["register_hooks", "x" * 101])
    def test_a_name_that_cannot_be_is_refused(self, samuel, project: Path, name: str) -> None:
        ran = samuel("hooks", "new", name, "--event", "TurnEnd", "--yaml", "--lang", "python")
        assert ran.code == 2
        assert list(project.iterdir()) == []

    def test_all_of_it_is_written_or_nothing(self, samuel, project: Path, tmp_path: Path) -> None:
        (project / "scripts").symlink_to(tmp_path)
        assert samuel("hooks", "new", "h", "--event", "TurnEnd", "--yaml").code == 2
        assert not (project / ".system/hooks/h.yaml").exists()
        (project / "scripts").unlink()
        assert samuel("hooks", "new", "h", "--event", "TurnEnd", "--yaml").code == 0

    def test_hooks_new_overwrites_no_existing_script(self, samuel, put) -> None:
        put("scripts/hooks/h.sh", "mine")
        ran = samuel("hooks", "new", "h", "--event", "TurnEnd", "--yaml")
        assert (ran.code, ran.err) == (
            1,
            "error: `scripts/hooks/h.sh` exists already\nchoose another name, or remove it first\n",
        )
        assert not Path(".system").exists()

    def test_what_lies_beside_the_script_is_said(self, samuel, put) -> None:
        put("scripts/hooks/other.sh", "#!/bin/sh\n", 0o755)
        ran = samuel("hooks", "new", "h", "--event", "TurnEnd", "--yaml")
        assert "will not run before you trust what lies beside it: `scripts/hooks/other.sh`" in ran.err


def test_explain_shows_the_filters_of_a_yaml_hook(samuel, hook) -> None:
    hook(more="match: {ability_scope: 'billing.*', min_duration_ms: 500}\nblocking: true\n")
    samuel("trust", "--yes")
    assert samuel("hooks", "explain", "PostAbilityCall").out.splitlines()[2].split() == [
        *("1", "h", "200", "project", "exec", "yes", "30s", "active"),
        *("it", "has", "the", "default", "order", "200;", "only", "if", "ability_scope", "billing.*,"),
        *("min_duration_ms", "500"),
    ]
    (step,) = samuel("hooks", "explain", "PostAbilityCall", "--json").json["data"]["chain"]
    assert step["match"] == {"ability_scope": ["billing.*"], "min_duration_ms": 500}
    (row,) = samuel("hooks", "list", "--event", "PostAbilityCall", "--json").json["data"]
    assert (row["name"], row["status"], row["path"]) == ("h", "active", "PROJECT/scripts/hooks/h.sh")


UNTRUSTED = "id: a\nevent_type: SessionStart\nhandler: {kind: script, command: ./scripts/hooks/a.sh}\n"


def test_hooks_validate_also_checks_untrusted_yaml_hooks(samuel, put):
    put(".system/hooks/a.yaml", UNTRUSTED)
    ran = samuel("hooks", "validate", "--json")
    assert ran.code == 1
    (row,) = ran.json["data"]
    assert row["status"] == "untrusted"
    assert [problem["what"] for problem in row["problems"]] == ["`PROJECT/scripts/hooks/a.sh` does not exist"]
    put("scripts/hooks/a.sh", "#!/bin/sh\n")
    ran = samuel("hooks", "validate")
    assert ran.code == 1
    assert "`PROJECT/scripts/hooks/a.sh` is not executable; `chmod +x PROJECT/scripts/hooks/a.sh`" in ran.out
    put("scripts/hooks/a.sh", "#!/bin/sh\n", 0o755)
    assert samuel("hooks", "validate").code == 0


def test_a_build_check_without_builds_says_that_it_has_nothing_to_do_and_is_not_called(samuel, put, project):
    why = "it has nothing to do: `builds` below `config` in .system/hooks/session_stop_build_check.yaml is empty"
    ran = samuel("hooks", "enable", "session_stop_build_check")
    assert ran.code == 0
    assert f"`session_stop_build_check` does not run here: {why}" in ran.err
    assert why in samuel("doctor").out
    assert samuel("hooks", "fire", "SessionStop").json["chain"] == []
    text = (project / ".system/hooks/session_stop_build_check.yaml").read_text()
    put(
        ".system/hooks/session_stop_build_check.yaml",
        text.replace("builds: []", "builds: [{paths: '*.py', command: 'true'}]"),
    )
    samuel("trust", "--yes")
    assert len(samuel("hooks", "fire", "SessionStop").json["chain"]) == 1

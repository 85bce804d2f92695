"""`samuel emit`: for any program. Bare JSON on stdout, 0 to go on, 2 to stop."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.conftest import answering

from samuel.base.errors import UsageError
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.events import EVENTS, Event, event_type
from samuel.proving import canary as canaries
from samuel.trust.repository import trust_key

REAL = (sys.executable, "-m", "samuel")
CALL = '{"ability_id": "deploy", "session_id": "s1"}'


@pytest.fixture
def hook(yaml_hook: Callable[..., None]) -> Callable[..., None]:
    """A hook that prints `answer`."""

    def write(id: str, event: str, answer: str, more: str = "", body: str = "") -> None:
        yaml_hook(id, event, f"{body}\n{answering(answer)}", more)

    return write


def test_emit_prints_an_empty_result_when_no_hook_handles_the_event(samuel) -> None:
    assert samuel("emit", "PreAbilityCall", stdin=CALL) == (0, "{}\n", "")


def test_the_merged_result_is_bare_json_on_one_line(samuel, hook) -> None:
    hook("a", "PostAbilityCall", '{"logs": [{"level": "info", "message": "a"}], "usage_recorded": true}')
    hook("b", "PostAbilityCall", '{"logs": [{"level": "warn", "message": "b"}]}')
    ran = samuel("emit", "post_ability_call", stdin='{"ability_id": "a", "status": "success"}')
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    assert ran.json == {
        "logs": [{"level": "info", "message": "a"}, {"level": "warn", "message": "b"}],
        "usage_recorded": True,
    }


@pytest.mark.parametrize("milliseconds", ["187000", "187000.5"])
def test_a_duration_reaches_a_hook_as_it_was_written(samuel, hook, project: Path, milliseconds: str) -> None:
    hook("a", "PostAbilityCall", "{}")
    context = f'{{"ability_id": "a", "status": "success", "duration_ms": {milliseconds}}}'
    assert samuel("emit", "PostAbilityCall", stdin=context).code == 0
    assert f'"duration_ms":{milliseconds}}}' in (project / "seen.json").read_text()


def test_a_denial_is_exit_code_2_with_the_reason_on_stderr(samuel, hook) -> None:
    hook(
        "guard", "PreAbilityCall", '{"decision": "deny", "reason": "not on a Friday", "messages_to_user": ["Hm."]}'
    )
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert ran.code == 2
    assert ran.err.startswith("Hm.\n")
    assert ran.err.endswith("\nnot on a Friday\n")
    assert ran.json["decision"] == "deny"


def test_a_wrong_hint_costs_a_hook_neither_its_verdict_nor_its_messages(samuel, hook) -> None:
    follow_ups = [{"kind": "fly"}, {"kind": "open_file", "path": "a.py"}]
    answer = {
        "decision": "deny",
        "reason": "not on a Friday",
        "messages_to_user": ["Come back on Monday."],
        "logs": [{"level": "loud", "message": "x"}],
        "follow_up_actions": follow_ups,
    }
    hook("guard", "PreAbilityCall", json.dumps(answer))
    ran = samuel("emit", "PreAbilityCall", stdin='{"ability_id": "deploy"}')
    assert ran.code == 2
    assert ran.json == {
        "messages_to_user": ["Come back on Monday."],
        "follow_up_actions": follow_ups[1:],
        "decision": "deny",
        "reason": "not on a Friday",
    }
    assert "Come back on Monday.\n" in ran.err
    logs = "`level` must be one of `debug`, `info`, `warn`, `error`, not `loud`"
    follow_up = "`kind` must be one of `open_file`, `run_command`, `create_task`, not `fly`"
    assert (
        f"warning: `guard` denied: not on a Friday (`logs[0]` left out: {logs}; `follow_up_actions[0]` left out: "
        f"{follow_up})\n" in ran.err
    )


def test_a_wrong_hint_of_a_hook_without_a_verdict_is_a_warning(samuel, hook) -> None:
    suggestions = [{"id": "sure", "confidence": 1.7}, {"reason": "it has no id"}]
    hook("a", "PostAbilityCall", json.dumps({"suggested_abilities": suggestions, "messages_to_user": ["Hm."]}))
    ran = samuel("emit", "PostAbilityCall", stdin='{"ability_id": "a", "status": "success"}')
    assert ran.code == 0
    assert ran.json == {"suggested_abilities": [{"id": "sure", "confidence": 1}], "messages_to_user": ["Hm."]}
    assert "warning: `a` `suggested_abilities[1]` left out: `id` is missing" in ran.err
    assert "the confidence of `sure` is 1.7, taken as 1: it must be 0 to 1\n" in ran.err


def test_a_verdict_in_the_wrong_shape_makes_a_guard_fail(samuel, hook) -> None:
    hook("a", "PreAbilityCall", '{"decision": "maybe", "messages_to_user": ["x"]}', "blocking: true\n")
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert ran.code == 2
    assert "must be one of `deny`, `ask`, `allow`, not `maybe`" in ran.err


def test_an_unknown_value_in_a_context_lists_those_that_are_known(samuel) -> None:
    ran = samuel("emit", "SessionStart", stdin='{"stage": "doing"}')
    assert "`stage` must be one of `understand`, `plan`, `act`, `review`, not `doing`" in ran.err


def test_emit_warns_of_a_fault_and_goes_on(samuel, hook) -> None:
    hook("a", "PreAbilityCall", "not json")
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert (ran.code, ran.json) == (0, {})
    assert ran.err.startswith("warning: `a` bad_output: not JSON")


def test_a_fault_of_a_blocking_hook_stops(samuel, hook) -> None:
    hook("a", "PreAbilityCall", "not json", "blocking: true\n")
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert ran.code == 2
    assert "a guard that fails denies" in ran.err
    hook("b", "SessionStop", "", "blocking: true\n", body="exit 1")
    assert samuel("emit", "SessionStop", stdin="{}").code == 2


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ('{"decision": "deny", "reason": "no", "messages_to_user": "not a list"}', ":"),
        ('{"blocked": true, "reason": "no", "confidence": 1, "logs": ["x"]}', ":"),
        ('{"error": "blocked: no", "usage_recorded": 7}', ":"),
        ("", """echo '{"decision": "deny", "reason": "no"}'; exit 1"""),
        ("", """echo '{"decision": "deny", "reason": "no"}'; touch said; exec sleep 600"""),
    ],
    ids=["message", "logs", "error", "exit code", "hangs"],
)
def test_a_clear_no_is_one_whatever_else_is_wrong(samuel, hook, project, patiently, answer, body) -> None:
    def emit(seconds: float) -> Any:
        hook("a", "PreAbilityCall", answer, f"timeout: {seconds:g}s\n", body=body)
        return samuel("emit", "PreAbilityCall", stdin=CALL)

    ran = patiently(emit, lambda _: (project / "said").exists()) if "sleep" in body else emit(120.0)
    assert ran.code == 2
    assert ran.err.startswith("warning: `a` denied: ")
    assert {"decision", "reason"} <= set(ran.json)
    assert ran.json["decision"] == "deny"
    assert "no" in ran.json["reason"]


@pytest.mark.parametrize("answer", ['{"decision": "allow"}', '{"tool_input": {"x": 1}}', '{"reason": "x"}'])
def test_anything_else_that_a_crashed_hook_said_does_not_count(samuel, hook, answer: str) -> None:
    hook("a", "PreAbilityCall", "", body=f"echo '{answer}'; exit 1")
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert (ran.code, ran.json) == (0, {})
    assert ran.err == "warning: `a` crashed: exit code 1; the call goes on, because `a` is not strict\n"


@pytest.mark.slow
def test_a_hook_that_is_broken_is_said_each_time(samuel, hook, put, project: Path) -> None:
    hook("a", "TurnEnd", "{}")
    put(".system/hooks/typo.yaml", "id: typo\nevnt_type: PreAbilityCall\n")
    for _ in range(2):
        ran = subprocess.run([*REAL, "emit", "SessionEnd"], input="{}", capture_output=True, text=True)
        assert ran.returncode == 0
        assert "warning: broken, so not run: `typo`: .system/hooks/typo.yaml:" in ran.stderr
    assert "broken, so not run: `typo`" in samuel("session", "start").err


@pytest.mark.slow
def test_a_hook_that_fires_its_own_event_comes_to_an_end(samuel, hook, project: Path) -> None:
    again = f'echo >> calls; echo "{{}}" | {shlex.join(REAL)} emit SessionEnd 2>>errors'
    hook("a", "SessionEnd", "", "timeout: 10m\n", body=again)
    assert samuel("emit", "SessionEnd", stdin="{}").code == 0
    assert (project / "calls").read_text().count("\n") == 10
    assert "hooks run Samuel, which runs hooks, 10 levels deep" in (project / "errors").read_text()


def test_a_rewrite_is_in_the_result(samuel, hook) -> None:
    hook("a", "PreAbilityCall", '{"tool_input": {"dry": true}}')
    ran = samuel("emit", "PreAbilityCall", stdin='{"ability_id": "x", "tool_input": {"dry": false}}')
    assert ran.json == {"tool_input": {"dry": True}}


def test_emit_fires_an_event_of_the_loop(samuel) -> None:
    ran = samuel("emit", "quality.check", stdin='{"commands": ["false"]}')
    assert ran.code == 2  # it is strict
    assert ran.json["ok"] is False


def test_emit_refuses_an_event_that_would_run_an_agent(samuel) -> None:
    ran = samuel("emit", "agent.invoke", stdin='{"agent": "scripted", "prompt": "x"}')
    assert ran.code == 1
    assert "samuel hooks fire agent.invoke --really" in ran.err


@pytest.mark.parametrize(("event", "code"), [("PreAbilityCall", 2), ("UserPromptSubmit", 2), ("SessionStop", 1)])
class TestWhatGoesWrong:
    """Stops what can be stopped. Elsewhere it is a fault that is told and passed over."""

    CONTEXT = '{"ability_id": "x", "user_message": "x"}'

    def test_a_broken_samuel_toml_stops_an_event_that_can_be_denied(
        self, samuel, put, event: str, code: int
    ) -> None:
        put("samuel.toml", "nonsense = [\n")
        ran = samuel("emit", event, stdin=self.CONTEXT)
        assert (ran.code, ran.out) == (code, "")
        assert ran.err.startswith("error: PROJECT/samuel.toml:1: not valid TOML")

    def test_a_handler_that_is_missing_denies_where_denying_is_possible(self, samuel, put, event, code) -> None:
        put("samuel.toml", f"[hooks.{event}]\nhandlers = ['nobody']\n")
        ran = samuel("emit", event, stdin=self.CONTEXT)
        assert ran.code == (2 if code == 2 else 0)
        assert "`handlers` of" in ran.err
        assert "names `nobody`" in ran.err

    @pytest.mark.parametrize("context", ["[", "[]", "7", '"x"', "null", "{} {}", '{"a": NaN}'])
    def test_an_invalid_context_stops_an_event_that_can_be_denied(
        self, samuel, event: str, code: int, context: str
    ) -> None:
        ran = samuel("emit", event, stdin=context)
        assert (ran.code, ran.out) == (code, "")
        assert ran.err.startswith("error: the context ")

    def test_a_context_of_another_event(self, samuel, event: str, code: int) -> None:
        ran = samuel("emit", event, stdin='{"event_type": "TurnEnd"}')
        assert ran.code == code
        assert f"the context is for `TurnEnd`, not for `{event}`" in ran.err

    def test_a_store_that_cannot_be_read(self, samuel, machine: Path, event: str, code: int) -> None:
        samuel("emit", event, stdin=self.CONTEXT)
        trust = machine / "state/samuel/trust"
        trust.mkdir(parents=True, exist_ok=True)
        (trust / f"{trust_key(Path.cwd())}.json").write_text("[")
        hook = Path(".samuel/hooks/x")
        hook.parent.mkdir(parents=True)
        hook.write_text("#!/bin/sh\n")
        hook.chmod(0o755)
        assert samuel("emit", event, stdin=self.CONTEXT).code == code


@pytest.mark.parametrize("streams", ["2>/dev/full", ">/dev/full", ">/dev/full 2>&1", "| true", "2>&1 | true"])
@pytest.mark.sampled(every=3)
def test_emit_exits_with_deny_even_if_its_output_is_closed(hook, project: Path, streams: str) -> None:
    hook("guard", "PreAbilityCall", '{"decision": "deny", "reason": "no", "messages_to_user": ["Hm."]}')
    line = f"echo '{CALL}' | {shlex.join(REAL)} emit PreAbilityCall {streams}; exit ${{PIPESTATUS[1]}}"
    assert subprocess.run(["bash", "-c", line], stdout=subprocess.DEVNULL).returncode == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGALRM])
def test_emit_ended_by_a_signal_does_not_allow(hook, project: Path, number: int) -> None:
    hook("slow", "PreAbilityCall", "", body="touch began; exec sleep 60")
    with subprocess.Popen([*REAL, "emit", "PreAbilityCall"], stdin=subprocess.PIPE, text=True) as process:
        assert process.stdin
        process.stdin.write(CALL)
        process.stdin.close()
        while not (project / "began").exists():
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(300) == 2


@pytest.mark.parametrize(
    "words", [("emit", "--deadline", "1", "PreAbilityCall"), ("emit", "PreAbilityCall", "--deadline", "1")]
)
def test_emit_that_passes_its_deadline_denies_and_says_so(
    samuel, hook, project: Path, words: tuple[str, ...]
) -> None:
    hook("slow", "PreAbilityCall", "", body="exec sleep 60")
    environment = {**os.environ, "SAMUEL_SERVE": "off"}
    ran = subprocess.run([*REAL, *words], input=CALL, text=True, timeout=50, capture_output=True, env=environment)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.lstrip().startswith("error: the hooks had not answered at the deadline (`--deadline`)\n")
    (call,) = samuel("hooks", "log", "--json").json["data"]
    assert (call["handler"], call["outcome"]) == ("slow", "timed_out")


def test_emit_of_a_client_that_passes_its_deadline_denies_and_says_so(hook, project: Path) -> None:
    hook("slow", "PreAbilityCall", "", body="exec sleep 60")
    payload = '{"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
    words = ("emit", "--as", "claude", "PreToolUse", "--deadline", "1")
    environment = {**os.environ, "SAMUEL_SERVE": "off"}
    ran = subprocess.run(
        [*REAL, *words], input=payload, text=True, timeout=50, capture_output=True, env=environment
    )
    answer = json.loads(ran.stdout)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "the hooks had not answered at the deadline (`--deadline`)" in answer["permissionDecisionReason"]


@pytest.mark.parametrize("seconds", ["0", "-1", "1.5", "soon", "99999999999"])
def test_emit_refuses_a_deadline_that_is_not_a_number_of_seconds(samuel, seconds: str) -> None:
    ran = samuel("emit", "PreAbilityCall", "--deadline", seconds, stdin=CALL)
    assert ran.code == 2
    assert "--deadline" in ran.err


def test_a_field_that_is_missing_or_wrong(samuel) -> None:
    ran = samuel("emit", "UserPromptSubmit", stdin="{}")
    assert ran.code == 2
    assert "`user_message` is missing" in ran.err
    assert samuel("emit", "UserPromptSubmit", stdin='{"user_message": 7}').code == 2
    assert samuel("emit", "PostAbilityCall", stdin='{"ability_id": "a", "status": "fine"}').code == 1


def test_emit_refuses_an_unknown_event(samuel) -> None:
    ran = samuel("emit", "PreAbilityCal", stdin="{}")
    assert ran.code == 2
    assert "did you mean `PreAbilityCall`?" in ran.err


def test_emit_accepts_an_empty_stdin(samuel) -> None:
    assert samuel("emit", "SessionStart", stdin="") == (0, "{}\n", "")


def test_emit_treats_null_fields_as_absent(samuel) -> None:
    context = '{"ability_id": "a", "operation_key": null, "stage": null, "unknown": null}'
    assert samuel("emit", "PreAbilityCall", stdin=context).code == 0


def test_emit_accepts_a_payload_as_context(samuel, hook, project: Path) -> None:
    hook("a", "PreAbilityCall", "{}")
    samuel("emit", "PreAbilityCall", stdin='{"ability_id": "x", "cli_command": "make", "session_id": "s"}')
    ours = (project / "seen.json").read_text()
    assert samuel("emit", "PreAbilityCall", stdin=ours).code == 0
    again = json.loads((project / "seen.json").read_text())
    assert again["cli_command"] == "make"
    assert again["event_id"] == json.loads(ours)["event_id"]


@pytest.mark.slow
def test_emit_takes_an_environment(samuel, hook) -> None:
    hook("a", "PostAbilityCall", '{"a": 1}', "environments: [prod]\n")
    context = '{"ability_id": "a", "status": "success"}'
    assert samuel("emit", "PostAbilityCall", stdin=context).json == {}
    assert samuel("emit", "PostAbilityCall", "--env", "prod", stdin=context).json == {"a": 1}


def test_what_is_not_trusted_is_said(samuel, put) -> None:
    put(
        ".system/hooks/h.yaml",
        "id: h\nevent_type: SessionEnd\nhandler: {kind: script, command: touch hacked}\n",
    )
    ran = samuel("emit", "SessionEnd", stdin="{}")
    assert ran.code == 0
    assert "warning: `h` refused: not trusted" in ran.err
    assert not Path("hacked").exists()


def test_emit_does_not_wait_for_a_context_on_a_terminal(on_terminal) -> None:
    code, screen = on_terminal("emit", "SessionStart")
    assert (code, screen) == (0, "{}\n")


def test_emit_writes_the_hooks_log_in_the_system_directory(samuel, hook, project: Path) -> None:
    hook("a", "PreAbilityCall", '{"logs": [{"level": "warn", "message": "careful"}]}')
    hook("b", "PreAbilityCall", "", body="exit 3")
    samuel("emit", "PreAbilityCall", stdin=CALL)
    lines = [json.loads(line) for line in (project / ".system/logs/hooks.log").read_text().splitlines()]
    assert [(line["hook"], line["event"], line["status"], line["session_id"]) for line in lines] == [
        ("a", "PreAbilityCall", "ok", "s1"),
        ("b", "PreAbilityCall", "crashed", "s1"),
    ]
    assert lines[0]["logs"] == [{"level": "warn", "message": "careful"}]
    assert all(line["duration_ms"] >= 0 and line["timestamp"] for line in lines)


def test_emit_writes_no_hooks_log_without_a_system_directory(samuel, guard, project: Path) -> None:
    samuel("trust", "--yes")
    samuel("emit", "quality.check", stdin='{"commands": []}')
    assert not (project / ".system").exists()


def test_emit_imports_neither_the_loop_nor_the_sources(samuel, project: Path) -> None:
    """An event with known hooks needs neither the loop, nor YAML, nor tables for terminals."""
    samuel("emit", "SessionEnd")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "samuel", "-C", ".", "emit", "SessionEnd"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "samuel.app" in names
    unwanted = (
        "jinja2",
        "yaml",
        "rich",
        "markdown_it",
        "tomlkit",
        "toons",
        "wasmtime",
        "sqlite3",
        "samuel.run.coordinator",
    )
    assert not names & {
        *unwanted,
        "samuel.attempt.workplace",
        "samuel.agents.find_agent",
        "samuel.plugins.manifest",
    }


class TestMatching:
    """Hooks with filters are called for the events that these match, and for no others."""

    @pytest.fixture(autouse=True)
    def _hooks(self, hook: Callable[..., None]) -> None:
        hook("slow", "PostAbilityCall", '{"slow": true}', "match: {min_duration_ms: 500}\n")
        hook("guard", "PreAbilityCall", '{"decision": "deny"}', "match: {ability_id: 'deploy*'}\n")
        hook("stop", "SessionStop", '{"ran": 1}', "match: {only_if_changed_paths: 'services/**'}\n")

    def test_an_event_that_no_hook_matches_has_the_empty_result(self, samuel) -> None:
        for words, stdin in (
            (["PostAbilityCall"], '{"ability_id": "a", "status": "success", "duration_ms": 3}'),
            (["post_ability_call"], '{"ability_id": "a", "status": "failure"}'),
            (["PreAbilityCall"], '{"ability_id": "read", "x": [1]}'),
            (["SessionStop"], '{"changed_files": ["docs/x"]}'),
            (["SessionEnd"], ""),
            (["PreAbilityCall", "--session", "s1"], '{"ability_id": "read"}'),
        ):
            assert samuel("emit", *words, stdin=stdin) == (0, "{}\n", ""), words

    def test_an_event_that_a_filter_matches_is_handled(self, samuel) -> None:
        after_slow_call = '{"ability_id": "a", "status": "success", "duration_ms": 900}'
        assert samuel("emit", "PostAbilityCall", stdin=after_slow_call) == (0, '{"slow":true}\n', "")
        assert samuel("emit", "PreAbilityCall", stdin='{"ability_id": "deploy_prod"}').code == 2
        inside = os.path.join(os.getcwd(), "services/x")
        assert samuel("emit", "SessionStop", stdin=json.dumps({"changed_files": [inside]})).out == '{"ran":1}\n'

    @pytest.mark.parametrize(
        "context",
        [
            *("[", "[]", "nonsense", '{"a": NaN}', "\udcff"),
            *('{"ability_id": 7}', "{}", '{"ability_id": null}', '{"ability_id": "x", "session_id": 7}'),
            *('{"ability_id": "x", "event_type": "TurnEnd"}', '{"ability_id": "x", "event": 7}'),
        ],
    )
    @pytest.mark.slow
    @pytest.mark.sampled(every=3)
    def test_a_context_that_is_wrong_is_refused_whatever_the_filters(self, project: Path, context: str) -> None:
        done = subprocess.run(
            [*REAL, "emit", "PreAbilityCall"], input=context.encode(errors="surrogateescape"), capture_output=True
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"error: ")

    def test_a_canary_is_judged_where_no_filter_matches(self, samuel, machine: Path) -> None:
        with canaries.released(machine / "state/samuel") as canary:
            stdin = f'{{"ability_id": "read", "tool_input": "{canary.denied}"}}'
            assert samuel("emit", "PreAbilityCall", stdin=stdin).code == 2
            assert canary.judged() == {"denied"}
        assert samuel("emit", "PreAbilityCall", stdin='{"ability_id": "read"}').code == 0

    def test_a_hook_without_a_filter_is_always_called(self, samuel, hook) -> None:
        hook("all", "PreAbilityCall", '{"all": 1}')
        for _ in range(2):
            assert samuel("emit", "PreAbilityCall", stdin='{"ability_id": "read"}') == (0, '{"all":1}\n', "")

    def test_warnings_are_repeated_by_every_call(self, samuel, put) -> None:
        put("samuel.lock", 'version = 1\n\n[plugin."org/gone"]\nsource = "x"\n')
        first = samuel("emit", "SessionEnd", stdin="{}")
        assert first.err
        assert samuel("emit", "SessionEnd", stdin="{}").err == first.err

    def test_a_session_is_updated_by_events_that_no_hook_matches(self, samuel) -> None:
        samuel("emit", "SessionStart", stdin='{"session_id": "s1"}')
        samuel("emit", "SessionEnd", "--session", "s1", stdin="{}")
        assert samuel("session", "show", "--id", "s1", "--json").json["data"]["state"] == "ended"

    def test_emit_takes_a_large_prompt(self, samuel) -> None:
        prompt = json.dumps({"user_message": "long " * 210_000})
        assert samuel("emit", "UserPromptSubmit", stdin=prompt) == (0, "{}\n", "")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
FIELDS = sorted({name for event in EVENTS for name in event.payload.__struct_encode_fields__} | {"event_type"})


@given(st.sampled_from([event.name for event in EVENTS]), st.dictionaries(st.sampled_from(FIELDS), PLAIN) | PLAIN)
def test_any_context_is_an_event_or_a_usage_error(name: str, context: Any) -> None:
    try:
        event = event_from_context(event_type(name), context)
    except UsageError:
        return
    assert isinstance(event, Event)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(["decision", "logs", "new_intent", "follow_up_actions", "error", "x"]), PLAIN)
)
def test_emit_survives_any_result_of_a_hook(samuel, put, result: dict[str, Any]) -> None:
    put(
        ".system/hooks/h.yaml", "id: h\nevent_type: PreAbilityCall\nhandler: {kind: script, command: cat result}\n"
    )
    put("result", json.dumps(result))
    samuel("trust", "--yes")
    ran = samuel("emit", "PreAbilityCall", "--session", "s1", stdin=CALL)
    assert ran.code in (0, 2)
    assert isinstance(ran.json, dict)

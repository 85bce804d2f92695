"""The dispatcher with functions of this process: what handlers get, return and break."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

import samuel
from samuel.base.clock import FakeClock
from samuel.base.errors import UnknownEvent, UsageError
from samuel.events import names
from samuel.hooks.handler import Outcome
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task
from samuel.testing import Recorder, SamuelProject, fire

Answer = Callable[[Any], Any]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


class TestPrevious:
    def test_previous_is_the_composed_result_so_far_and_absent_for_the_first(
        self, samuel_project: SamuelProject
    ) -> None:
        recorders = [
            Recorder("context.extra", name=f"h{n}", returns={"extras": [{"name": str(n), "content": ""}], "n": n})
            for n in range(3)
        ]
        with samuel_project.open(handlers=recorders) as app:
            app.fire("context.extra", task={})
        assert recorders[0].events[0].previous is UNSET
        assert recorders[1].events[0].previous == {"extras": [{"name": "0", "content": ""}], "n": 0}
        assert [extra["name"] for extra in recorders[2].events[0].previous["extras"]] == ["0", "1"]

    def test_previous_does_not_contain_results_of_failed_or_silent_handlers(
        self, samuel_project: SamuelProject
    ) -> None:
        def broken(event: Any) -> Any:
            raise RuntimeError

        last = Recorder("context.task", name="z")
        with samuel_project.open(
            handlers=[
                Recorder("context.task", name="a", returns=broken),
                Recorder("context.task", name="b", returns={"ok": False, "toon_blob": "failed"}),
                Recorder("context.task", name="c"),
                last,
            ]
        ) as app:
            fired = app.fire("context.task", task={"id": "1"})
        assert "failed" not in last.events[0].previous["toon_blob"]
        assert "failed" not in fired.result["toon_blob"]

    def test_previous_is_absent_where_only_the_last_handler_runs(self, samuel_project: SamuelProject) -> None:
        gates = [
            Recorder("iteration.gate", name=name, returns={"continue": True, "mode": "implementation"})
            for name in "ab"
        ]
        with samuel_project.open(handlers=gates) as app:
            app.fire("iteration.gate", consec_fails=0, queue_size=1)
        assert gates[1].events[0].previous is UNSET


class TestReplace:
    def test_replace_runs_only_the_last_handler(self, samuel_project: SamuelProject) -> None:
        gates = [
            Recorder("iteration.gate", name=name, returns={"continue": True, "mode": "discovery", "by": name})
            for name in "abc"
        ]
        with samuel_project.open(handlers=gates) as app:
            fired = app.fire("iteration.gate", consec_fails=0, queue_size=1)
        assert [len(gate.events) for gate in gates] == [0, 0, 1]
        assert fired.result == {"continue": True, "mode": "discovery", "by": "c"}
        assert "`c` replaces `default`, `a`, `b`" in fired.warnings[0]

    @pytest.mark.parametrize(
        "answer", [{}, None, {"reason": "why"}, {"continue": "yes"}, {"continue": True, "mode": "other"}]
    )
    def test_a_gate_without_its_required_keys_is_bad_output_and_stops(self, answer: Any) -> None:
        gate = Recorder("iteration.gate", returns=answer)
        fired = fire(gate, "iteration.gate", consec_fails=0, queue_size=1)
        assert fired.calls[0].outcome is Outcome.BAD_OUTPUT
        assert fired.stopped

    @pytest.mark.parametrize("mode", ["impl", "implementation", "discovery"])
    def test_a_gate_that_returns_only_a_mode_continues(self, mode: str) -> None:
        gate = Recorder("iteration.gate", returns={"mode": mode})
        fired = fire(gate, "iteration.gate", consec_fails=0, queue_size=1)
        assert fired.result == {"continue": True, "mode": mode}
        assert (fired.stopped, fired.warnings) == (False, ())

    def test_a_failed_agent_handler_does_not_fall_back_to_another(self, samuel_project: SamuelProject) -> None:
        def broken(event: Any) -> Any:
            raise RuntimeError("gone")

        good = Recorder("agent.invoke", name="a", returns={"exit_code": 0, "stdout": "", "stderr": ""})
        with samuel_project.open(handlers=[good, Recorder("agent.invoke", name="b", returns=broken)]) as app:
            fired = app.fire("agent.invoke", agent="x", prompt="y")
        assert good.events == []
        assert fired.stopped
        assert fired.result == {}


FAULTS: dict[str, tuple[Answer, Outcome]] = {
    "exception": (lambda event: 1 / 0, Outcome.CRASHED),
    "sys.exit": (lambda event: sys.exit(1), Outcome.CRASHED),
    "sys.exit with text": (lambda event: sys.exit("text"), Outcome.CRASHED),
    "recursion": (lambda event: (lambda f: f(f))(lambda f: f(f)), Outcome.CRASHED),
    "a list": (lambda event: [], Outcome.BAD_OUTPUT),
    "NaN": (lambda event: {"x": [float("nan")]}, Outcome.BAD_OUTPUT),
    "infinity": (lambda event: {"x": {"y": float("-inf")}}, Outcome.BAD_OUTPUT),
    "a surrogate": (lambda event: {"x": "\ud800"}, Outcome.BAD_OUTPUT),
    "10,000 deep": (lambda event: {"x": nested(10_000)}, Outcome.BAD_OUTPUT),
    "300 deep": (lambda event: {"x": nested(300)}, Outcome.BAD_OUTPUT),
    "itself": (lambda event: (lambda d: d.update(x=d) or d)({}), Outcome.BAD_OUTPUT),
    "an object": (lambda event: {"x": object()}, Outcome.BAD_OUTPUT),
    "the wrong shape": (lambda event: {"extras": [{"name": 1}]}, Outcome.BAD_OUTPUT),
    "data that is no object": (lambda event: {"data": [1]}, Outcome.BAD_OUTPUT),
    "not ok": (lambda event: {"ok": False, "reason": "why"}, Outcome.FAILED),
    "a huge int": (lambda event: {"x": 10**400}, Outcome.OK),
    "bytes of text": (lambda event: {"x": "ä" * 100_000}, Outcome.OK),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_function_becomes_an_outcome_and_the_chain_goes_on(
    samuel_project: SamuelProject, fault: str
) -> None:
    answer, outcome = FAULTS[fault]
    after = Recorder("context.extra", name="later")
    with samuel_project.open(handlers=[Recorder("context.extra", name="bad", returns=answer), after]) as app:
        fired = app.fire("context.extra", task={})
        assert app.warnings == []  # of the journal
    assert fired.calls[0].outcome is outcome, fired.calls[0].message
    assert len(after.events) == 1
    assert bool(fired.warnings) is (outcome is not Outcome.OK)


JSON = {
    "10,000 deep": ("print('{\"x\":' + '[' * 10000 + ']' * 10000 + '}')", Outcome.BAD_OUTPUT),
    "1,000 deep": ("print('{\"x\":' + '[' * 1000 + ']' * 1000 + '}')", Outcome.BAD_OUTPUT),
    "900 deep objects": ("print('{\"x\":' * 900 + '1' + '}' * 900)", Outcome.BAD_OUTPUT),
    "an open bracket": ("print('[' * 1000000)", Outcome.BAD_OUTPUT),
    "a huge int": ("print('{\"x\":' + '9' * 5000 + '}')", None),
    "a huge exponent": ("print('{\"x\": 1e999999}')", None),
    "infinity": ("print('{\"x\": Infinity}')", Outcome.BAD_OUTPUT),
    "invalid UTF-8": ('sys.stdout.buffer.write(b\'{"x": "\\xff"}\')', Outcome.BAD_OUTPUT),
    "UTF-16": ("sys.stdout.buffer.write('{}'.encode('utf-16'))", Outcome.BAD_OUTPUT),
    "two objects": ("print('{}{}')", Outcome.BAD_OUTPUT),
    "a lone surrogate": ('print(r\'{"x": "\\ud800"}\')', None),
    "a NUL": ('print(\'{"x": "\\\\u0000"}\')', Outcome.OK),
    "duplicate keys": ('print(\'{"ok": false, "ok": true}\')', Outcome.OK),
}


@pytest.mark.parametrize("what", JSON)
def test_odd_output_of_a_process_becomes_an_outcome_and_the_chain_goes_on(
    samuel_project: SamuelProject, py: Callable[[str, str], str], what: str
) -> None:
    """An outcome of None stands for either ok or bad_output; the next handler must run in both cases."""
    body, outcome = JSON[what]
    samuel_project.hook("bad", py("context.extra", body))
    samuel_project.hook("later", py("context.extra", "import json\njson.load(sys.stdin)"))
    with samuel_project.open() as app:
        fired = app.fire("context.extra", task={})
        assert app.warnings == []
    bad, later = fired.calls
    assert bad.outcome in ((outcome,) if outcome else (Outcome.OK, Outcome.BAD_OUTPUT)), bad.message
    assert later.outcome is Outcome.OK, later.stderr


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 1500))
def test_a_result_nested_at_any_depth_does_not_break_later_handlers(tmp_path: Path, depth: int) -> None:
    after = Recorder("context.extra", name="b")
    project = SamuelProject(tmp_path / f"p{depth}") if not (tmp_path / f"p{depth}").exists() else None
    if project is None:
        return
    with project.open(handlers=[Recorder("context.extra", name="a", returns={"x": nested(depth)}), after]) as app:
        fired = app.fire("context.extra", task={})
        assert app.warnings == []
    assert fired.calls[0].outcome in (Outcome.OK, Outcome.BAD_OUTPUT)
    assert fired.calls[1].outcome is Outcome.OK


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
        max_leaves=20,
    )
)
def test_any_return_value_becomes_an_outcome(value: Any) -> None:
    fired = fire(Recorder("UserPromptSubmit", returns=lambda event: value), "UserPromptSubmit", user_message="")
    assert fired.calls[0].outcome in set(Outcome)


class TestBudget:
    def test_extras_over_the_prompt_budget_are_cut_with_a_warning(self, samuel_project: SamuelProject) -> None:
        samuel_project.config("[limits]\nhandler_prompt_bytes = 10")
        long = Recorder(
            "context.extra",
            name="long",
            returns={"extras": [{"name": "a", "content": "12345678"}, {"name": "b", "content": "ää"}]},
        )
        other = Recorder(
            "context.extra", name="other", returns={"extras": [{"name": "c", "content": "1234567890"}]}
        )
        with samuel_project.open(handlers=[long, other]) as app:
            fired = app.fire("context.extra", task={})
        assert [extra["content"] for extra in fired.result["extras"]] == ["12345678", "ä", "1234567890"]
        assert len(fired.warnings) == 1
        assert "`long` extras cut to 10 bytes; `handler_prompt_bytes` under [limits]" in fired.warnings[0]
        assert fired.ok

    def test_the_prompt_budget_does_not_count_the_text_of_earlier_handlers(
        self, samuel_project: SamuelProject
    ) -> None:
        samuel_project.config("[limits]\nhandler_prompt_bytes = 10")
        add = Recorder("context.task", returns=lambda e: {"toon_blob": e.previous["toon_blob"] + "x" * 20})
        with samuel_project.open(handlers=[add]) as app:
            fired = app.fire("context.task", task={"id": "1" * 50})
        assert fired.result["toon_blob"].count("x") == 10
        assert "1" * 50 in fired.result["toon_blob"]

    def test_the_prompt_budget_is_16_kib_by_default(
        self, samuel_project: SamuelProject, py: Callable[[str, str], str]
    ) -> None:
        body = 'print(\'{"extras": [{"name": "a", "content": "\' + \'x\' * 20000 + \'"}]}\')'
        samuel_project.hook("long", py("context.extra", body))
        assert len(samuel_project.fire("context.extra", task={}).result["extras"][0]["content"]) == 16 * 1024


class TestContext:
    def test_data_goes_into_the_handlers_own_namespace_for_all_later_handlers(
        self, samuel_project: SamuelProject
    ) -> None:
        first = Recorder("context.extra", name="one", returns={"data": {"A": 1, "B": {"x": 1}}})
        again = Recorder("context.extra", name="two", returns={"data": {"A": 2}})
        last = Recorder("context.extra", name="z")
        with samuel_project.open(handlers=[first, again, last]) as app:
            fired = app.fire(
                "context.extra", task={}, context={"Plugins": {"one": {"A": 0, "Old": 1}}, "Mode": "m"}
            )
        expected = {"one": {"A": 1, "B": {"x": 1}, "Old": 1}, "two": {"A": 2}}
        assert first.events[0].context["Plugins"] == {"one": {"A": 0, "Old": 1}}
        assert last.events[0].context == {"Plugins": expected, "Mode": "m"}
        assert fired.context == {"Plugins": expected, "Mode": "m"}
        assert "data" not in fired.result

    @pytest.mark.parametrize("how", [{"ok": False}, {"extras": "wrong shape"}, {"error": "x"}])
    def test_data_of_a_failed_handler_is_discarded(
        self, samuel_project: SamuelProject, how: dict[str, Any]
    ) -> None:
        bad = Recorder("context.extra", name="bad", returns={**how, "data": {"A": 1}})
        with samuel_project.open(handlers=[bad]) as app:
            fired = app.fire("context.extra", task={})
        assert fired.context.get("Plugins", {}) == {}

    def test_a_function_cannot_write_to_another_namespace_of_the_context(
        self, samuel_project: SamuelProject
    ) -> None:
        mine = {"context": {"Mode": "owned"}, "Plugins": {"x": 1}, "Mode": "owned", "data": {"Mode": "mine"}}
        with samuel_project.open(handlers=[Recorder("context.extra", name="sly", returns=mine)]) as app:
            before = app.context()
            fired = app.fire("context.extra", task={}, context=before)
        assert fired.context == {**before, "Plugins": {"sly": {"Mode": "mine"}}}

    def test_a_function_that_changes_its_event_in_place_changes_nothing_for_the_next_handler(
        self, samuel_project: SamuelProject
    ) -> None:
        def meddle(event: Any) -> dict[str, Any]:
            event.context["Project"]["Name"] = "evil"
            event.context["State"]["Skills"].append({"Name": "evil"})
            del event.context["Samuel"]
            event.task["tags"].append("evil")
            if event.previous is not UNSET:
                event.previous["extras"].append({"name": "evil", "content": ""})
            return {"extras": []}

        extra = {"name": "good", "content": ""}
        first = Recorder("context.extra", name="first", order=1, returns={"extras": [extra]})
        second = Recorder("context.extra", name="second", order=2, returns=meddle)
        third = Recorder("context.extra", name="third", order=3)
        with samuel_project.open(handlers=[first, second, third]) as app:
            context = app.context()
            fired = app.fire("context.extra", task={"tags": ["good"]}, context=app.context())
        assert (fired.calls[1].outcome, fired.calls[1].message) == (Outcome.OK, "")
        (event,) = third.events
        assert event.context == fired.context == context
        assert event.task == {"tags": ["good"]}
        assert event.previous == fired.result == {"extras": [extra]}

    def test_a_guard_sees_no_input_that_another_function_changed_in_place(
        self, samuel_project: SamuelProject
    ) -> None:
        def meddle(event: Any) -> None:
            event.tool_input["command"] = "rm -rf /"

        guard = Recorder("PreAbilityCall", name="guard", role="guard")
        meddler = Recorder("PreAbilityCall", name="meddler", returns=meddle)
        with samuel_project.open(handlers=[meddler, guard]) as app:
            app.fire("PreAbilityCall", ability_id="shell", tool_input={"command": "ls"})
        assert guard.events[0].tool_input == {"command": "ls"}

    def test_a_process_cannot_write_to_another_namespace_of_the_context(
        self, samuel_project: SamuelProject, py: Callable[[str, str], str]
    ) -> None:
        body = "import json\nprint(json.dumps({'plugin': {'name': 'default'}, 'data': {'A': 1}}))"
        samuel_project.hook("sly", py("context.extra", body))
        with samuel_project.open() as app:
            assert app.fire("context.extra", task={}).context == {"Plugins": {"sly": {"A": 1}}}


class TestWhatAHandlerGets:
    def test_a_handler_gets_the_common_fields(self, samuel_project: SamuelProject) -> None:
        recorder = Recorder("context.extra")
        with samuel_project.open(handlers=[recorder], clock=FakeClock()) as app:
            app.fire("context.extra", task={"id": "1"}, iteration=3, run_id="run-1")
        (event,) = recorder.events
        assert (event.protocol, event.event_id, event.methodology) == (1, "evt-1", "ralph")
        assert event.timestamp == "2025-06-15T15:06:40.000Z"
        assert event.project_root == str(samuel_project.root)
        assert event.deadline_ms == 30_000
        assert event.plugin.name == "recorder"
        assert event.plugin.data_dir == str(samuel_project.root / ".samuel/run/plugins/recorder")

    def test_a_handler_gets_its_configured_deadline(self, samuel_project: SamuelProject) -> None:
        samuel_project.config('[hooks."context.extra"]\ntimeout = "250ms"')
        recorder = Recorder("context.extra")
        with samuel_project.open(handlers=[recorder]) as app:
            app.fire("context.extra", task={})
        assert recorder.events[0].deadline_ms == 250

    def test_event_ids_are_unique_and_an_id_of_the_caller_is_kept(self, samuel_project: SamuelProject) -> None:
        recorder = Recorder("context.extra")
        with samuel_project.open(handlers=[recorder]) as app:
            for _ in range(100):
                app.fire("context.extra", task={})
            app.fire("context.extra", task={}, event_id="mine")
        ids = [event.event_id for event in recorder.events]
        assert len(set(ids)) == 101
        assert ids[:100] == sorted(ids[:100])
        assert ids[-1] == "mine"

    def test_the_idempotency_key_is_the_same_after_a_resume(self, samuel_project: SamuelProject) -> None:
        keys = []
        for _ in range(2):
            first, second = Recorder("context.extra", name="one"), Recorder("context.extra", name="two")
            with samuel_project.open(handlers=[first, second]) as app:
                app.fire("context.extra", task={}, run_id="run-1", iteration=2)
                app.fire("context.extra", task={}, run_id="run-1", iteration=3)
            keys.append([event.idempotency_key for recorder in (first, second) for event in recorder.events])
        assert keys[0] == keys[1]
        assert len(set(keys[0])) == 4

    def test_outside_of_a_run_each_event_has_its_own_idempotency_key(self, samuel_project: SamuelProject) -> None:
        recorder = Recorder("context.extra")
        with samuel_project.open(handlers=[recorder]) as app:
            app.fire("context.extra", task={})
            app.fire("context.extra", task={})
        assert len({event.idempotency_key for event in recorder.events}) == 2


class TestFire:
    def test_fire_accepts_any_spelling_of_a_name_and_payload_objects(self, samuel_project: SamuelProject) -> None:
        recorder = Recorder("context_extra")
        with samuel_project.open(handlers=[recorder]) as app:
            app.fire("ContextExtra", task={"id": "1"})
            app.fire(samuel.events.ContextExtra(task={"id": "2"}))
        assert [event.task["id"] for event in recorder.events] == ["1", "2"]

    @pytest.mark.parametrize(
        ("name", "fields", "says"),
        [
            ("context.extra", {}, "task"),
            ("context.extra", {"task": {}, "tusk": 1}, "tusk"),
            ("context.extra", {"task": 1}, "task"),
            ("quality.check", {"commands": [1]}, "commands"),
        ],
    )
    def test_fire_names_the_field_that_is_wrong(
        self, samuel_project: SamuelProject, name: str, fields: dict[str, Any], says: str
    ) -> None:
        with samuel_project.open() as app, pytest.raises(UsageError, match=says):
            app.fire(name, **fields)

    def test_fire_suggests_the_nearest_event_for_an_unknown_name(self, samuel_project: SamuelProject) -> None:
        with samuel_project.open() as app, pytest.raises(UnknownEvent, match=r"context\.extra"):
            app.fire("context.extr")

    def test_every_event_succeeds_in_a_project_without_configuration(self, samuel_project: SamuelProject) -> None:
        from samuel.events import EVENTS
        from samuel.events.schema import sample

        (samuel_project.root / "samuel.toml").unlink()
        TaskStore(samuel_project.root / ".samuel/run").replace_all([Task(id="1", title="One")])
        answered = set()
        with samuel_project.open() as app:
            for event in EVENTS:
                fields = sample(event)
                if "agent" in fields:
                    fields["agent"] = "scripted"  # the agent that comes with Samuel
                more = {"context": app.context()} if event.family == "loop" else {}
                fired = app.fire(event.name, **fields, **more)
                assert fired.ok, (event.name, fired)
                assert fired.warnings == ()
                answered.update(call.handler.event for call in fired.calls if call.handler.name == "default")
        assert answered == set(names.LOOP) - {names.CONTEXT_EXTRA, names.BEFORE_LAND, names.AFTER_LAND}

    def test_before_loop_stops_when_there_are_no_tasks(self, samuel_project: SamuelProject) -> None:
        fired = samuel_project.fire("before:loop", prd_path=".samuel/run/prd.toon", max_iterations=1)
        assert fired.stopped
        assert fired.reason.endswith("`.samuel/run/prd.toon` has no tasks; `samuel run init --prd FILE` fills it")


def test_two_runs_with_a_fake_clock_leave_the_same_journal(samuel_project: SamuelProject) -> None:
    texts = []
    for _ in range(2):
        handlers = [Recorder("context.extra", name=n, returns={"data": {"x": n}}) for n in "ab"]
        with samuel_project.open(handlers=handlers, clock=FakeClock()) as app:
            app.fire("context.extra", task={"id": "1"}, context=app.context())
            app.fire("TurnEnd", response="x", turn_number=1)
            app.fire("quality.check", commands=["false"])
        (segment,) = (samuel_project.root / ".samuel/run/journal").glob("*.jsonl")
        texts.append(segment.read_bytes())
        segment.unlink()
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) == 9
    assert json.loads(texts[0].splitlines()[0])["event_id"] == "evt-1"


def test_a_sink_receives_every_event_call_and_outcome(samuel_project: SamuelProject) -> None:
    sink = Recorder()
    with samuel_project.open(handlers=[Recorder("context.task")], sinks=[sink]) as app:
        fired = app.fire("context.task", task={})
    assert [event.event_id for event in sink.begun] == [fired.event.event_id]
    assert tuple(sink.calls) == fired.calls
    assert sink.fired == [fired]


def test_a_function_without_the_hook_decorator_is_refused(samuel_project: SamuelProject) -> None:
    with pytest.raises(UsageError, match=r"samuel\.hook"):
        samuel_project.open(handlers=[print])

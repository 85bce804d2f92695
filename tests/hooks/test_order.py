"""The resolved chain: a pure function of the handlers found and of samuel.toml."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.config.model import EventSettings, HandlerRef
from samuel.events import EventType, event_type
from samuel.hooks.handler import Handler, HandlerMode, HandlerStatus, Origin, Role
from samuel.hooks.order import Chain, resolve

EXTRA = event_type("context.extra")
TASK = event_type("context.task")
GATE = event_type("iteration.gate")


def handler(name: str, origin: Origin = Origin.PROJECT, event: EventType | str = TASK, **more: Any) -> Handler:
    event = event if isinstance(event, str) else event.name
    return Handler(**{"name": name, "event": event, "origin": origin, "runtime": "exec", "owner": name, **more})


def built_in(event: EventType = TASK) -> Handler:
    return handler("default", Origin.BUILT_IN, event, owner="")


def chain(*handlers: Handler, event: EventType = TASK, **settings: Any) -> Chain:
    if "handlers" in settings:
        settings["handlers"] = tuple(
            reference if isinstance(reference, HandlerRef) else HandlerRef(reference)
            for reference in settings["handlers"]
        )
    more = {key: settings.pop(key) for key in ("all_handlers", "removed_names") if key in settings}
    return resolve(event, handlers, EventSettings(**settings), "samuel.toml", **more)


def names(resolved: Chain) -> list[str]:
    return [step.handler.name for step in resolved.steps]


handlers = st.builds(
    handler,
    st.sampled_from("abcdefgh"),
    st.sampled_from(list(Origin)[1:]),
    order=st.one_of(st.none(), st.sampled_from([50, 100, 150, 200, 250])),
    declared=st.integers(0, 3),
    status=st.sampled_from(
        [
            HandlerStatus.ACTIVE,
            HandlerStatus.ACTIVE,
            HandlerStatus.ACTIVE,
            HandlerStatus.UNTRUSTED,
            HandlerStatus.SHADOWED,
        ]
    ),
)
distinct = st.lists(
    handlers, max_size=10, unique_by=lambda handler: (handler.origin, handler.name, handler.declared)
)


@given(
    distinct,
    st.randoms(),
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([50, 100, 200]), max_size=3),
)
def test_the_chain_does_not_depend_on_the_order_of_discovery(
    handlers_found: list[Handler], randomly: random.Random, order: dict[str, int]
) -> None:
    handlers_found = [built_in(), *handlers_found]
    once = resolve(TASK, handlers_found, EventSettings(order=order))
    randomly.shuffle(handlers_found)
    again = resolve(TASK, handlers_found, EventSettings(order=order))
    assert once.steps == again.steps
    assert once.warnings == again.warnings
    assert once.left_out == again.left_out


@given(distinct)
def test_numbers_ascend_and_each_handler_runs_once_or_is_left_out(handlers: list[Handler]) -> None:
    resolved = chain(built_in(), *handlers)
    numbers = [step.order for step in resolved.steps]
    assert numbers == sorted(numbers)  # type: ignore[type-var]
    running = [id(step.handler) for step in resolved.steps]
    assert len(running) == len(set(running))
    taking_part = [handler for handler in handlers if handler.status is not HandlerStatus.SHADOWED]
    assert len(resolved.steps) + len(resolved.left_out) == len(taking_part) + 1
    given_numbers = [
        step.order
        for step in resolved.steps
        if step.handler.order is not None and step.handler.status is HandlerStatus.ACTIVE
    ]
    assert len(given_numbers) == len(set(given_numbers))  # of two with the same number that was set, one is left


class TestNumbers:
    def test_the_built_in_has_100_and_everything_else_200(self) -> None:
        resolved = chain(handler("a"), built_in())
        assert [(step.handler.name, step.order) for step in resolved.steps] == [("default", 100), ("a", 200)]

    def test_second_built_in_has_a_name_and_a_number_of_its_own(self) -> None:
        second = handler("review", Origin.BUILT_IN, owner="", order=900)
        assert names(chain(built_in(), second, handler("a"))) == ["default", "a", "review"]
        assert names(chain(built_in(), second, order={"review": 50})) == ["review", "default"]
        assert names(chain(built_in(), second, handlers=["default"])) == ["default"]
        assert names(chain(built_in(), second, handlers=["review", "default"])) == ["review", "default"]
        assert names(chain(built_in(), second, handler("mine", order=900))) == ["default", "mine"]

    def test_the_order_in_samuel_toml_wins_over_the_decorators(self) -> None:
        ordered = handler("a", order=50)
        assert names(chain(built_in(), ordered)) == ["a", "default"]
        assert names(chain(built_in(), ordered, order={"a": 150})) == ["default", "a"]
        assert names(chain(built_in(), handler("b"), order={"default": 300})) == ["b", "default"]

    def test_the_project_has_the_last_word_at_equal_numbers(self) -> None:
        handlers = [
            handler(origin.name.lower(), origin) for origin in reversed(Origin) if origin is not Origin.BUILT_IN
        ]
        assert names(chain(*handlers)) == [
            "distribution",
            "user_plugin",
            "user",
            "project_plugin",
            "project",
            "embedder",
        ]

    def test_handlers_of_one_plugin_run_as_its_manifest_declares_them(self) -> None:
        handlers = [
            handler("p/z_first", Origin.PROJECT_PLUGIN, owner="p", declared=0),
            handler("p/a_second", Origin.PROJECT_PLUGIN, owner="p", declared=1),
            handler("o/last", Origin.PROJECT_PLUGIN, owner="o", declared=5),
        ]
        assert names(chain(*handlers)) == ["o/last", "p/z_first", "p/a_second"]

    def test_handlers_of_equal_number_and_origin_run_by_name_then_as_declared(self) -> None:
        handlers = [handler("b"), handler("a", declared=2, entry="z"), handler("a", declared=1, entry="y")]
        assert [step.handler.entry for step in chain(*handlers).steps] == ["y", "z", ""]

    def test_ten_handlers_without_an_order_all_run(self) -> None:
        handlers = [handler(f"h{number}", event=EXTRA) for number in range(10)]
        resolved = chain(*handlers, event=EXTRA)
        assert names(resolved) == [f"h{number}" for number in range(10)]
        assert resolved.warnings == ()

    def test_a_handler_without_an_order_is_not_replaced_by_one_with_200(self) -> None:
        resolved = chain(handler("a"), handler("b", order=200))
        assert names(resolved) == ["a", "b"]
        assert resolved.warnings == ()


class TestEqualGivenNumbers:
    def test_of_two_with_the_same_order_the_one_nearer_to_the_project_stays(self) -> None:
        resolved = chain(handler("mine", order=150), handler("theirs", Origin.USER, order=150))
        assert names(resolved) == ["mine"]
        assert [(left.handler.name, left.why) for left in resolved.left_out] == [
            ("theirs", "`mine` was given the same order, 150")
        ]

    def test_the_warning_about_a_replacement_says_how_to_keep_both(self) -> None:
        (warning,) = chain(handler("a", order=150), handler("b", order=150)).warnings
        assert "`b` replaces `a` on `context.task`" in warning
        assert "order 150" in warning
        assert 'To keep both, give one another number under [hooks."context.task".order] in samuel.toml' in warning

    def test_of_two_with_the_same_order_and_origin_the_later_declared_stays(self) -> None:
        handlers = [handler("a", order=5, declared=position, entry=f"f{position}") for position in range(3)]
        resolved = chain(*handlers)
        assert [step.handler.entry for step in resolved.steps] == ["f2"]
        assert len(resolved.warnings) == 2

    def test_a_handler_with_order_100_replaces_the_built_in(self) -> None:
        resolved = chain(built_in(), handler("a", Origin.DISTRIBUTION, order=100))
        assert names(resolved) == ["a"]
        assert "`a` replaces `default`" in resolved.warnings[0]

    def test_two_handlers_with_the_same_order_in_samuel_toml_replace_each_other(self) -> None:
        assert names(chain(handler("a"), handler("b"), order={"a": 7, "b": 7})) == ["b"]

    def test_one_key_of_samuel_toml_may_place_several_handlers_of_one_owner(self) -> None:
        handlers = [handler("p:f", owner="p"), handler("p:g", owner="p"), built_in()]
        resolved = chain(*handlers, order={"p": 50})
        assert names(resolved) == ["p:f", "p:g", "default"]
        assert resolved.warnings == ()

    @pytest.mark.parametrize("status", [HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN])
    def test_a_handler_that_cannot_run_replaces_no_other_and_stays_in_the_chain(
        self, status: HandlerStatus
    ) -> None:
        resolved = chain(built_in(), handler("mine", order=100, status=status))
        assert names(resolved) == ["default", "mine"]
        assert resolved.warnings == ()

    def test_the_advice_of_the_replacement_warning_keeps_both(self) -> None:
        handlers = [handler("a", order=150), handler("b", order=150)]
        assert names(chain(*handlers, order={"a": 151})) == ["b", "a"]


@pytest.mark.parametrize("origin", [Origin.USER, Origin.USER_PLUGIN])
@pytest.mark.parametrize("event", ["PreAbilityCall", "UserPromptSubmit"])
class TestGuardsOfTheUser:
    def test_handlers_in_samuel_toml_cannot_leave_out_a_guard_of_the_user(
        self, origin: Origin, event: str
    ) -> None:
        kind = event_type(event)
        own, project = handler("own", origin, kind), handler("theirs", event=kind)
        for listed in ([], ["default"], ["theirs"]):
            resolved = chain(own, project, event=kind, handlers=listed)
            assert names(resolved)[0] == "own"
            assert resolved.steps[0].why == "a guard of your own, which `handlers` cannot leave out"

    def test_handlers_in_samuel_toml_may_place_a_guard_of_the_user(self, origin: Origin, event: str) -> None:
        kind = event_type(event)
        own, project = handler("own", origin, kind), handler("theirs", event=kind)
        assert names(chain(own, project, event=kind, handlers=["theirs", "own"])) == ["theirs", "own"]
        assert names(chain(own, project, event=kind, handlers=["theirs", "..."])) == ["theirs", "own"]

    def test_the_same_order_does_not_replace_a_guard_of_the_user(self, origin: Origin, event: str) -> None:
        kind = event_type(event)
        own, project = handler("own", origin, kind, order=50), handler("theirs", event=kind, order=50)
        assert names(chain(own, project, event=kind)) == ["own", "theirs"]

    def test_an_observer_of_the_user_can_be_left_out(self, origin: Origin, event: str) -> None:
        kind = event_type(event)
        assert names(chain(handler("own", origin, kind, role=Role.OBSERVE), event=kind, handlers=[])) == []


class TestHandlers:
    four = (built_in(), handler("a", order=1), handler("b", Origin.USER), handler("c", order=300))

    def test_handlers_is_the_whole_chain_in_that_order(self) -> None:
        resolved = chain(*self.four, handlers=["c", "default", "a"])
        assert names(resolved) == ["c", "default", "a"]
        assert [(left.handler.name, "does not name it" in left.why) for left in resolved.left_out] == [("b", True)]

    def test_dots_in_handlers_stand_for_all_others_in_their_usual_order(self) -> None:
        assert names(chain(*self.four, handlers=["c", "..."])) == ["c", "a", "default", "b"]
        assert names(chain(*self.four, handlers=["...", "a"])) == ["default", "b", "c", "a"]
        assert names(chain(*self.four, handlers=["b", "...", "default"])) == ["b", "a", "c", "default"]

    def test_dots_alone_in_handlers_only_prevent_replacement(self) -> None:
        assert names(chain(*self.four, handlers=["..."])) == names(chain(*self.four))
        both = (handler("a", order=5), handler("b", order=5))
        assert names(chain(*both, handlers=["..."])) == ["a", "b"]

    def test_empty_handlers_is_an_empty_chain(self) -> None:
        assert names(chain(*self.four, handlers=[])) == []

    @given(st.permutations(["a", "b", "c", "default"]), st.integers(0, 4), st.integers(0, 4))
    def test_any_list_of_handlers_is_followed_exactly(self, order: list[str], keep: int, dots: int) -> None:
        listed = order[:keep]
        assert names(chain(*self.four, handlers=listed)) == listed
        rest = [name for name in ("a", "default", "b", "c") if name not in listed]
        at = min(dots, keep)
        with_dots = [*listed[:at], "...", *listed[at:]]
        assert names(chain(*self.four, handlers=with_dots)) == [*listed[:at], *rest, *listed[at:]]

    def test_default_of_an_event_without_a_built_in_does_nothing(self) -> None:
        resolved = chain(handler("a", event=EXTRA), event=EXTRA, handlers=["default", "a"])
        assert names(resolved) == ["a"]
        assert resolved.problems == ()

    def test_an_owner_in_handlers_means_all_its_handlers_and_owner_colon_function_one(self) -> None:
        handlers = [
            handler("p:f", owner="p", entry="f"),
            handler("p:g", owner="p", entry="g", declared=1),
            handler("q", owner="q"),
        ]
        assert names(chain(*handlers, handlers=["q", "p"])) == ["q", "p:f", "p:g"]
        assert names(chain(*handlers, handlers=["p:g"])) == ["p:g"]

    @pytest.mark.parametrize("status", [HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN])
    def test_a_listed_handler_that_cannot_run_stays_in_the_chain(self, status: HandlerStatus) -> None:
        guard = handler("guard", status=status, reason="why")
        assert names(chain(built_in(), guard, handlers=["guard", "default"])) == ["guard", "default"]
        # also while it may not be asked which event it is for
        unasked = handler("guard", status=status, reason="why", event="")
        resolved = chain(built_in(), unasked, handlers=["guard", "default"])
        assert names(resolved) == ["guard", "default"]

    @pytest.mark.parametrize("status", [HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN])
    @pytest.mark.parametrize("event", ["PreAbilityCall", "UserPromptSubmit"])
    def test_a_hook_that_cannot_be_asked_for_its_events_is_a_guard_of_events_that_can_be_denied(
        self, status: HandlerStatus, event: str
    ) -> None:
        unasked = handler("guard", status=status, event="")
        resolved = chain(unasked, event=event_type(event))
        assert [step.why for step in resolved.steps] == [
            "it could not be asked for its events, so it counts as a guard of this one"
        ]
        assert names(chain(unasked, event=event_type("PostAbilityCall"))) == []
        assert names(chain(unasked, event=event_type(event), handlers=[])) == []
        assert names(chain(unasked, event=event_type(event), handlers=["guard", "..."])) == ["guard"]

    @pytest.mark.parametrize("status", [HandlerStatus.UNTRUSTED, HandlerStatus.BROKEN])
    def test_an_unlisted_handler_that_cannot_run_stays_in_the_chain(self, status: HandlerStatus) -> None:
        assert names(chain(built_in(), handler("guard", status=status, order=5))) == ["guard", "default"]

    @pytest.mark.parametrize("status", [HandlerStatus.SHADOWED, HandlerStatus.DISABLED])
    def test_a_disabled_or_shadowed_handler_does_not_run(self, status: HandlerStatus) -> None:
        assert names(chain(built_in(), handler("a", status=status))) == ["default"]


class TestProblems:
    def test_a_misspelt_name_in_handlers_is_a_warning_and_is_refused_in_its_place(self) -> None:
        resolved = chain(handler("python"), handlers=[HandlerRef("pyton", line=7)])
        assert resolved.missing == resolved.warnings
        (warning,) = resolved.missing
        assert warning.startswith("samuel.toml:7: `handlers` of `context.task` names `pyton`, which was not found")
        assert "did you mean `python`?" in warning
        assert [(step.handler.name, step.handler.status) for step in resolved.steps] == [
            ("pyton", HandlerStatus.BROKEN)
        ]

    @pytest.mark.parametrize(
        ("name", "nearest"),
        [
            ("Org/Repo", "org/repo"),
            ("repo", "org/repo"),
            ("Repo/Hook", "org/repo/hook"),
            ("hook", "org/repo/hook"),
            ("other/org/repo", "org/repo"),
            ("org/rebo", "org/repo"),
        ],
    )
    def test_a_name_in_another_case_or_a_part_of_it_is_answered_with_the_whole_name(
        self, name: str, nearest: str
    ) -> None:
        installed = handler("org/repo/hook", owner="org/repo")
        resolved = chain(installed, handlers=[name], order={name: 5}, all_handlers=[installed])
        assert len(resolved.missing) == 2
        assert all(f"(did you mean `{nearest}`?)" in warning for warning in resolved.missing)

    def test_a_misspelt_name_in_order_is_a_warning_and_changes_nothing(self) -> None:
        resolved = chain(handler("python"), order={"pythn": 5}, order_lines={"pythn": 9})
        (warning,) = resolved.missing
        assert warning.startswith("samuel.toml:9: ")
        assert "did you mean `python`?" in warning
        assert names(resolved) == ["python"]

    @pytest.mark.parametrize("status", [HandlerStatus.SHADOWED, HandlerStatus.DISABLED])
    @pytest.mark.parametrize("name", ["a", "a/part", "a:part"])
    def test_the_name_of_a_disabled_handler_says_why_and_keeps_no_place(
        self, status: HandlerStatus, name: str
    ) -> None:
        idle = handler("a", status=status, reason="why")
        resolved = chain(idle, handlers=[name], all_handlers=[idle])
        (warning,) = resolved.missing
        assert f"names `{name}`, which is {status}" in warning
        assert "why" in warning
        assert resolved.steps == ()

    def test_the_name_of_a_removed_handler_keeps_no_place(self) -> None:
        resolved = chain(handlers=["a/guard"], order={"a": 5}, removed_names=lambda: ["a"])
        assert resolved.steps == ()
        assert all("which was removed (remove it from that line)" in warning for warning in resolved.missing)
        assert len(resolved.missing) == 2

    def test_the_name_of_a_handler_of_another_event_is_explained(self) -> None:
        other = handler("a", event=EXTRA)
        resolved = chain(other, order={"a": 1}, all_handlers=[other])
        assert "which does not handle that event" in resolved.missing[0]

    def test_a_handler_that_handlers_names_twice_is_a_problem(self) -> None:
        handlers = [handler("p:f", owner="p", entry="f"), handler("p:g", owner="p", entry="g")]
        (problem,) = chain(*handlers, handlers=["p", "p:f"]).problems
        assert "names `p:f` twice" in problem.what

    def test_names_of_existing_handlers_are_not_missing(self) -> None:
        handlers = [handler("p:f", owner="p", entry="f")]
        assert chain(*handlers, handlers=["p", "default"], order={"p:f": 1, "default": 2}).missing == ()


class TestStrictAndTimeout:
    def step(
        self, ref: HandlerRef | None = None, subject: Handler | None = None, **settings: Any
    ) -> tuple[bool, float]:
        if ref:
            settings["handlers"] = [ref]
        step = chain(subject or handler("a"), **settings).steps[0]
        return step.strict, step.timeout

    def test_strict_and_timeout_default_to_the_catalogues(self) -> None:
        assert self.step() == (False, 30.0)
        quality = event_type("quality.check")
        step = chain(handler("a", event=quality), event=quality).steps[0]
        assert (step.strict, step.timeout) == (True, 300.0)

    def test_the_most_specific_strict_and_timeout_win(self) -> None:
        mine = handler("a", strict=True, timeout=1.0)
        assert self.step(subject=mine) == (True, 1.0)
        assert self.step(subject=mine, strict=False, timeout=2.0) == (False, 2.0)
        ref = HandlerRef("a", strict=True, timeout=3.0)
        assert self.step(ref, mine, strict=False, timeout=2.0) == (True, 3.0)
        assert self.step(HandlerRef("a"), mine, strict=False, timeout=2.0) == (False, 2.0)

    def test_settings_of_the_methodology_win_over_those_of_the_event(self) -> None:
        general = EventSettings(strict=True, timeout=1.0, order={"a": 1, "b": 2})
        own = EventSettings(timeout=2.0, order={"b": 3})
        assert own.over(general) == EventSettings(strict=True, timeout=2.0, order={"a": 1, "b": 3})

    def test_a_blocking_hook_is_strict_whatever_is_set(self) -> None:
        blocking = handler("a", blocking=True)
        assert self.step(HandlerRef("a", strict=False), blocking, strict=False) == (True, 30.0)

    def test_a_guard_is_strict_whatever_is_set(self) -> None:
        guard = handler("a", role=Role.GUARD)
        assert self.step(HandlerRef("a", strict=False), guard, strict=False) == (True, 30.0)


class TestReplace:
    def test_only_the_last_handler_of_a_gate_runs_and_a_warning_names_the_others(self) -> None:
        handlers = [handler("a", event=GATE), handler("b", event=GATE), built_in(GATE)]
        resolved = chain(*handlers, event=GATE)
        assert names(resolved) == ["b"]
        (warning,) = resolved.warnings
        assert "`b` replaces `default`, `a`" in warning
        assert {left.handler.name for left in resolved.left_out} == {"default", "a"}

    def test_the_handlers_that_a_gate_replaces_are_left_out_for_that_reason(self) -> None:
        handlers = [handler("a", event=GATE), built_in(GATE)]
        for listed in ({}, {"handlers": ["default", "a"]}):
            (left,) = chain(*handlers, event=GATE, **listed).left_out
            assert left.why == "only the last handler of `iteration.gate` runs, and that is `a`"

    @pytest.mark.parametrize("listed", [["a", "default"], ["a", "..."], ["...", "default"]])
    def test_a_list_that_ends_with_the_built_in_is_a_problem_that_explains(self, listed: list[str]) -> None:
        (problem,) = chain(handler("a", event=GATE), built_in(GATE), event=GATE, handlers=listed).problems
        assert problem.what == (
            "only the last handler of `iteration.gate` runs: with `default` at the end, `a` would not"
        )
        assert problem.hint == 'name the one that should run: handlers = ["a"] or handlers = ["default"]'

    @pytest.mark.parametrize("listed", [["default", "a"], ["...", "a"], ["a"], ["default"]])
    def test_a_list_that_names_the_gate_to_run_is_not_a_problem(self, listed: list[str]) -> None:
        resolved = chain(handler("a", event=GATE), built_in(GATE), event=GATE, handlers=listed)
        assert (names(resolved), resolved.problems) == ([listed[-1]], ())


class TestMode:
    PRE = event_type("PreAbilityCall")

    def mode(self, *handlers: Handler, **settings: Any) -> list[str]:
        return [step.mode.value for step in chain(*handlers, event=self.PRE, **settings).steps]

    def test_samuel_toml_has_the_last_word_about_the_mode(self) -> None:
        guard = handler("a", event=self.PRE)
        observed = handler("a", event=self.PRE, mode=HandlerMode.OBSERVE)
        assert self.mode(guard) == ["enforce"]
        assert self.mode(observed) == ["observe"]
        assert self.mode(observed, handlers=["a"]) == ["observe"]
        assert self.mode(guard, handlers=[HandlerRef("a", mode="observe")]) == ["observe"]
        assert self.mode(observed, handlers=[HandlerRef("a", mode="enforce")]) == ["enforce"]

    @pytest.mark.parametrize("origin", [Origin.USER, Origin.USER_PLUGIN])
    def test_a_project_cannot_have_a_guard_of_the_user_observed(self, origin: Origin) -> None:
        own = handler("a", origin, event=self.PRE)
        resolved = chain(own, event=self.PRE, handlers=[HandlerRef("a", mode="observe")])
        assert [step.mode.value for step in resolved.steps] == ["enforce"]
        assert resolved.warnings == ("`a` is a guard of your own, so `mode` in samuel.toml cannot turn it off",)
        own = handler("a", origin, event=self.PRE, mode=HandlerMode.OBSERVE)  # its owner can
        assert self.mode(own, handlers=["..."]) == ["observe"]

    def test_an_observed_handler_of_a_gate_is_a_problem(self) -> None:
        gate = handler("robot", event=GATE)
        (problem,) = chain(gate, event=GATE, handlers=[HandlerRef("robot", mode="observe", line=3)]).problems
        assert str(problem).startswith("samuel.toml:3: only one handler answers `iteration.gate`")

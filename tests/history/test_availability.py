"""Which agent works next, and how long a run waits for those that cannot."""

from __future__ import annotations

import pytest

from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.history.availability import AgentChoice, AgentWait, choose, wait_after

NOW = 1_750_000_000.0
HOUR = 3600.0
AGENTS = ("first", "second")


def wait(seconds: float, kind: EndingKind = EndingKind.LIMITED, since: float = NOW) -> AgentWait:
    return AgentWait(kind=kind, why="the words of the service", since=since, until=NOW + seconds)


def seconds_after(kind: EndingKind, tries: int = 1, resets_in: float | None = None, key: str = "run-1/1") -> float:
    """How long the wait is after so many endings of this kind in a row."""
    earlier = AgentWait(kind=kind, why="", since=NOW, until=NOW, tries=tries - 1) if tries > 1 else None
    resets_at = None if resets_in is None else NOW + resets_in
    return wait_after(AgentEnding(kind, "", resets_at), earlier, NOW, key).until - NOW


class TestChoose:
    def test_the_first_agent_works_if_nothing_is_wrong_with_it(self) -> None:
        assert choose(AGENTS, {"second": wait(HOUR)}, NOW, HOUR) == AgentChoice("first")

    def test_the_next_agent_works_while_the_first_one_waits(self) -> None:
        assert choose(AGENTS, {"first": wait(60)}, NOW, HOUR) == AgentChoice("second")

    def test_the_first_agent_is_tried_again_when_its_wait_is_over(self) -> None:
        assert choose(AGENTS, {"first": wait(0)}, NOW, HOUR) == AgentChoice("first")

    def test_with_all_of_them_waiting_the_run_waits_for_the_one_that_is_ready_first(self) -> None:
        waits = {"first": wait(600), "second": wait(60)}
        assert choose(AGENTS, waits, NOW, HOUR) == AgentChoice("second", NOW + 60, "the words of the service")

    def test_a_wait_longer_than_max_wait_is_not_waited_for(self) -> None:
        choice = choose(("first",), {"first": wait(HOUR + 1)}, NOW, HOUR)
        assert (choice.agent, choice.until) == ("", 0)
        assert choice.why == "first stays limited for longer than `max_wait`: the words of the service"
        assert choose(("first",), {"first": wait(HOUR)}, NOW, HOUR).agent == "first"

    def test_max_wait_counts_from_the_beginning_of_the_trouble(self) -> None:
        waits = {"first": wait(60, EndingKind.OVERLOADED, since=NOW - HOUR)}
        assert choose(("first",), waits, NOW, HOUR).agent == ""
        assert choose(("first",), waits, NOW, HOUR + 60).agent == "first"

    def test_an_agent_that_is_not_logged_in_is_not_waited_for(self) -> None:
        waits = {"first": wait(0, EndingKind.UNAUTHORISED)}
        assert choose(AGENTS, waits, NOW + HOUR, HOUR) == AgentChoice("second")
        assert choose(("first",), waits, NOW + HOUR, HOUR) == AgentChoice(
            "",
            why="first is not logged in: the words of the service; log in, or give it its key, and start again",
        )

    def test_every_agent_is_named_if_none_is_worth_waiting_for(self) -> None:
        waits = {"first": wait(0, EndingKind.UNAUTHORISED), "second": wait(2 * HOUR)}
        why = choose(AGENTS, waits, NOW, HOUR).why
        assert "first is not logged in" in why
        assert "second stays limited" in why


class TestWaitAfter:
    def test_a_limit_is_waited_out_until_its_reset(self) -> None:
        assert HOUR <= seconds_after(EndingKind.LIMITED, resets_in=HOUR) <= HOUR + 30

    def test_a_reset_in_the_past_is_not_waited_for(self) -> None:
        assert seconds_after(EndingKind.LIMITED, resets_in=-HOUR) == 0

    def test_a_limit_without_a_reset_is_tried_again_less_and_less_often(self) -> None:
        waits = [seconds_after(EndingKind.LIMITED, tries) for tries in range(1, 7)]
        assert waits == pytest.approx([300, 600, 1200, 2400, 3600, 3600], rel=0.1)

    @pytest.mark.parametrize("kind", [EndingKind.OVERLOADED, EndingKind.UNREACHABLE])
    def test_other_trouble_is_tried_again_after_seconds_then_minutes(self, kind: EndingKind) -> None:
        waits = [seconds_after(kind, tries) for tries in (1, 2, 3, 4, 40)]
        assert waits == pytest.approx([5, 10, 20, 40, 600], rel=0.11)

    def test_jitter_never_shortens_a_wait_and_is_the_same_for_the_same_key(self) -> None:
        waits = {key: seconds_after(EndingKind.OVERLOADED, key=key) for key in map(str, range(50))}
        assert len(set(waits.values())) > 1
        assert min(waits.values()) >= 5
        assert {key: seconds_after(EndingKind.OVERLOADED, key=key) for key in waits} == waits

    def test_tries_are_counted_and_the_trouble_keeps_its_beginning(self) -> None:
        first = wait_after(AgentEnding(EndingKind.OVERLOADED, "busy"), None, NOW, "1")
        second = wait_after(AgentEnding(EndingKind.UNREACHABLE), first, NOW + 60, "2")
        assert (first.tries, first.since, first.why) == (1, NOW, "busy")
        assert (second.tries, second.since, second.why) == (2, NOW, "unreachable")

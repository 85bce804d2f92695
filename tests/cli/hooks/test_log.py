"""`samuel hooks log`: the calls of the past, newest last."""

from __future__ import annotations

CALLS = (
    ("quality.check", "default", 3.25),
    ("quality.check", "scan", 60.0, "failed", "2 findings"),
    ("TurnEnd", "notify", 700.0),
)


def test_hooks_log_says_when_there_are_no_calls_yet(samuel):
    assert samuel("hooks", "log") == (0, "no calls yet\n", "")
    assert samuel("hooks", "log", "--json").json["data"] == []


def test_hooks_log_lists_calls_the_oldest_first(samuel, journal):
    journal(*CALLS)
    assert samuel("hooks", "log") == (
        0,
        "TIME                      EVENT          HANDLER  OUTCOME  MS     SLOW     MESSAGE\n"
        "2025-01-15T10:00:00.000Z  quality.check  default  ok       3.2    -\n"
        "2025-01-15T10:00:01.000Z  quality.check  scan     failed   60.0   note     2 findings\n"
        "2025-01-15T10:00:02.000Z  TurnEnd        notify   ok       700.0  warning\n",
        "",
    )


def test_hooks_log_filters_by_event_outcome_and_limit(samuel, journal):
    journal(*CALLS)

    def handlers(*arguments: str) -> list[str]:
        return [call["handler"] for call in samuel("hooks", "log", *arguments, "--json").json["data"]]

    assert handlers("--event", "quality_check") == ["default", "scan"]
    assert handlers("--outcome", "failed") == ["scan"]
    assert handlers("--limit", "2") == ["scan", "notify"]
    assert handlers("--event", "TurnEnd", "--outcome", "failed") == []


def test_hooks_log_prints_calls_as_json(samuel, journal):
    journal(CALLS[1])
    assert samuel("hooks", "log", "--json").json["data"] == [
        {
            "call_id": "evt-0.1",
            "event_id": "evt-0",
            "event": "quality.check",
            "at": "2025-01-15T10:00:00.000Z",
            "handler": "scan",
            "origin": "project",
            "runtime": "exec",
            "position": 1,
            "outcome": "failed",
            "duration_ms": 0,
            "digest": "",
            "phase": "",
            "strict": False,
            "message": "2 findings",
            "result": None,
            "stderr": "",
            "would": None,
            "background": False,
            "slow": "note",
        }
    ]


def test_hooks_log_shows_what_hooks_fire_recorded(samuel):
    samuel("hooks", "fire", "quality.check")
    (call,) = samuel("hooks", "log", "--json").json["data"]
    assert (call["event"], call["handler"], call["outcome"]) == ("quality.check", "default", "ok")


def test_hooks_log_refuses_unknown_events_and_outcomes(samuel):
    assert samuel("hooks", "log", "--event", "quality.chek").err.endswith("did you mean `quality.check`?\n")
    assert samuel("hooks", "log", "--outcome", "fine").code == 2
    assert samuel("hooks", "log", "--limit", "0").code == 2
    assert samuel("hooks", "log", "--limit", "many").code == 2


def test_hooks_log_works_with_a_broken_samuel_toml(samuel, put, journal):
    put("samuel.toml", "x = 1\n")
    journal(*CALLS)
    assert samuel("hooks", "log").code == 0


def test_a_journal_that_came_with_a_clone(samuel, put, journal):
    journal(("TurnEnd", "\x1b]0;owned\x07", 1.0, "ok", "a\nb\r\x1b[2J"))
    more = '{"kind": "call", "call_id": "", "event_id": "", "event": "", "at": 1e300, "handler": "", "origin": "",'
    more += ' "runtime": "", "position": 1, "outcome": "", "duration_ms": 1e300}\n{"kind": "call"'
    put(".samuel/run/journal/2026.jsonl", more)
    ran = samuel("hooks", "log")
    assert ran.code == 0
    assert not set("\x1b\x07\r") & set(ran.out)
    assert len(ran.out.splitlines()) == 3
    assert samuel("doctor").code == 0

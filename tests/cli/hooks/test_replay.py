"""`samuel hooks replay`: recorded events through the chain of today; and `hooks log --would-deny`."""

from __future__ import annotations

import json

import pytest

GUARD = """#!/bin/sh
[ "$1" = hook ] && echo PreAbilityCall && exit
echo called >> calls.log
if grep -q '%s'; then echo '{"decision": "%s", "reason": "%s"}'; fi
"""
REWRITER = """#!/bin/sh
[ "$1" = hook ] && echo PreAbilityCall && exit
echo '{"tool_input": {"command": "%s"}}'
"""
NAMES = """
[hooks.PreAbilityCall]
handlers = [%s]
"""


@pytest.fixture
def guard(put, samuel):
    """Write a guard and trust it: what it objects to, its verdict, its reason."""

    def write(text: str, verdict: str = "deny", reason: str = "not that", name: str = "guard"):
        put(f".samuel/hooks/{name}", GUARD % (text, verdict, reason), 0o755)
        samuel("trust", "--yes")

    return write


@pytest.fixture
def emit(samuel):
    def call(command: str, **more):
        context = {"ability_id": "shell", "tool_input": {"command": command, **more}}
        return samuel("emit", "PreAbilityCall", stdin=json.dumps(context)).code

    return call


@pytest.fixture
def replay(samuel):
    def call(*arguments: str):
        ran = samuel("hooks", "replay", *arguments, "--json")
        return ran.code, ran.json["data"]

    return call


def calls(project) -> int:
    log = project / "calls.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_replay_says_that_nothing_differs_while_the_chain_is_the_same(guard, emit, samuel, replay, project):
    guard("rm -rf")
    assert [emit("ls"), emit("rm -rf /")] == [0, 2]
    journal = sorted((project / ".samuel/run/journal").iterdir())
    before = [file.read_bytes() for file in journal]
    code, data = replay()
    assert (code, data["events"], data["replayed"], data["changed"]) == (0, 2, 2, 0)
    assert [row["today"]["verdict"] for row in data["verdicts"]] == ["allow", "deny"]
    assert [row["subject"] for row in data["verdicts"]] == ["shell ls", "shell rm -rf /"]
    assert calls(project) == 4
    # A replay is in no journal.
    assert [file.read_bytes() for file in sorted((project / ".samuel/run/journal").iterdir())] == before
    assert samuel("hooks", "replay", "--changed") == (0, "2 events replayed, 0 with another verdict today\n", "")


def test_replay_shows_handler_by_handler_what_a_changed_guard_decides_otherwise(guard, emit, replay, samuel):
    guard("rm -rf")
    emit("git push")
    emit("rm -rf /")
    guard("git push", reason="no push")
    code, data = replay("--changed")
    assert (code, data["changed"]) == (1, 2)
    assert [
        (row["recorded"]["verdict"], row["today"]["verdict"], row["handlers"][0]["today"]["reason"])
        for row in data["verdicts"]
    ] == [("allow", "deny", "no push"), ("deny", "allow", "")]
    assert samuel("hooks", "replay", "--changed") == (
        1,
        "TIME                      EVENT           SUBJECT         HANDLER  RECORDED  TODAY  REASON\n"
        "WHEN  PreAbilityCall  shell git push  (all)    allow     deny   no push\n"
        "WHEN  PreAbilityCall  shell git push  guard    allow     deny   no push\n"
        "WHEN  PreAbilityCall  shell rm -rf /  (all)    deny      allow  not that\n"
        "WHEN  PreAbilityCall  shell rm -rf /  guard    deny      allow  not that\n"
        "2 events replayed, 2 with another verdict today\n",
        "",
    )


def test_replay_shows_what_enforcing_an_observed_guard_would_change(guard, emit, replay, put, samuel):
    guard("rm -rf", reason="not that")
    put("samuel.toml", NAMES % '{ use = "guard", mode = "observe" }')
    assert [emit("ls"), emit("rm -rf /")] == [0, 0]
    log = samuel("hooks", "log", "--would-deny", "--json").json["data"]
    assert [(call["handler"], call["outcome"], call["subject"], call["would"]) for call in log] == [
        ("guard", "ok", "shell rm -rf /", {"verdict": "deny", "reason": "not that"})
    ]
    assert samuel("hooks", "log", "--would-deny").out.splitlines()[1].split()[-3:] == ["deny", "not", "that"]
    assert "would deny: not that" in samuel("hooks", "log").out
    assert samuel("hooks", "log", "--outcome", "denied", "--json").json["data"] == []
    assert replay()[0] == 0  # observed then and now

    put("samuel.toml", NAMES % '"guard"')
    code, data = replay("--changed")
    assert code == 1
    (row,) = data["verdicts"]
    assert (row["subject"], row["recorded"]["verdict"], row["today"]["verdict"]) == (
        "shell rm -rf /",
        "allow",
        "deny",
    )
    (handler,) = row["handlers"]
    assert handler["changed"]
    assert (handler["recorded"]["observed"], handler["today"]["observed"]) == (True, False)


def test_replay_counts_a_new_guard_only_where_it_objects(guard, emit, replay):
    guard("nothing")
    emit("ls")
    emit("git push")
    guard("git push", "ask", "push?", name="second")
    code, data = replay("--changed")
    (row,) = data["verdicts"]
    assert code == 1
    assert (row["recorded"]["verdict"], row["today"]["verdict"]) == ("allow", "ask")
    assert row["handlers"][1] == {
        "handler": "second",
        "changed": True,
        "recorded": None,
        "today": {"verdict": "ask", "reason": "push?", "observed": False},
    }


def test_a_question_is_the_same_verdict_whether_or_not_somebody_could_answer_it(guard, emit, replay):
    guard("git push", "ask", "push?")
    assert emit("git push") == 2  # there is no person to ask
    code, data = replay()
    assert code == 0
    assert data["verdicts"][0]["recorded"]["verdict"] == "ask"


def test_replay_compares_rewritten_inputs_even_those_the_journal_cuts(emit, replay, put, samuel):
    put(".samuel/hooks/safe", REWRITER % ("a" * 3000), 0o755)
    samuel("trust", "--yes")
    emit("ls")
    assert replay()[0] == 0
    put(".samuel/hooks/safe", REWRITER % ("a" * 2999 + "b"), 0o755)
    samuel("trust", "--yes")
    code, data = replay("--changed")
    assert code == 1
    assert data["verdicts"][0]["today"]["verdict"] == "rewrite"
    assert "another `tool_input`" in samuel("hooks", "replay", "--changed").out


def test_an_event_that_the_journal_cut_is_named_and_left_out(guard, emit, samuel, replay):
    guard("nothing")
    emit("cat > file", content="x" * 10_000)  # longer than other fields of the journal may be
    emit("cat > file", content="x" * 20_000)
    code, data = replay()
    assert (code, data["replayed"]) == (0, 1)
    assert [row["why"] for row in data["not_replayed"]] == [
        "truncated: the journal has only the beginning of `tool_input`"
    ]
    ran = samuel("hooks", "replay")
    assert ran.out.endswith("1 event replayed, 0 with another verdict today; 1 could not be replayed\n")
    assert "cannot be replayed: truncated" in ran.err


def test_an_event_without_an_end_is_left_out(guard, emit, replay, project):
    guard("nothing")
    emit("ls")
    (file,) = (project / ".samuel/run/journal").glob("*.jsonl")
    file.write_text("".join(f"{line}\n" for line in file.read_text().splitlines() if '"kind":"end"' not in line))
    assert [row["why"] for row in replay()[1]["not_replayed"]] == ["it has no end: the process was killed"]


def test_replay_calls_no_observer_and_only_what_is_trusted(guard, emit, replay, put, samuel, project):
    put(
        ".samuel/hooks/watch.py",
        "import samuel\n\n@samuel.hook('PreAbilityCall', role='observe')\ndef watch(event):\n"
        "    open('watched', 'a').write('x')\n",
    )
    guard("nothing")
    emit("ls")
    watched = list(project.rglob("watched"))
    sizes = [file.stat().st_size for file in watched]
    before = calls(project)
    assert watched
    assert [row["handler"] for row in replay()[1]["verdicts"][0]["handlers"] if row["today"]] == ["guard"]
    assert [file.stat().st_size for file in watched] == sizes
    assert calls(project) == before + 1
    put(".samuel/hooks/guard", GUARD % ("else", "deny", "x"), 0o755)  # this was not agreed to
    code, data = replay()
    assert code == 1
    assert data["verdicts"][0]["handlers"][0]["today"]["verdict"] == "refused"
    assert calls(project) == before + 1


def test_an_event_that_an_observer_denied_is_left_out(emit, replay, put, samuel):
    text = "import samuel\n\n@samuel.hook('PreAbilityCall', role='observe')\ndef watch(event):\n"
    put(".samuel/hooks/watch.py", text + "    return {'decision': 'deny', 'reason': 'I saw that'}\n")
    samuel("trust", "--yes")
    assert emit("ls") == 2
    code, data = replay()
    assert (code, data["replayed"]) == (0, 0)
    assert data["not_replayed"][0]["why"] == "`watch` decided it, and observers are not replayed"


@pytest.mark.parametrize(
    ("arguments", "count"),
    [(("--limit", "1"), 1), (("--since", "0s"), 0), (("--event", "UserPromptSubmit"), 0), (("--since", "2w"), 2)],
)
def test_replay_is_bounded_by_age_event_and_number(guard, emit, replay, arguments, count):
    guard("nothing")
    emit("ls")
    emit("pwd")
    assert replay(*arguments)[1]["events"] == count


def test_replay_refuses_events_whose_handlers_may_do_more_than_decide(samuel):
    ran = samuel("hooks", "replay", "--event", "agent.invoke")
    assert (ran.code, ran.err.splitlines()[0]) == (
        2,
        "error: `agent.invoke` cannot be replayed: its handlers may do more than decide",
    )
    assert samuel("hooks", "replay", "--since", "yesterday").code == 2
    assert samuel("hooks", "replay").out == "the journal has no such event\n"


def test_list_explain_and_doctor_say_that_a_handler_is_observed(guard, put, samuel):
    guard("rm")
    put("samuel.toml", NAMES % '{ use = "guard", mode = "observe" }, "..."')
    (row,) = samuel("hooks", "list", "--event", "PreAbilityCall", "--json").json["data"]
    assert (row["status"], row["mode"]) == ("active", "observe")
    assert "observed  what it decides is only recorded" in samuel("hooks", "list").out
    assert samuel("hooks", "explain", "PreAbilityCall", "--json").json["data"]["chain"][0]["mode"] == "observe"
    assert "observed: what it decides is only recorded" in samuel("hooks", "explain", "PreAbilityCall").out
    assert "`guard` is observed on `PreAbilityCall`" in samuel("doctor").out


def test_the_lines_that_move_an_observed_handler_keep_its_mode(guard, put, samuel):
    guard("rm")
    guard("ls", name="second")
    put("samuel.toml", NAMES % '{ use = "guard", mode = "observe" }, "second"')
    chain = samuel("hooks", "explain", "PreAbilityCall", "--json").json["data"]["chain"]
    assert 'mode = "observe"' in chain[1]["move"]["toml"]


def test_hooks_fire_shows_what_an_observed_handler_would_do(guard, put, samuel):
    guard("rm")
    put("samuel.toml", NAMES % '{ use = "guard", mode = "observe" }')
    payload = '{"ability_id": "shell", "tool_input": {"command": "rm x"}}'
    fired = samuel("hooks", "fire", "PreAbilityCall", "--payload", payload)
    assert (fired.code, fired.json["result"]) == (0, {})
    assert fired.json["chain"][0]["would"] == {"verdict": "deny", "reason": "not that"}

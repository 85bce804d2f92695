"""What a session gathers: a pure function of events, and a file that many may change at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from samuel.base.errors import ConfigError, SamuelError, UnsafePath, UsageError
from samuel.sessions.follow_up import WAITS, CommandResult, FollowUpActions, carry_out, title
from samuel.sessions.session import LONGEST, MOST_MESSAGES, FollowUp, Session, add_result
from samuel.sessions.store import MOST_SESSIONS, SessionStore

PROMPT, POST, STOP, END = "UserPromptSubmit", "PostAbilityCall", "SessionStop", "SessionEnd"


def ability(id: str, confidence: float | None = None) -> dict[str, Any]:
    return {"id": id, "reason": "", **({} if confidence is None else {"confidence": confidence})}


class TestAddResult:
    NEW = Session("s", "t0")

    def test_a_result_adds_messages_hints_and_follow_ups_to_the_session(self) -> None:
        result = {
            "messages_to_user": ["one", "two"],
            "suggested_abilities": [ability("a", 0.5)],
            "suggested_documents": [{"path": "/d.md", "reason": "r"}],
            "new_intent": {"intent": "learn"},
            "follow_up_actions": [
                {"kind": "open_file", "payload": {"path": "a.ts"}},
                {"kind": "open_file", "path": "b.ts"},
            ],
        }
        session = add_result(self.NEW, PROMPT, result, "t1")
        assert [(entry.at, entry.event, entry.text) for entry in session.messages] == [
            ("t1", PROMPT, "one"),
            ("t1", PROMPT, "two"),
        ]
        assert session.suggestions == (ability("a", 0.5),)
        assert session.documents == ({"path": "/d.md", "reason": "r"},)
        assert session.intent == {"intent": "learn"}
        assert [(entry.number, entry.payload) for entry in session.follow_ups] == [
            (1, {"path": "a.ts"}),
            (2, {"path": "b.ts"}),
        ]

    def test_hints_add_up_until_the_next_prompt(self) -> None:
        session = add_result(self.NEW, PROMPT, {"suggested_abilities": [ability("a", 0.5), ability("b")]}, "t1")
        session = add_result(session, POST, {"suggested_abilities": [ability("a", 0.9), ability("c")]}, "t2")
        assert session.suggestions == (ability("a", 0.9), ability("b"), ability("c"))
        session = add_result(session, POST, {"suggested_abilities": [ability("a", 0.1)]}, "t3")
        assert session.suggestions[0] == ability("a", 0.9)  # the highest confidence is kept
        session = add_result(
            session, POST, {"new_intent": {"intent": "x"}, "suggested_documents": [{"path": "d"}]}, "t4"
        )
        session = add_result(session, PROMPT, {}, "t5")
        assert (session.suggestions, session.documents, session.intent) == ((), (), None)

    def test_a_suggested_document_is_stored_once(self) -> None:
        session = add_result(self.NEW, POST, {"suggested_documents": [{"path": "d", "reason": "old"}]}, "t1")
        session = add_result(session, POST, {"suggested_documents": [{"path": "d", "reason": "new"}]}, "t2")
        assert session.documents == ({"path": "d", "reason": "new"},)

    def test_stop_and_end_change_the_state_of_the_session(self) -> None:
        session = add_result(self.NEW, STOP, {}, "t1")
        assert session.state == "stopped"
        assert add_result(session, PROMPT, {}, "t2").state == "open"  # work goes on
        assert add_result(session, END, {}, "t2").state == "ended"

    def test_the_messages_of_a_session_are_limited(self) -> None:
        session = self.NEW
        for number in range(MOST_MESSAGES + 5):
            session = add_result(session, POST, {"messages_to_user": [f"{number} " + "x" * 10_000]}, "t")
        assert len(session.messages) == MOST_MESSAGES
        assert session.messages[0].text.startswith("5 ")
        assert len(session.messages[0].text) == LONGEST

    def test_follow_ups_of_later_events_get_higher_numbers(self) -> None:
        first, second = ({"follow_up_actions": [{"kind": "open_file", "path": path}]} for path in "xy")
        session = add_result(add_result(self.NEW, POST, first, "t1"), POST, second, "t2")
        assert [entry.number for entry in session.follow_ups] == [1, 2]

    def test_a_waiting_follow_up_is_stored_once_however_often_hooks_propose_it(self) -> None:
        action = {"kind": "run_command", "payload": {"command": "make"}}
        session = add_result(self.NEW, POST, {"follow_up_actions": [action, action]}, "t1")
        session = add_result(session, POST, {"follow_up_actions": [action]}, "t2")
        assert [(entry.number, entry.at) for entry in session.follow_ups] == [(3, "t2")]
        done = replace(session, follow_ups=tuple(replace(entry, state="done") for entry in session.follow_ups))
        again = add_result(done, POST, {"follow_up_actions": [action]}, "t3")
        assert [(entry.number, entry.state) for entry in again.follow_ups] == [(3, "done"), (4, "queued")]


class TestFollowUps:
    def action(self, kind: str, **payload: Any) -> FollowUp:
        return FollowUp(1, kind, payload, "t", POST)

    @pytest.fixture
    def ran(self) -> list[list[str]]:
        return []

    @pytest.fixture
    def actions(self, ran: list[list[str]]) -> FollowUpActions:
        def run(words: list[str]) -> CommandResult:
            ran.append(words)
            return CommandResult(True, "exit code 0")

        return FollowUpActions(lambda title: "7", run)

    def test_open_file_is_listed(self, actions: FollowUpActions) -> None:
        done = carry_out(self.action("open_file", path="a.ts"), actions)
        assert (done.state, done.note, title(done)) == ("listed", "a.ts", "a.ts")

    def test_create_task_adds_a_task_to_the_queue(self, actions: FollowUpActions) -> None:
        done = carry_out(self.action("create_task", title="Fix it"), actions)
        assert (done.state, done.note) == ("done", "task `7`")

    def test_create_task_without_a_title_fails(self, actions: FollowUpActions) -> None:
        assert carry_out(self.action("create_task"), actions).state == "failed"

    def test_create_task_stays_queued_when_the_task_is_refused(self, actions: FollowUpActions) -> None:
        def refuse(title: str) -> str:
            raise SamuelError("there are no tasks yet")

        done = carry_out(self.action("create_task", title="x"), actions._replace(add_task=refuse))
        assert (done.state, done.note) == ("queued", "there are no tasks yet")

    def test_a_command_that_is_not_allowed_waits(self, actions: FollowUpActions, ran: list[list[str]]) -> None:
        done = carry_out(self.action("run_command", command="make test"), actions)
        assert (done.state, done.note, ran) == ("queued", WAITS, [])

    @pytest.mark.parametrize("command", ["make test", ["make", "test"]])
    def test_a_command_that_is_allowed_word_for_word_runs(
        self, actions: FollowUpActions, ran: list[list[str]], command: object
    ) -> None:
        done = carry_out(self.action("run_command", command=command), actions._replace(allowed=("make test",)))
        assert (done.state, ran) == ("done", [["make", "test"]])

    @pytest.mark.parametrize("command", ["make  test", "make test; rm -rf /", "make", "make test -k"])
    def test_a_command_that_is_almost_an_allowed_one_does_not_run(
        self, actions: FollowUpActions, ran: list[list[str]], command: str
    ) -> None:
        carry_out(self.action("run_command", command=command), actions._replace(allowed=("make test",)))
        assert ran == []

    def test_a_command_runs_when_the_user_confirms_it(
        self, actions: FollowUpActions, ran: list[list[str]]
    ) -> None:
        questions: list[str] = []

        def say(answer: bool) -> FollowUpActions:
            return actions._replace(confirm=lambda question: bool(questions.append(question)) or answer)

        assert carry_out(self.action("run_command", command="make"), say(False)).state == "queued"
        assert carry_out(self.action("run_command", command="make"), say(True)).state == "done"
        assert (questions, ran) == (["A hook proposes to run: make"] * 2, [["make"]])

    @pytest.mark.parametrize("command", ["", "  ", "'", 7, None, ["a", 7], "a\0b"])
    def test_an_action_without_a_valid_command_fails(self, actions: FollowUpActions, command: object) -> None:
        everything = actions._replace(confirm=lambda question: True)
        assert carry_out(self.action("run_command", command=command), everything).state == "failed"


def _replace(session: Session, before: Session | None) -> Session:
    return session


class TestStore:
    @pytest.fixture
    def store(self, tmp_path: Path) -> SessionStore:
        return SessionStore(tmp_path)

    def test_a_stored_session_is_loaded_again(self, store: SessionStore) -> None:
        assert store.load("s") is None
        session = store.change("s", lambda before: Session("s", "t"))
        assert store.load("s") == session
        assert store.ids() == ["s"]

    @pytest.mark.parametrize("id", ["../../etc/passwd", "a/b", ".hidden", "", "x" * 300, "ä ö", "a\0b", "-x"])
    def test_the_file_of_a_session_with_any_id_stays_in_the_directory(
        self, store: SessionStore, tmp_path: Path, id: str
    ) -> None:
        store.change(id, lambda before: Session(id, "t"))
        session = store.load(id)
        assert session is not None
        assert session.id == id
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert {path.parent for path in files} == {tmp_path / ".samuel/run/sessions"}

    def test_latest_is_the_open_session_that_began_last(self, store: SessionStore) -> None:
        with pytest.raises(SamuelError, match="no session is open"):
            store.latest()
        for session in (Session("a", "1"), Session("b", "2"), Session("c", "3", ended="4")):
            store.change(session.id, partial(_replace, session))
        assert store.latest().id == "b"
        assert store.named("c").id == "c"
        with pytest.raises(UsageError, match="there is no session `d`"):
            store.named("d")

    @pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"id": 7}', b"[" * 5000])
    def test_a_damaged_session_file_is_reported(self, store: SessionStore, tmp_path: Path, content: bytes) -> None:
        store.change("s", lambda before: Session("s", "t"))
        (tmp_path / ".samuel/run/sessions/s.json").write_bytes(content)
        with pytest.raises(ConfigError, match="not a valid session"):
            store.load("s")

    def test_a_symbolic_link_in_the_path_of_the_sessions_is_refused(
        self, store: SessionStore, tmp_path: Path
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / ".samuel").mkdir()
        (tmp_path / ".samuel/run").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UnsafePath):
            store.change("s", lambda before: Session("s", "t"))
        assert os.listdir(tmp_path / "elsewhere") == []

    def test_concurrent_changes_of_a_session_are_all_stored(self, tmp_path: Path) -> None:
        def add(number: int) -> None:
            SessionStore(tmp_path).change(
                "s",
                lambda before: add_result(
                    before or Session("s", "t"), POST, {"messages_to_user": [str(number)]}, "t"
                ),
            )

        threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        session = SessionStore(tmp_path).load("s")
        assert session is not None
        assert sorted(int(entry.text) for entry in session.messages) == list(range(20))

    def test_a_killed_process_leaves_a_complete_session_file(self, tmp_path: Path) -> None:
        code = (
            "import sys\nfrom pathlib import Path\nfrom samuel.sessions.store import SessionStore\n"
            "from samuel.sessions.session import Session, add_result\nstore = SessionStore(Path(sys.argv[1]))\n"
            "print('ready', flush=True)\nnumber = 0\n"
            "while True:\n    number += 1\n    text = str(number) * 1000\n"
            "    store.change('s', lambda before: add_result(before or Session('s', 't'), 'TurnEnd',"
            " {'messages_to_user': [text]}, 't'))\n"
        )
        with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            store = SessionStore(tmp_path)
            while not ((session := store.load("s")) and len(session.messages) > 5):
                pass
            process.kill()
        session = store.load("s")
        assert session is not None
        assert len(session.messages) > 5
        store.change("s", lambda before: add_result(before or Session("s", "t"), END, {}, "t"))

    def test_the_oldest_sessions_are_removed(self, store: SessionStore, tmp_path: Path) -> None:
        directory = tmp_path / ".samuel/run/sessions"
        directory.mkdir(parents=True)
        for number in range(MOST_SESSIONS):
            file = directory / f"s{number}.json"
            file.write_text(json.dumps({"id": f"s{number}", "started": "t"}))
            os.utime(file, (number, number))
        store.change("new", lambda before: Session("new", "t"))
        assert store.load("s0") is None
        assert store.load("s1") is not None
        assert len(store.ids()) == MOST_SESSIONS


RESULT = st.fixed_dictionaries(
    {},
    optional={
        "messages_to_user": st.lists(st.text(max_size=20), max_size=3) | st.none(),
        "suggested_abilities": st.lists(
            st.fixed_dictionaries(
                {"id": st.text(max_size=5)}, optional={"confidence": st.floats(0, 1) | st.none()}
            ),
            max_size=3,
        )
        | st.none(),
        "suggested_documents": st.lists(st.fixed_dictionaries({"path": st.text(max_size=5)}), max_size=3),
        "new_intent": st.none() | st.fixed_dictionaries({"intent": st.text(max_size=5)}),
        "follow_up_actions": st.lists(
            st.fixed_dictionaries(
                {"kind": st.sampled_from(["open_file", "run_command", "create_task"])},
                optional={"payload": st.dictionaries(st.text(max_size=5), st.text(max_size=5)), "path": st.text()},
            ),
            max_size=3,
        ),
    },
)


@given(st.lists(st.tuples(st.sampled_from([PROMPT, POST, STOP, END]), RESULT), max_size=6))
def test_follow_ups_have_unique_numbers_after_any_sequence_of_results(
    events: list[tuple[str, dict[str, Any]]],
) -> None:
    session = Session("s", "t")
    for event, result in events:
        session = add_result(session, event, result, "t")
    assert len({entry.number for entry in session.follow_ups}) == len(session.follow_ups)

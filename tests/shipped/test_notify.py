"""A person is told of a question, of a blocked task and of the end of a run; the run never fails because of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.webhook_server import WebhookServer, webhook_server

from samuel.base.errors import ConfigError
from samuel.base.paths import User
from samuel.dispatch.record import Fired
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.sources.yaml_file import read_hook
from samuel.testing import SamuelProject

Enable = Callable[..., None]
Put = Callable[[dict[str, str]], None]
TASK = {"id": "1.2", "title": "Write it", "status": "waiting", "last_failure": ""}
QUESTION = {"id": "q1", "text": "Which format?", "options": ["json", "toon"]}
# Leaves its arguments and what it reads.
TELL = """
    #!/bin/sh
    cat > told.json
    printf '%s' "$1" > told
    """


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This machine may have a desktop; a test must not write on it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    (tmp_path / "bin").mkdir()


def iteration(project: SamuelProject, outcome: str, task: dict[str, Any] = TASK, **fields: Any) -> Fired:
    return project.fire("after:iteration", task=task, outcome=outcome, **fields)


def loop_end(project: SamuelProject, **fields: Any) -> Fired:
    return project.fire("after:loop", **{"iterations_run": 3, "exit_reason": "waiting", **fields})


@pytest.fixture
def message_text(samuel_project: SamuelProject, enable: Enable, put: Put) -> Callable[[], str]:
    put({"tell": TELL})
    enable("notify", "desktop: false\ncommand: ./tell")

    def text() -> str:
        file = samuel_project.root / "told"
        return file.read_text() if file.exists() else ""

    return text


def test_a_command_gets_the_message_and_its_json(
    samuel_project: SamuelProject, message_text: Callable[[], str]
) -> None:
    fired = iteration(samuel_project, "asked", question=QUESTION)
    assert fired.ok
    assert not fired.warnings
    assert message_text() == (
        "Samuel, project: task 1.2 Write it has a question\n"
        "Which format?\n1. json\n2. toon\nsamuel run answer q1 TEXT"
    )
    message = json.loads((samuel_project.root / "told.json").read_text())
    assert (message["kind"], message["question"], message["text"]) == ("question", QUESTION, message_text())
    assert message["task"] == {"id": "1.2", "title": "Write it", "status": "waiting"}


def test_a_question_is_found_in_the_task_too(
    samuel_project: SamuelProject, message_text: Callable[[], str]
) -> None:
    rows = [{**QUESTION, "id": "q0", "answer": "x"}, {**QUESTION, "answer": ""}]
    iteration(samuel_project, "asked", {**TASK, "questions": rows})
    assert message_text().endswith("samuel run answer q1 TEXT")


def test_a_blocked_task_is_told_with_its_reason(
    samuel_project: SamuelProject, message_text: Callable[[], str]
) -> None:
    iteration(samuel_project, "quality_failed", {**TASK, "status": "blocked", "last_failure": "a check\nfailed"})
    assert message_text() == "Samuel, project: task 1.2 Write it is blocked\na check failed"


def test_the_end_of_a_run_is_told_with_what_it_means(
    samuel_project: SamuelProject, message_text: Callable[[], str]
) -> None:
    loop_end(samuel_project)
    assert message_text() == (
        "Samuel, project: the run has ended\n"
        "waiting after 3 iterations: tasks are left, and they wait for answers to the questions of agents"
    )


@pytest.mark.parametrize("outcome", ["completed", "quality_failed", "stalled", "limited"])
def test_other_iterations_are_not_worth_a_message(
    samuel_project: SamuelProject, message_text: Callable[[], str], outcome: str
) -> None:
    iteration(samuel_project, outcome, {**TASK, "status": "pending"})
    assert message_text() == ""


def test_a_dry_run_tells_nobody(samuel_project: SamuelProject, message_text: Callable[[], str]) -> None:
    loop_end(samuel_project, dry_run=True)
    assert message_text() == ""


def test_the_desktop_is_told_by_notify_send(samuel_project: SamuelProject, enable: Enable, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "notify-send"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/shown\n")
    program.chmod(0o755)
    enable("notify")
    assert not loop_end(samuel_project, exit_reason="queue_empty").warnings
    assert (tmp_path / "shown").read_text().splitlines() == [
        "--app-name=Samuel",
        "--",
        "Samuel, project: the run has ended",
        "queue_empty after 3 iterations: every task is completed or skipped",
    ]


@pytest.fixture
def webhook() -> Iterator[WebhookServer]:
    with webhook_server() as server:
        yield server


def test_a_webhook_is_sent_the_message_as_json(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}")
    assert not loop_end(samuel_project, run_id="run-7").warnings
    (call,) = webhook.calls
    body = call.json
    assert (body["kind"], body["exit_reason"], body["iterations_run"]) == ("ended", "waiting", 3)
    assert (body["run_id"], body["project"], call.content_type) == ("run-7", "project", "application/json")


def test_the_url_of_a_webhook_can_be_in_a_variable(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    enable("notify", "desktop: false\nwebhook: $SAMUEL_WEBHOOK")
    assert "`$SAMUEL_WEBHOOK` is not set to a URL" in loop_end(samuel_project).warnings[0]
    monkeypatch.setenv("SAMUEL_WEBHOOK", webhook.url)
    assert not samuel_project.open().fire("after:loop", iterations_run=1, exit_reason="queue_empty").warnings
    assert len(webhook.calls) == 1


QUESTION_TEXT = (
    "Samuel, project: task 1.2 Write it has a question\n"
    "Which format, <!channel> & @everyone?\n1. json\n2. toon\nsamuel run answer q1 TEXT"
)
PINGING = {**QUESTION, "text": "Which format, <!channel> & @everyone?"}


def test_ntfy_gets_the_text_as_the_body(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}\ntemplate: ntfy")
    assert not iteration(samuel_project, "asked", question=PINGING).warnings
    (call,) = webhook.calls
    assert (call.content_type, call.text) == ("text/plain; charset=utf-8", QUESTION_TEXT)


def test_slack_gets_the_text_escaped_so_that_it_mentions_no_channel(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}\ntemplate: slack")
    assert not iteration(samuel_project, "asked", question=PINGING).warnings
    (call,) = webhook.calls
    assert call.content_type == "application/json"
    assert call.json["text"] == QUESTION_TEXT.replace("<!channel> &", "&lt;!channel&gt; &amp;")
    assert not call.json["mrkdwn"]


def test_discord_gets_the_content_without_mentions(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}\ntemplate: discord")
    assert not iteration(samuel_project, "asked", question=PINGING).warnings
    (call,) = webhook.calls
    assert call.json["content"] == QUESTION_TEXT
    assert call.json["allowed_mentions"] == {"parse": []}


@pytest.mark.parametrize("character", ["x", "日", "😀"])
@pytest.mark.parametrize(
    "options", [("json", "toon"), tuple(f"option {number} {'o' * 300}" for number in range(20))]
)
def test_a_long_question_is_cut_and_its_command_is_kept(
    samuel_project: SamuelProject,
    enable: Enable,
    webhook: WebhookServer,
    character: str,
    options: tuple[str, ...],
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}\ntemplate: discord")
    question = {"id": "q1", "text": "Which? " + character * 9000, "options": list(options)}
    assert not iteration(samuel_project, "asked", question=question).warnings
    content = webhook.calls[0].json["content"]
    assert 1000 < len(content.encode("utf-16-le")) // 2 <= 2000
    assert len(content.encode()) <= 4096  # ntfy makes a file of what is longer
    lines = content.splitlines()
    assert lines[1].startswith("Which? ")
    assert lines[2] == f"1. {options[0]}"[:500]
    assert lines[-1] == "samuel run answer q1 TEXT"


def test_escape_sequences_in_a_question_are_not_sent_on(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}\ntemplate: ntfy")
    question = {"id": "q1", "text": "\x1b]0;title\x07\x1b[31mred\x07 \u202etxt", "options": ["a\x1b[2Jb\nc"]}
    assert not iteration(samuel_project, "asked", {**TASK, "title": "T\x1b[2J"}, question=question).warnings
    text = webhook.calls[0].text
    assert text.replace("\n", "").isprintable()
    assert "red" in text
    assert text.splitlines()[-1] == "samuel run answer q1 TEXT"


def test_each_question_of_a_turn_is_a_notice_and_one_that_is_answered_is_none(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}\ntemplate: ntfy")
    rows = [{**QUESTION, "id": id, "answer": "json" if id == "q2" else ""} for id in ("q1", "q2", "q3")]
    iteration(samuel_project, "asked", {**TASK, "questions": rows}, question={**QUESTION, "id": "q2"})
    assert [call.text.splitlines()[-1] for call in webhook.calls] == [
        "samuel run answer q1 TEXT",
        "samuel run answer q3 TEXT",
    ]


def test_the_same_step_of_a_run_is_one_notice_and_without_a_run_each_firing_is_one(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}")
    blocked = {**TASK, "status": "blocked", "last_failure": "a check failed"}
    for number in (1, 1, 2):
        iteration(samuel_project, "quality_failed", blocked, run_id="run-7", iteration=number)
    assert [call.json["kind"] for call in webhook.calls] == ["blocked", "blocked"]
    for _ in range(2):
        loop_end(samuel_project)
    assert [call.json["kind"] for call in webhook.calls] == ["blocked", "blocked", "ended", "ended"]


def test_a_notice_is_sent_with_a_warning_where_it_cannot_be_recorded(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}")
    state = samuel_project.root / ".samuel" / "run"
    record = User.from_environment().record(state)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("not a directory")
    fired = loop_end(samuel_project, run_id="run-7")
    assert "`notify` failed: what is sent cannot be recorded: " in fired.warnings[0]
    assert len(webhook.calls) == 1


@pytest.mark.parametrize("status", [302, 500])
def test_an_answer_that_is_not_a_success_is_a_warning_without_the_secret_url(
    samuel_project: SamuelProject, enable: Enable, webhook: WebhookServer, status: int
) -> None:
    webhook.status = status
    enable("notify", f"desktop: false\nwebhook: {webhook.url}")
    fired = loop_end(samuel_project)
    assert not fired.stopped
    assert fired.warnings == (f"`notify` failed: webhook: `127.0.0.1` answered {status}",)
    assert len(webhook.calls) == 1  # it did not follow


def test_what_cannot_be_delivered_is_a_warning_and_the_rest_is_delivered(
    samuel_project: SamuelProject, enable: Enable, put: Put
) -> None:
    put({"tell": TELL + "    echo no luck >&2; exit 3\n"})
    enable("notify", "desktop: false\nwebhook: http://127.0.0.1:9/x\ncommand: ./tell")
    fired = loop_end(samuel_project)
    assert not fired.stopped
    assert "webhook: `127.0.0.1` cannot be reached: " in fired.warnings[0]
    assert "command: `./tell` failed with exit code 3: no luck" in fired.warnings[0]
    assert (samuel_project.root / "told").exists()


def test_a_command_that_hangs_is_ended_and_the_run_goes_on(
    samuel_project: SamuelProject, enable: Enable, put: Put
) -> None:
    put({"tell": "#!/bin/sh\nsleep 600\n"})
    enable("notify", "desktop: false\ncommand: ./tell", "timeout: 2s\n")
    fired = loop_end(samuel_project)
    assert not fired.stopped
    (warning,) = (
        fired.warnings
    )  # of the hook, or of the engine if the machine is so slow that the hook is ended too
    assert "timed out" in warning.replace("_", " ")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("webhook: file:///etc/passwd", "`webhook` must be a URL that begins with http:// or https://"),
        ("webhook: 'http://'", "`webhook` must be a URL that begins with http:// or https://"),
        ("webhook: $HOME", "`webhook` must name a variable that begins with `SAMUEL_`"),
        ("template: teams", "`template` must be one of `ntfy`, `slack`, `discord`, not `teams`"),
        ("template: slack", "`template` is the form of what a `webhook` gets (add `webhook: ...`)"),
        ("desktop: 1", "`desktop` must be true or false, not an integer"),
        ("comand: x", "unknown key `comand` in `config` (did you mean `command`?)"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(config: str, problem: str) -> None:
    text = f"id: notify\nevent_type: after:loop\nhandler: {{kind: builtin, name: notify}}\nconfig:\n  {config}\n"
    with pytest.raises(ConfigError) as caught:
        read_hook(text.encode(), "hook.yaml", SHIPPED_HOOKS)
    assert f"hook.yaml:5: {problem}" in str(caught.value)


def test_it_is_for_no_other_event() -> None:
    text = "id: notify\nevent_type: SessionStop\nhandler: {kind: builtin, name: notify}\n"
    with pytest.raises(ConfigError) as caught:
        read_hook(text.encode(), "hook.yaml", SHIPPED_HOOKS)
    assert "`notify` is for `after:iteration` and `after:loop` alone" in str(caught.value)

"""A person is told of a question, of a blocked task and of the end of a run; the run never fails because of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from samuel.base.errors import ConfigError
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


class Webhook(HTTPServer):
    """A server on this machine that keeps what it is sent, and answers with `status`."""

    status = 204

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiver)
        self.bodies: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/secret-path"


class _Receiver(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append({**json.loads(body), "type": self.headers["Content-Type"]})
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with Webhook() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_webhook_is_sent_the_message_as_json(
    samuel_project: SamuelProject, enable: Enable, webhook: Webhook
) -> None:
    enable("notify", f"desktop: false\nwebhook: {webhook.url}")
    assert not loop_end(samuel_project, run_id="run-7").warnings
    (body,) = webhook.bodies
    assert (body["kind"], body["exit_reason"], body["iterations_run"]) == ("ended", "waiting", 3)
    assert (body["run_id"], body["project"], body["type"]) == ("run-7", "project", "application/json")


def test_the_url_of_a_webhook_can_be_in_a_variable(
    samuel_project: SamuelProject, enable: Enable, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    enable("notify", "desktop: false\nwebhook: $SAMUEL_WEBHOOK")
    assert "`$SAMUEL_WEBHOOK` is not set to a URL" in loop_end(samuel_project).warnings[0]
    monkeypatch.setenv("SAMUEL_WEBHOOK", webhook.url)
    assert not samuel_project.open().fire("after:loop", iterations_run=1, exit_reason="queue_empty").warnings
    assert len(webhook.bodies) == 1


@pytest.mark.parametrize("status", [302, 500])
def test_an_answer_that_is_not_a_success_is_a_warning_without_the_secret_url(
    samuel_project: SamuelProject, enable: Enable, webhook: Webhook, status: int
) -> None:
    webhook.status = status
    enable("notify", f"desktop: false\nwebhook: {webhook.url}")
    fired = loop_end(samuel_project)
    assert not fired.stopped
    assert fired.warnings == (f"`notify` failed: webhook: `127.0.0.1` answered {status}",)
    assert len(webhook.bodies) == 1  # it did not follow


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

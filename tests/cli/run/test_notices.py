"""A person is sent one notice of each question of a run, also if the run is killed and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from tests.webhook_server import WebhookServer, webhook_server

from .conftest import GOOD, Workshop

ASK = 'samuel run ask "Which format?" --option json --option toon'
ASKING = f"""\
if [ "$SAMUEL_TASK_ID" = 1 ]; then
    {ASK} > asked-out
    exit 0
fi
{GOOD}"""
ANSWER = "samuel run answer q1 TEXT"
HOLD_BACK = """\
#!/bin/sh
if [ "$1" = hook ]; then
    echo before:land
else
    echo '{"decision": "deny", "reason": "a person reads it first"}'
fi
"""


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with webhook_server() as server:
        yield server


@pytest.fixture
def noticed(workshop: Workshop, webhook: WebhookServer, samuel) -> Workshop:
    """The workshop with the notifier, which sends to the webhook."""
    file = workshop.root / ".system/hooks/notify.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        "id: notify\nevent_type: [after:iteration, after:loop]\nhandler: {kind: builtin, name: notify}\n"
        f"config: {{desktop: false, webhook: '{webhook.url}', template: ntfy}}\n"
    )
    exclude = workshop.root / ".git/info/exclude"
    exclude.write_text(f"{exclude.read_text()}.system/\n*-begun\n")
    workshop.agent(ASKING)
    samuel("trust", "--yes")
    return workshop


def answers(webhook: WebhookServer) -> list[str]:
    """The last line of each notice of a question."""
    return [text.splitlines()[-1] for call in webhook.calls if "has a question" in (text := call.text)]


def ends(webhook: WebhookServer) -> list[str]:
    return [text.splitlines()[1].split()[0] for call in webhook.calls if "has ended" in (text := call.text)]


@pytest.mark.slow
def test_a_question_is_one_notice_also_when_the_run_is_killed_while_it_is_sent(samuel, noticed, webhook):
    with noticed.start() as process:
        # The notice has arrived, and its sender does not know that.
        webhook.before_answer = lambda: os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=120)
    webhook.before_answer = lambda: None
    assert answers(webhook) == [ANSWER]
    assert samuel("run", "start").code == 1
    assert noticed.statuses == ["waiting", "completed"]
    assert answers(webhook) == [ANSWER]
    assert ends(webhook) == ["waiting"]
    assert webhook.calls[0].text.splitlines()[1:4] == ["Which format?", "1. json", "2. toon"]


@pytest.mark.slow
def test_a_question_whose_run_was_killed_before_it_was_settled_is_one_notice_too(samuel, noticed, webhook):
    noticed.agent(ASKING.replace("exit 0", "touch a-begun; sleep 300"))
    samuel("trust", "--yes")
    with noticed.start() as process:
        noticed.wait_for("a-begun")
        process.kill()
        process.communicate(timeout=120)
    assert webhook.calls == []
    noticed.agent(GOOD)
    samuel("trust", "--yes")
    samuel("run", "start")
    assert answers(webhook) == [ANSWER]
    samuel("run", "start")  # a new run, in which nothing can be done
    assert answers(webhook) == [ANSWER]


@pytest.mark.slow
def test_the_end_is_one_notice_also_when_the_run_is_killed_while_it_is_sent(samuel, noticed, webhook):
    noticed.agent(GOOD)
    samuel("trust", "--yes")
    with noticed.start() as process:
        webhook.before_answer = lambda: os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=120)
    webhook.before_answer = lambda: None
    assert samuel("run", "start").code == 0
    assert ends(webhook) == ["queue_empty"]


@pytest.mark.slow
def test_with_lanes_each_question_and_each_landing_that_is_held_back_is_one_notice(samuel, noticed, webhook):
    hook = noticed.root / ".samuel/hooks/approval"
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text(HOLD_BACK)
    hook.chmod(0o755)
    samuel("trust", "--yes")
    identity = "git config user.name x && git config user.email x@example.com"
    commit = f"{identity} && git add -f agent.sh samuel.toml && git commit -qm first"
    subprocess.run(commit, shell=True, cwd=noticed.root, check=True)
    samuel("run", "start", "--parallel", "2")
    assert noticed.statuses == ["waiting", "waiting"]
    assert sorted(answers(webhook)) == [ANSWER, "samuel run land 2"]
    assert ends(webhook) == ["waiting"]

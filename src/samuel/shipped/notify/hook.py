"""after:iteration, after:loop: tells a person about a question, a blocked task and the end of a run.

A message that cannot be delivered is a warning of the run, and the run goes on.
"""

from __future__ import annotations

import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UnsetType

from samuel.base.printable import shell_word
from samuel.base.wording import plural
from samuel.events import AfterIteration, AfterLoop
from samuel.events.endings import IterationOutcome
from samuel.process import spawn
from samuel.process.environment import referenced
from samuel.process.output import last_line
from samuel.shipped.event_fields import config_of, one_line
from samuel.shipped.notify.rules import NotificationRules, is_web_address

LONGEST = 10.0  # seconds of one way to deliver
MARGIN = 1.0  # seconds to answer before the deadline

_OSASCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
MAX_TEXT = 2000


def hook(event: AfterIteration | AfterLoop) -> dict[str, Any]:
    message = notification(event)
    if message is None or event.dry_run:
        return {}
    rules = config_of(event, NotificationRules)
    until = time.monotonic() + event.deadline_ms / 1000 - MARGIN if event.deadline_ms else None
    problems = []
    for name, deliver in (("desktop", _desktop), ("webhook", _webhook), ("command", _command)):
        limit = LONGEST if until is None else min(LONGEST, until - time.monotonic())
        problem = deliver(rules, message, event.project_root, limit) if limit > 0 else "there is no time left"
        if problem:
            problems.append(f"{name}: {problem}")
    return {"ok": False, "reason": "; ".join(problems)} if problems else {}


def _desktop(rules: NotificationRules, message: RunNotification, root: str, limit: float) -> str:
    """Show it on the desktop, if there is one. Returns why that failed, or ""."""
    if not rules.desktop:
        return ""
    if program := shutil.which("notify-send"):
        return _run([program, "--app-name=Samuel", "--", message.title, message.message], b"", root, limit)
    if program := shutil.which("osascript"):
        script = [word for line in _OSASCRIPT for word in ("-e", line)]
        return _run([program, *script, message.title, message.message], b"", root, limit)
    return ""


def _command(rules: NotificationRules, message: RunNotification, root: str, limit: float) -> str:
    if not rules.command:
        return ""
    return _run([*rules.command, message.text], msgspec.json.encode(message), root, limit)


def _run(words: Sequence[str], stdin: bytes, root: str, limit: float) -> str:
    process = spawn.run(words, cwd=root, env=os.environ, stdin=stdin, timeout=limit, keep=4096)
    if process.ended == "exited" and process.returncode == 0:
        return ""
    if process.ended == "not_started":
        return process.why
    if process.ended != "exited":
        return f"`{words[0]}` was ended: {process.ended.replace('_', ' ')}"
    stderr = one_line(last_line(process.stderr.decode("utf-8", "replace"), ""), 200)
    return f"`{words[0]}` failed with exit code {process.returncode}" + (f": {stderr}" if stderr else "")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """What a webhook answers decides nothing, and not where else the message goes."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _webhook(rules: NotificationRules, message: RunNotification, root: str, limit: float) -> str:
    url = rules.webhook
    if variable := referenced(url):
        url = os.environ.get(variable, "")
        if not is_web_address(url):
            return f"`${variable}` is not set to a URL that begins with http:// or https://"
    if not url:
        return ""
    headers = {"Content-Type": "application/json", "User-Agent": "samuel"}
    request = urllib.request.Request(url, msgspec.json.encode(message), headers, method="POST")
    host = urlsplit(url).hostname  # the rest of a webhook's URL is a secret
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=limit):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        return f"`{host}` answered {error.code}"
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return f"`{host}` cannot be reached: {one_line(str(reason), 200)}"


class RunNotification(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. Its JSON is what a webhook is sent."""

    kind: str
    """question, blocked or ended."""
    project: str
    run_id: str
    title: str
    message: str
    text: str
    """The title and the message in one: the key that chat services show."""
    task: dict[str, str] = {}
    question: dict[str, Any] = {}
    exit_reason: str = ""
    iterations_run: int = 0


def notification(event: AfterIteration | AfterLoop) -> RunNotification | None:
    """What to tell about the event; None if it is not worth a message."""
    if isinstance(event, AfterLoop):
        iterations = plural(event.iterations_run, "iteration")
        message = f"{event.exit_reason} after {iterations}: {event.exit_reason.meaning}"
        ended = {"exit_reason": str(event.exit_reason), "iterations_run": event.iterations_run}
        return _notification(event, "ended", "the run has ended", message, ended)
    task = {name: str(event.task.get(name) or "") for name in ("id", "title", "status")}
    subject = one_line(f"task {task['id']} {task['title']}", 200)
    question = _question(event)
    if event.outcome == IterationOutcome.ASKED and question:
        options = "".join(f"\n{number}. {option}" for number, option in enumerate(question["options"], start=1))
        message = f"{question['text']}{options}\nsamuel run answer {shell_word(question['id'])} TEXT"
        return _notification(
            event, "question", f"{subject} has a question", message, {"task": task, "question": question}
        )
    if task["status"] == "blocked":
        reason = one_line(str(event.task.get("last_failure") or "no reason was given"))
        return _notification(event, "blocked", f"{subject} is blocked", reason, {"task": task})
    return None


def _notification(
    event: AfterIteration | AfterLoop, kind: str, what: str, message: str, fields: Mapping[str, Any]
) -> RunNotification:
    project = Path(event.project_root).name
    title = f"Samuel, {project}: {what}"
    message = message if len(message) <= MAX_TEXT else f"{message[: MAX_TEXT - 1]}…"
    run_id = event.run_id if isinstance(event.run_id, str) else ""
    return RunNotification(
        kind=kind,
        project=project,
        run_id=run_id,
        title=title,
        message=message,
        text=f"{title}\n{message}",
        **fields,
    )


def _question(event: AfterIteration) -> dict[str, Any]:
    if not isinstance(event.question, UnsetType):
        question = event.question
        return {"id": question.id, "text": question.text, "options": question.options}
    rows = [row for row in event.task.get("questions") or () if not row.get("answer")]
    keys = ("id", "text", "options")
    return {key: rows[-1].get(key) or ([] if key == "options" else "") for key in keys} if rows else {}

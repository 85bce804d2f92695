"""after:iteration, after:loop: tells a person about a question, a blocked task and the end of a run.

A message that cannot be delivered is a warning of the run, and the run goes on.
"""

from __future__ import annotations

import math
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UnsetType

from samuel.base.errors import SamuelError
from samuel.base.paths import User
from samuel.events import AfterIteration, AfterLoop
from samuel.process import spawn
from samuel.process.environment import referenced
from samuel.process.output import last_line
from samuel.shipped.event_fields import config_of, one_line
from samuel.shipped.notify.chat_templates import request as webhook_request
from samuel.shipped.notify.notification import RunNotification, due, state_directory
from samuel.shipped.notify.rules import NotificationRules, is_web_address
from samuel.shipped.notify.sent_keys import SentKeys

LONGEST = 10.0  # seconds of one way to deliver
MARGIN = 1.0  # seconds to answer before the deadline

_OSASCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")


def hook(event: AfterIteration | AfterLoop) -> dict[str, Any]:
    if event.dry_run:
        return {}
    rules = config_of(event, NotificationRules)
    until = time.monotonic() + event.deadline_ms / 1000 - MARGIN if event.deadline_ms else math.inf
    problems: dict[str, None] = {}  # a set, in the order in which they were met
    for message in _not_sent_before(event, problems):
        for name, deliver in (("desktop", _desktop), ("webhook", _webhook), ("command", _command)):
            limit = min(LONGEST, until - time.monotonic())
            problem = deliver(rules, message, event.project_root, limit) if limit > 0 else "there is no time left"
            if problem:
                problems[f"{name}: {problem}"] = None
        if time.monotonic() >= until:
            break  # what is left in the task list is sent at the next event
    return {"ok": False, "reason": "; ".join(problems)} if problems else {}


def _not_sent_before(event: AfterIteration | AfterLoop, problems: dict[str, None]) -> Iterator[RunNotification]:
    """The messages that are due, each recorded as sent before it is returned. What is no run's is not recorded."""
    if isinstance(event.run_id, UnsetType):
        yield from (notification.message for notification in due(event))
        return
    sent_keys = SentKeys(User.from_environment().record(state_directory(event)))
    for notification in due(event):
        try:
            if sent_keys.claim(notification.key):
                yield notification.message
        except (OSError, SamuelError) as error:
            problems[f"what is sent cannot be recorded: {one_line(str(error), 200)}"] = None
            # The task list has the same questions at each event: without a record they would be sent each time.
            if notification.is_of_event:
                yield notification.message


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
    content = webhook_request(rules.template, message)
    headers = {"Content-Type": content.content_type, "User-Agent": "samuel"}
    request = urllib.request.Request(url, content.body, headers, method="POST")
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

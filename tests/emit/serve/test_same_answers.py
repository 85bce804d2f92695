"""The server's answers are those of a process of its own: exit code, stdout, stderr and journal, byte for byte."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.clients.client_reading import CAPTURES, captured
from tests.length import at_length

from samuel.base.paths import Project
from samuel.emit.call import LARGEST_STDIN
from samuel.emit.deliveries import DIRECTORY
from samuel.events.names import ALL
from samuel.files.json import MAX_BYTES
from samuel.journal.writer import CHECK_AFTER_SECONDS

from .served_project import ALLOWED, NATIVE, THIN, Answer, ServedProject, context, yaml_hook

PYTHON_GUARD = """
import samuel

@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    match event.ability_id:
        case "deploy": return {"decision": "deny", "reason": "not on a Friday \\u2013 \\x1b[31mred"}
        case "ask": return {"decision": "ask", "reason": "Sure?"}
        case "allow": return {"decision": "allow"}
        case "crash": raise RuntimeError("oops")
        case "wrong": return {"decision": "maybe"}
        case "noise": print("to stdout")
    return {"messages_to_user": [f"{event.ability_id} \\u2013 Hm."]} if event.ability_id == "message" else None

@samuel.hook("quality.check")
def check(event):
    return {"ok": False, "reason": "not good enough"}
"""
FOLLOW_UP = (
    '{"suggested_documents": [{"path": "a.md"}], "messages_to_user": ["Hm.", "Ä"], '
    '"follow_up_actions": [{"kind": "run_command", "command": "true"}]}'
)

CALL = ("PreAbilityCall",)
CASES: dict[str, tuple[tuple[str, ...], bytes]] = {
    **{f"PreAbilityCall of {name}": (CALL, context(name)) for name in (
        *("deploy", "ask", "allow", "crash", "wrong", "noise", "message", "read", "broken", "slow", "lost"),
        "Ä\u2028",
    )},
    **{f"{event} of no fields": ((event,), b"{}") for event in ALL},
    "another spelling": (("pre_ability_call",), context("deploy")),
    "a name that does not exist": (("PreAbilityCal",), ALLOWED),
    "a name with control characters": (("Pre\x1b[31m\n",), ALLOWED),
    "no payload": (CALL, b""),
    "blank payload": (CALL, b" \n"),
    "a list": (CALL, b"[]"),
    "null": (CALL, b"null"),
    "a string": (CALL, b'"deploy"'),
    "not JSON": (CALL, b"{deploy}"),
    "not UTF-8": (CALL, b'{"ability_id": "\xff\xfe"}'),
    "half of a character": (CALL, b'{"ability_id": "\\ud800"}'),
    "a number for a text": (CALL, b'{"ability_id": 1}'),
    "not a number": (CALL, b'{"ability_id": "read", "extra": {"x": NaN}}'),
    "a number that is too large": (CALL, b'{"ability_id": "read", "extra": {"x": 1e999}}'),
    "a key twice": (CALL, b'{"ability_id": "deploy", "ability_id": "read"}'),
    "a NUL in a text": (CALL, b'{"ability_id": "a\\u0000b"}'),
    "nested too deeply": (CALL, b'{"ability_id": "read", "extra": ' + b'{"a":' * 3000 + b"1" + b"}" * 3001),
    "too large": (CALL, b'{"ability_id": "read"}' + b" " * MAX_BYTES),
    "as large as can be": (CALL, b'{"ability_id": "deploy"}'.ljust(MAX_BYTES)),
    "another event in the payload": (CALL, context("read", event_type="PostAbilityCall")),
    "a session": ((*CALL, "--session", "s1"), context("deploy")),
    "a session in the payload": (CALL, context("message", session_id="s2")),
    "a session that is no name": ((*CALL, "--session", "../../x"), ALLOWED),
    "a session starts": (("SessionStart", "--session", "s3"), b'{"stage": "plan"}'),
    "a session's prompt": (("UserPromptSubmit", "--session", "s3"), b'{"user_message": "hello"}'),
    "a prompt": (("UserPromptSubmit",), b'{"user_message": "hello"}'),
    "a session ends": (("SessionEnd", "--session", "s3"), b"{}"),
    "an environment": ((*CALL, "--env", "ci"), context("deploy")),
    "an environment without its hook": ((*CALL, "--env", "production"), context("ci-only")),
    "an environment with its hook": ((*CALL, "--env", "ci"), context("ci-only")),
    "an environment that is no name": ((*CALL, "--env", "a/b"), ALLOWED),
    "a duration that matches": (("PostAbilityCall",), context("a", status="success", duration_ms=9)),
    "a duration that does not": (("PostAbilityCall",), context("a", status="success", duration_ms=1)),
    "a client that does not exist": (("--as", "clod", "PreToolUse"), b"{}"),
    "a client's name that is a path": (("--as", "../claude", "PreToolUse"), b"{}"),
    "a client's module that is not a client": (("--as", "table", "PreToolUse"), b"{}"),
    "an event that a client has not": (("--as", "claude", "PreTool"), b"{}"),
    "a client's payload that is empty": (("--as", "claude", "PreToolUse"), b""),
    "a client's payload that is not one": (("--as", "claude", "PreToolUse"), b'{"tool_name": 1}'),
    "a client's payload that is not JSON": (("--as", "claude", "PreToolUse"), b"{"),
    "a client's payload that is too large": (("--as", "codex", "PreToolUse"), b"{}" + b" " * MAX_BYTES),
    "a client's observer with a wrong payload": (("--as", "claude", "PostToolUse"), b"[]"),
    "a client's event in a session of ours": (
        ("--as", "claude", "PreToolUse", "--session", "s9"),
        (CAPTURES / "claude/PreToolUse.json").read_bytes(),
    ),
    **{f"{event} of {client}": (
        ("--as", client, event), (CAPTURES / client / f"{event}.json").read_bytes()
    ) for client, event in captured()},
    "options after an equals sign": ((*CALL, "--session=s1"), context("deploy")),
    "an option twice": ((*CALL, "--session", "a", "--session", "b"), context("deploy")),
    "an option without its value": ((*CALL, "--session"), ALLOWED),
    "an option that does not exist": ((*CALL, "--quick"), ALLOWED),
    "two events": (("PreAbilityCall", "PostAbilityCall"), ALLOWED),
    "no event": ((), ALLOWED),
}  # fmt: skip
# Those that a server answers in `make test`, and for which the Python client is tried as well.
SAMPLE = sorted(CASES)[:: at_length(12, 1)]
PYTHON_CLIENT = sorted(CASES)[:: at_length(45, 3)]


def trusted(project: ServedProject) -> None:
    """Every kind of answer that a hook can give."""
    root = project.root

    project.files.python_hook("guard", PYTHON_GUARD)
    shell = "match: {ability_id: [shell]}\n"
    yaml_hook(root, "shell", "PreAbilityCall", """echo '{"decision": "deny", "reason": "no shell"}'""", shell)
    yaml_hook(root, "broken", "PreAbilityCall", "echo oops", "blocking: true\nmatch: {ability_id: [broken]}\n")
    yaml_hook(root, "slow", "PreAbilityCall", "sleep 60", "timeout: 200ms\nmatch: {ability_id: [slow]}\n")
    yaml_hook(root, "lost", "PreAbilityCall", "exit 3", "role: guard\nmatch: {ability_id: [lost]}\n")
    yaml_hook(root, "prompt", "UserPromptSubmit", f"cat <<'END'\n{FOLLOW_UP}\nEND")
    yaml_hook(root, "post", "PostAbilityCall", "echo '{}'", "match: {min_duration_ms: 5}\n")
    deny = """echo '{"decision": "deny", "reason": "not here"}'"""
    yaml_hook(root, "ci", "PreAbilityCall", deny, "environments: [ci]\nmatch: {ability_id: [ci-only]}\n")
    project.files.trust()


def with_warnings(project: ServedProject) -> None:
    """The same with hooks that are not trusted, and one that cannot be run: every answer has something to tell."""
    trusted(project)
    yaml_hook(project.root, "new", "PreAbilityCall", "echo '{}'")
    yaml_hook(project.root, "watcher", "PostAbilityCall", "echo '{}'", "match: {ability_id: [shell]}\n")
    project.files.hook("plain", "#!/no/such/interpreter\n")
    (project.root / ".system/hooks/plain.yaml").write_text("id: [\n")


@pytest.fixture(scope="module", params=[trusted, with_warnings])
def project(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    fast_samuel: Path,
    with_compiled_python: Callable[[Path], None],
) -> Iterator[ServedProject]:
    project = ServedProject(tmp_path_factory.mktemp("same"), fast_samuel, with_compiled_python)
    request.param(project)
    project.start()
    yield project
    project.close()


def journal(project: ServedProject) -> list[Any]:
    """What was recorded, without what differs between any two calls."""
    records = []
    for file in sorted(Project(project.root).journal.glob("*.jsonl")):
        for line in file.read_bytes().split(b"\n")[:-1]:
            text = re.sub(
                r'"(at|duration_ms|timestamp|event_id|call_id)":("[^"]*"|[0-9.e+-]+)', r'"\1":0', line.decode()
            )
            records.append(json.loads(text))
    return records


def both(
    project: ServedProject, words: tuple[str, ...], stdin: bytes, client: tuple[str, ...] = NATIVE
) -> tuple[tuple[Answer, list[Any]], tuple[Answer, list[Any]]]:
    """The answers of a process of its own and of the server, each in a project without a past."""
    answers = []
    for call in (project.cold, lambda *words, stdin: project.warm(*words, stdin=stdin, client=client)):
        places = (Project(project.root).journal, Project(project.root).sessions)
        for place in (*places, project.files.user.state / DIRECTORY):
            shutil.rmtree(place, ignore_errors=True)
        time.sleep(2 * CHECK_AFTER_SECONDS)  # a server looks no more often whether its journal is still there
        answer = call(*words, stdin=stdin)
        answers.append((answer, journal(project)))
    return answers[0], answers[1]


def differences(project: ServedProject, cases: Sequence[str], client: tuple[str, ...] = NATIVE) -> dict[str, Any]:
    """The cases in which the answers differ; all in one test, because their project takes longer than they do."""
    answers = {case: both(project, *CASES[case], client=client) for case in cases}
    return {case: (cold, warm) for case, (cold, warm) in answers.items() if warm != cold}


def test_server_answers_as_a_process_of_its_own(project: ServedProject) -> None:
    assert differences(project, SAMPLE) == {}


def test_python_client_gives_the_servers_answer(project: ServedProject) -> None:
    assert differences(project, PYTHON_CLIENT, THIN) == {}


def test_the_cases_are_answered_by_the_server(project: ServedProject) -> None:
    """The comparison would be empty if all of them were left to a process of their own."""
    before = project.answered()
    plain = [case for case in SAMPLE if "option" not in case and case not in ("no event", "two events")]
    for case in plain[:12]:
        words, stdin = CASES[case]
        project.warm(*words, stdin=stdin)
    assert project.answered() == before + 12


def test_payload_that_is_too_large_is_refused_also_where_no_hook_matches(project: ServedProject) -> None:
    assert LARGEST_STDIN == MAX_BYTES
    data = json.dumps({"ability_id": "read", "padding": "x" * MAX_BYTES}).encode()
    assert project.cold("SessionStart", stdin=data).code == project.warm("SessionStart", stdin=data).code == 1

"""The command lines of hooks, run by a real shell with samuel present, missing, failing and killed."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from samuel.clients.dialect.events import DENIABLE
from samuel.clients.entries.hook_command import (
    DEADLINE,
    ON_PATH,
    EmitCommand,
    event_of,
    hook_command,
    hook_script,
    installed_command,
)
from samuel.clients.entries.own_file import OwnFile
from samuel.clients.table import CLIENTS, LAYOUTS
from samuel.process.emit_client import NATIVE_CLIENT

CASES = [
    (client, event) for client in CLIENTS for event in CLIENTS[client].registered_events if client != "opencode"
]
DENIABLE_CASES = [(client, event) for client, event in CASES if CLIENTS[client].events[event] in DENIABLE]
FAULTS = {
    "exit 1": "exit 1",
    "exit 3": "exit 3",
    "killed": "kill -9 $$",
    "half an answer": 'echo "{"; exit 1',
    "killed after an answer": """echo '{"systemMessage": "harmless"}'; kill -9 $$""",
}
SHELLS = [shell for shell in ("bash", "dash", "zsh", "fish") if shutil.which(shell)]
NOBODY = 65534
READS_STDOUT = ("gemini",)  # of a hook that exits with 2: JSON without a decision lets the call through


class ShellAnswer(NamedTuple):
    code: int
    out: str
    err: str


def command_of(client: str, event: str, command: EmitCommand) -> str:
    """The command line that the client would run."""
    layout = LAYOUTS[client]
    for entry_file in layout.project or layout.user:
        if isinstance(entry_file.format, OwnFile) and event in entry_file.format.file_events:
            return f"/bin/sh -c {shlex.quote(entry_file.format.body(command))}"
    return hook_command(command, client, event)


def started(line: str, directory: Path, stdin: int = subprocess.PIPE, shell: str = "sh") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [shell, "-c", line],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": f"{directory}:/usr/bin:/bin", "SAMUEL_SERVE": "off"},
        cwd=directory,
    )


def answer_of(process: subprocess.Popen[str], payload: str | None = None) -> ShellAnswer:
    out, err = process.communicate(payload)
    return ShellAnswer(process.returncode, out, err)


def ask(line: str, directory: Path, shell: str = "sh") -> ShellAnswer:
    """Run the line with `{}` on its stdin."""
    return answer_of(started(line, directory, shell=shell), "{}")


def put_samuel(directory: Path, script: str, name: str = NATIVE_CLIENT) -> Path:
    program = directory / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def is_denied(client: str, answer: ShellAnswer) -> bool:
    """Whether the client takes this answer for a denial, with a reason."""
    if answer.code == 2:
        return "samuel" in answer.err and not (client in READS_STDOUT and answer.out)
    value = json.loads(answer.out)
    value = {**value, **value.get("hookSpecificOutput", {})}
    words = {
        "permissionDecision": ("deny",),
        "permission": ("deny",),
        "decision": ("deny", "block"),
        "cancel": (True,),
        "continue": (False,),
    }
    says_so = any(value.get(key) in denials for key, denials in words.items())
    return answer.code == 0 and says_so and "samuel" in answer.out


@pytest.mark.parametrize("shell", SHELLS)
def test_missing_samuel_denies_where_it_can_and_is_silent_elsewhere(shell, tmp_path):
    for client, event in CASES:
        answer = ask(command_of(client, event, ON_PATH), tmp_path, shell)
        if CLIENTS[client].events[event] in DENIABLE:
            assert is_denied(client, answer), (client, event, answer)
        else:
            assert answer == (0, "", "")


def test_path_without_a_shell_denies(tmp_path):
    """The command names its shell by its path: clients take exit code 127 for a fault of the hook, and go on."""
    for client, event in DENIABLE_CASES:
        answer = subprocess.run(
            ["/bin/sh", "-c", command_of(client, event, ON_PATH)],
            input="{}",
            capture_output=True,
            text=True,
            env={"PATH": str(tmp_path)},
        )
        shell_answer = ShellAnswer(answer.returncode, answer.stdout, answer.stderr)
        assert is_denied(client, shell_answer), (client, event, shell_answer)


def test_commands_with_a_shell_by_its_name_are_ours(tmp_path):
    """An earlier version wrote them; `bridge add` replaces them and `bridge remove` removes them."""
    assert event_of(OURS.removeprefix("/bin/"), "claude") == "PreToolUse"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("shell", SHELLS)
def test_fault_of_samuel_denies(fault, shell, tmp_path):
    put_samuel(tmp_path, FAULTS[fault])
    for client, event in DENIABLE_CASES:
        answer = ask(command_of(client, event, ON_PATH), tmp_path, shell)
        assert is_denied(client, answer), (client, event, answer)


@pytest.mark.parametrize("shell", SHELLS)
def test_samuel_that_hangs_is_ended_and_denies(shell, tmp_path):
    shutil.copy(Path(sys.executable).with_name(NATIVE_CLIENT), tmp_path)
    put_samuel(tmp_path, "exec cat", "samuel")  # which the client becomes
    waiting, never_written = os.pipe()
    hanging = []
    try:
        for client, event in DENIABLE_CASES:
            line = command_of(client, event, ON_PATH)
            assert f" --deadline {DEADLINE}" in line
            line = line.replace(f"--deadline {DEADLINE}", "--deadline 1")
            hanging.append((client, event, started(line, tmp_path, waiting, shell)))
        for client, event, process in hanging:
            answer = answer_of(process)
            assert is_denied(client, answer), (client, event, answer)
    finally:
        os.close(waiting)
        os.close(never_written)


def without_other_processes() -> None:
    """From now on this process cannot start another one."""
    if not os.geteuid():  # whom the limit does not concern
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))


@pytest.mark.parametrize(
    ("shell", "of_client"),
    # Of fish, and of a zsh that is `sh`, which macOS can have, such an end is not a denial.
    [
        *((shell, True) for shell in SHELLS if shell != "fish"),
        *((shell, False) for shell in SHELLS if shell in ("bash", "dash")),
    ],
)
def test_shell_that_cannot_start_samuel_denies(shell, of_client):
    """bash ends with 254 and zsh with 1, which clients take for a fault of the hook."""
    command = hook_command if of_client else hook_script
    trying = [
        (
            (client, event),
            subprocess.Popen(
                [shell, "-c", command(ON_PATH, client, event)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd="/",
                env={"PATH": "/usr/bin:/bin"},
                preexec_fn=without_other_processes,
            ),
        )
        for client, event in DENIABLE_CASES
    ]
    for case, process in trying:  # at the same time: bash tries for 15 seconds to fork
        out, err = process.communicate()
        assert (process.returncode, out) == (2, ""), (case, err)
        assert err, case


@pytest.mark.parametrize("options", [{"SHELLOPTS": "errexit"}, {"ENV": "/dev/null", "BASH_ENV": "/errexit"}])
def test_shell_that_ends_at_the_first_failure_denies(options, tmp_path):
    (tmp_path / "errexit").write_text("set -e\n")
    variables = {name: value.replace("/errexit", str(tmp_path / "errexit")) for name, value in options.items()}
    for client, event in DENIABLE_CASES:
        for line in (hook_command(ON_PATH, client, event), hook_script(ON_PATH, client, event)):
            done = subprocess.run(
                ["bash", "-c", line],
                input="{}",
                capture_output=True,
                text=True,
                cwd=tmp_path,
                env={"PATH": "/usr/bin:/bin", **variables},
            )
            assert is_denied(client, ShellAnswer(done.returncode, done.stdout, done.stderr)), (client, event, done)


@pytest.mark.parametrize("shell", SHELLS)
def test_project_directory_that_is_missing_denies_with_a_reason(shell, tmp_path):
    put_samuel(tmp_path, "exit 0")
    for client, event in DENIABLE_CASES:
        variable = f"{client.upper()}_PROJECT_DIR"
        line = command_of(client, event, ON_PATH)
        if variable not in line:
            continue
        answer = ask(f"export {variable}=/no/such/place; {line}", tmp_path, shell)
        assert answer.code == 2 or is_denied(client, answer), (client, event, answer)
        assert answer.err, (client, event, answer)


@pytest.mark.parametrize(("code", "out"), [(0, '{"a": "b c"}\n'), (0, ""), (2, "")])
def test_answer_of_samuel_reaches_the_client(code, out, tmp_path):
    put_samuel(tmp_path, f"printf %s {shlex.quote(out)}; echo why >&2; exit {code}")
    for client, event in DENIABLE_CASES:
        answer = ask(command_of(client, event, ON_PATH), tmp_path)
        assert answer._replace(out=answer.out.rstrip("\n")) == (code, out.rstrip("\n"), "why\n")


@pytest.mark.parametrize("fault", [None, "exit 1"])
def test_denial_that_cannot_be_written_is_exit_code_2(fault, tmp_path):
    for client, event in DENIABLE_CASES:
        denied = json.dumps(LAYOUTS[client].command.denial(event, "samuel"))
        put_samuel(tmp_path, fault or f"echo why >&2; printf %s {shlex.quote(denied)}; exit 0")
        answer = ask(f"{command_of(client, event, ON_PATH)} > /dev/full", tmp_path)
        if fault or LAYOUTS[client].command.denial(event, "samuel"):
            assert answer.code == 2, (client, event, answer)


def test_samuel_gets_its_arguments_and_the_payload(tmp_path):
    put_samuel(tmp_path, 'echo "$@"; cat')
    answer = ask(command_of("codex", "PreToolUse", ON_PATH), tmp_path)
    assert answer.out == f"--as codex PreToolUse --deadline {DEADLINE}\n{{}}"


def test_absolute_path_with_special_characters_is_quoted(tmp_path):
    directory = tmp_path / 'a "b" $c `d` \'e'
    directory.mkdir()
    program = put_samuel(directory, 'echo "$@"')
    for event in ("PreToolUse", "Stop"):
        line = hook_command(EmitCommand((str(program),)), "claude", event)
        assert ask(line, tmp_path).out.startswith(f"--as claude {event}")
        assert event_of(line, "claude") == event


@pytest.mark.parametrize(
    "words",
    [
        *(("samuel-emit",), ("/a b/samuel-emit",), ("/a/samuel", "emit"), ("/a b/samuel", "emit")),
        *(("/a/python", "-P", "-m", "samuel", "emit"), ('/it\'s "a"/samuel-emit',)),
        ("/a/samuel-emit", "--server", "/tmp/x y/socket", "7", "8", "/b/samuel-emit"),
    ],
)
def test_our_commands_are_recognised_however_samuel_is_started(words):
    for client, event in CASES:
        line = hook_command(EmitCommand(words), client, event)
        assert event_of(line, client) == event
        assert not any(event_of(line, other) for other in CLIENTS if other != client)


def test_installed_command_is_the_small_client_that_came_with_samuel():
    command = installed_command()
    assert command == EmitCommand((str(Path(sys.executable).with_name(NATIVE_CLIENT)),))
    assert not command.on_path


def test_hook_runs_in_the_project_that_the_client_names(tmp_path):
    put_samuel(tmp_path, "pwd")
    line = f"cd /; CLAUDE_PROJECT_DIR={shlex.quote(str(tmp_path))}; export CLAUDE_PROJECT_DIR; "
    for event in ("PreToolUse", "Stop"):
        assert ask(line + command_of("claude", event, ON_PATH), tmp_path).out.strip() == str(tmp_path)


@pytest.mark.parametrize(
    ("client", "path", "path_of_hook"),
    [
        ("codex", "/home/me/.codex/tmp/arg0-linux/codex-arg05Dw:/a:/b", "/a:/b"),
        ("codex", "/a:/home/me/.codex/tmp/arg0/codex-arg05Dw:/b", "/a:/home/me/.codex/tmp/arg0/codex-arg05Dw:/b"),
        ("codex", "/a:/b", "/a:/b"),
        ("claude", "/home/me/.codex/tmp/arg0/codex-arg05Dw:/a:/b", "/home/me/.codex/tmp/arg0/codex-arg05Dw:/a:/b"),
    ],
)
def test_hooks_of_codex_do_not_see_the_directory_that_it_makes_for_one_session(
    client, path, path_of_hook, tmp_path
):
    program = put_samuel(tmp_path, 'echo "$PATH"')
    for event in ("PreToolUse", "PostToolUse"):
        line = hook_command(EmitCommand((str(program),)), client, event)
        done = subprocess.run(
            ["/bin/sh", "-c", f"PATH={path}; export PATH; exec {line}"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert (done.returncode, done.stdout) == (0, f"{path_of_hook}\n"), done
        of_run = hook_command(EmitCommand((str(program),), of_run=True), client, event)
        done = subprocess.run(
            ["/bin/sh", "-c", f"PATH={path}; export PATH; exec {of_run}"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.stdout == f"{path}\n", "a run pins PATH itself"


OURS = hook_command(ON_PATH, "claude", "PreToolUse")
OURS_OF_CODEX = hook_command(ON_PATH, "codex", "PreToolUse")


@pytest.mark.parametrize(
    ("client", "line"),
    [
        *(("claude", "samuel-emit --as claude PreToolUse"), ("claude", "lint"), ("claude", ""), ("claude", 7)),
        *(("claude", f"{OURS}; lint"), ("claude", f"lint; {OURS}"), ("claude", f"sh -c {shlex.quote(OURS)}")),
        ("claude", OURS.replace("samuel-emit", "other-emit")),
        *(("codex", shlex.split(OURS_OF_CODEX)[2]), ("codex", f"{OURS_OF_CODEX} more"), ("codex", "sh -c 'lint")),
    ],
)
def test_other_commands_are_not_ours(client, line):
    assert event_of(line, client) == ""

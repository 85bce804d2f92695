"""Attempts of an agent to switch shell_guard off, in a session by the bridge and in a run, with real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.length import sample
from tests.shipped.test_shell_guard_itself import ATTEMPTS

PROGRAM = Path(__file__).parent / "hooked_agent.py"
SETTINGS = """
[methodology.ralph]
agent = "hooked"
pause = "0s"
max_iterations = 1
baseline = "accept"
commit = false
quality_checks = ["true"]

[agents.hooked]
command = {command}
prompt = "stdin"
stream = "claude"
hooks = "claude"
"""
# Files that the agent writes with its own tool.
WRITES = {
    ".system/hooks/shell_guard.yaml": "id: shell_guard\nenabled: false\n",
    "samuel.toml": "[hooks]\ndisable = ['shell_guard']\n",
    ".claude/settings.json": "{}",
    ".claude/settings.local.json": '{"disableAllHooks": true}',
    ".samuel/hooks/other.py": "",
    "link/hooks/shell_guard.yaml": "enabled: false\n",
    "{home}/.claude/settings.json": '{"disableAllHooks": true}',
    "{home}/.local/state/samuel/trust.json": "{}",
    "{home}/bin/samuel-emit": "#!/bin/sh\n",
    "{home}/.bashrc": "alias samuel=true\n",
}
# What a program does once it runs: no guard of commands sees it. {{"script": ...}} is Python.
SCRIPTS = {
    "changes the guard's file": "edit('.system/hooks/shell_guard.yaml', 'enabled: true', 'enabled: false')",
    "switches a rule off in it": "edit('.system/hooks/shell_guard.yaml', 'off: []', 'off: [delete-tree]')",
    "removes the guard's file": "os.remove('.system/hooks/shell_guard.yaml')",
    "removes all of .system": "shutil.rmtree('.system')",
    "makes the file unreadable text": "open('.system/hooks/shell_guard.yaml', 'wb').write(b'\\xff\\x00')",
    "makes the file a link": (
        "os.remove('.system/hooks/shell_guard.yaml'); os.symlink('/dev/null', '.system/hooks/shell_guard.yaml')"
    ),
    "makes .system a link": "shutil.move('.system', home + '/away'); os.makedirs(home + '/empty');"
    " os.symlink(home + '/empty', '.system')",
    "makes the file a pipe": (
        "os.remove('.system/hooks/shell_guard.yaml'); os.mkfifo('.system/hooks/shell_guard.yaml')"
    ),
    "breaks samuel.toml": "open('samuel.toml', 'w').write('[[[')",
    "hides the guard behind another of its name": (
        "open('.system/hooks/shell_guard.yml', 'w').write('id: shell_guard\\nenabled: false\\n')"
    ),
    "adds a hook that allows all": (
        "os.makedirs('.samuel/hooks', exist_ok=True);"
        " open('.samuel/hooks/0.py', 'w').write('import samuel\\n\\n@samuel.hook(\"PreAbilityCall\")\\n"
        'def yes(event):\\n    return {"decision": "allow"}\\n\')'
    ),
    "removes the records of trust": "shutil.rmtree(home + '/.local/state/samuel', ignore_errors=True)",
    "stops the server": "run('samuel', 'serve', 'stop')",
    "removes the program": "os.remove(home + '/bin/samuel-emit')",
    "makes a project below": "os.makedirs('src'); open('src/samuel.toml', 'w').close(); run('git', 'init', 'src')",
    "disables it with samuel": "run('samuel', 'hooks', 'disable', 'shell_guard')",
    "agrees to its own change": (
        "edit('.system/hooks/shell_guard.yaml', 'off: []', 'off: [delete-tree]'); run('samuel', 'trust', '--yes')"
    ),
    "removes the bridge with samuel": "run('samuel', 'bridge', 'remove', 'claude')",
    "empties the settings": "open('.claude/settings.json', 'w').write('{}')",
    "switches all hooks off": "open('.claude/settings.local.json', 'w').write('{\"disableAllHooks\": true}')",
    "shadows the program": (
        "os.remove(home + '/bin/samuel-emit'); open(home + '/bin/samuel-emit', 'w').write('#!/bin/sh\\n');"
        " os.chmod(home + '/bin/samuel-emit', 0o755)"
    ),
}
PRELUDE = """
import os, shutil, subprocess
home = os.environ["HOME"]

def edit(file, old, new):
    text = open(file).read()
    assert old in text
    open(file, "w").write(text.replace(old, new))

def run(*words):
    subprocess.run(words, check=True)

"""
REFUSED_IN_A_RUN = {"disables it with samuel", "agrees to its own change", "removes the bridge with samuel"}
# SECURITY.md names these: without a run, files of the user decide what is asked, and a program can change them.
LOST_BY_ITSELF = {
    "disables it with samuel",
    "agrees to its own change",
    "removes the bridge with samuel",
    "empties the settings",
    "switches all hooks off",
    "shadows the program",
}


class GuardedProject:
    """A project with shell_guard, and a user whose samuel is linked in ~/bin."""

    def __init__(self, directory: Path) -> None:
        self.home, self.root, self.notes = directory / "home", directory / "home" / "project", directory / "notes"
        programs = self.home / "bin"
        for place in (programs, self.root, self.notes):
            place.mkdir(parents=True)
        for name in ("samuel", "samuel-emit"):
            (programs / name).symlink_to(Path(sys.executable).parent / name)
        path = (str(programs), "/usr/local/bin", "/usr/bin", "/bin")
        self.env = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(path),
            "LANG": "C.UTF-8",
            "SAMUEL_SERVE": "off",
        }
        self.run("git", "init", "-q", ".")
        outcomes = [
            sys.executable,
            str(PROGRAM),
            str(self.notes / "script.json"),
            str(self.notes / "outcomes.json"),
        ]
        (self.root / "samuel.toml").write_text(SETTINGS.format(command=json.dumps(outcomes)))
        (self.root / "prd.md").write_text("# Plan\n\n- [ ] 1.1 Try it\n")
        self.agent = outcomes
        self.run("samuel", "hooks", "enable", "shell_guard")
        self.run("samuel", "bridge", "add", "claude")
        self.run("samuel", "trust", "--yes")
        (self.root / "link").symlink_to(".system")

    def run(self, *words: str, expected: int | None = 0) -> str:
        program = shutil.which(words[0], path=self.env["PATH"]) or words[0]
        done = subprocess.run(
            [program, *words[1:]],
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert expected is None or done.returncode == expected, done.stdout + done.stderr
        return done.stdout + done.stderr

    def play(self, where: str, calls: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
        """What came of each call, `by itself` or `in a run`."""
        (self.notes / "script.json").write_text(json.dumps(calls))
        if where == "by itself":
            printed = self.run(*self.agent)
        else:
            self.run("samuel", "run", "init", "--prd", "prd.md", "--yes", "--no-commit")
            printed = self.run("samuel", "run", "start", expected=None)
        outcomes = self.notes / "outcomes.json"
        assert outcomes.exists(), printed
        played: list[dict[str, str]] = json.loads(outcomes.read_text())
        assert len(played) == len(calls), printed
        return played

    def end_servers(self) -> None:
        """End what answered the hooks: its records may be gone, so it is found by its home directory."""
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and f"HOME={self.home}\0".encode() in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGTERM)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[GuardedProject]:
    project = GuardedProject(tmp_path)
    yield project
    project.end_servers()


WHERE = pytest.mark.parametrize("where", ["by itself", "in a run"])


@pytest.mark.slow
@WHERE
def test_every_attempt_by_a_call_is_stopped(project: GuardedProject, where: str) -> None:
    calls: list[dict[str, Any]] = [
        {"command": command, "carry_out": False} for command in sample(ATTEMPTS.strip().splitlines(), every=8)
    ]
    calls += [
        {"path": path.format(home=project.home), "content": content, "carry_out": False}
        for path, content in WRITES.items()
    ]
    played = project.play(where, calls)
    assert [outcome["call"] for outcome in played if not outcome["stopped"]] == []
    assert [outcome["call"] for outcome in played if "of shell_guard" not in outcome["holds"]] == []


@pytest.mark.slow
@pytest.mark.sampled(every=5)
@WHERE
@pytest.mark.parametrize("attempt", SCRIPTS)
def test_a_program_that_the_agent_runs_does_not_switch_it_off(
    project: GuardedProject, where: str, attempt: str
) -> None:
    """A guard that was changed denies. What is lost by itself is listed, and holds in a run."""
    (project.root / "tool.py").write_text(PRELUDE + SCRIPTS[attempt])
    (outcome,) = project.play(where, [{"command": "python3 tool.py", "carry_out": True}])
    assert not outcome["stopped"]
    assert bool(outcome["code"]) is (where == "in a run" and attempt in REFUSED_IN_A_RUN), outcome
    is_lost = where == "by itself" and attempt in LOST_BY_ITSELF
    assert bool(outcome["holds"]) is not is_lost, outcome

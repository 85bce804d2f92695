"""Draws docs/watch.svg: `samuel run watch` on a real run with two lanes, as a real terminal shows it.

    python docs/watch_picture.py    run the loop and draw its view again; needs tmux

The agent is a script that reports its work as claude does. Times are written as in SAMPLES.
Which lane works on which task differs from run to run.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import run_picture
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = run_picture.ROOT / "docs" / "watch.svg"
COLUMNS, ROWS = 100, 22
PATIENCE = 120  # seconds

PRD = """\
# Shop

## Tasks

### 1.1 Prices in cents

### 1.2 Totals with tax

### 1.3 Store the orders

### 2.1 Discounts for many

### 2.2 Print the invoice

### 2.3 Say how to use it
"""
SETTINGS = """\
[methodology.ralph]
agent = "claude-script"
pause = "0s"
quality_checks = ["python3 -m unittest -q"]
max_cost_usd = 20.0

[agents.claude-script]
command = ["./agent.sh"]
prompt = "stdin"
stream = "claude"
claim = "exit"
"""
HOOK = """\
id: no_push
event_type: PreAbilityCall
role: guard
handler:
  kind: python
  function: scripts/no_push.py:no_push
"""
FUNCTION = """\
def no_push(event):
    return {"decision": "deny", "reason": "a person pushes"}
"""
QUESTION = "Which database are the orders stored in?"


def tool(name: str, cost: float, **arguments: str) -> str:
    """A line of output that reports a call of a tool, and what it cost so far."""
    call = {"type": "tool_use", "id": "t", "name": name, "input": arguments}
    message = {"content": [call], "usage": {"input_tokens": int(cost * 40_000), "output_tokens": 900}}
    return f"echo '{json.dumps({'type': 'assistant', 'message': message})}'"


def result(cost: float) -> str:
    """The last line of output, with what all of it cost."""
    usage = {"input_tokens": int(cost * 40_000), "output_tokens": 900}
    return f"echo '{json.dumps({'type': 'result', 'is_error': False, 'total_cost_usd': cost, 'usage': usage})}'"


PUSH = json.dumps({"ability_id": "Bash", "tool_input": {"command": "git push origin main"}})
TEST = "import unittest\\n\\n\\nclass Test(unittest.TestCase):\\n    def test_it(self):\\n        import %s\\n"
AGENT = f"""\
#!/bin/sh
outside=@OUTSIDE@
finish() {{ echo 'x = 1' > $1.py; printf '{TEST}' $1 > test_$1.py; {result(0.42)}; exit 0; }}
stay() {{ touch $outside/at-$SAMUEL_TASK_ID; while [ -e $outside/stay ]; do sleep 0.05; done; finish $1; }}
case $SAMUEL_TASK_ID in
1.1) {tool("Write", 0.1, file_path="prices.py")}; finish prices ;;
1.2) {tool("Write", 0.1, file_path="totals.py")}
     echo '{PUSH}' | samuel emit PreAbilityCall > /dev/null 2>&1; finish totals ;;
1.3) samuel run ask "{QUESTION}" --option sqlite --option postgres; {result(0.11)}; exit 0 ;;
2.1) {tool("Read", 0.1, file_path="prices.py")}; sleep 0.3
     {tool("Edit", 0.2, file_path="discounts.py")}; sleep 0.3
     {tool("Bash", 0.3, command="python3 -m unittest -q test_discounts")}; stay discounts ;;
*) {tool("Grep", 0.1, pattern="def total")}; sleep 0.3
   {tool("Write", 0.2, file_path="invoice.py")}; stay invoice ;;
esac
"""

SAMPLES = {
    r"\d+:\d\d(?= {2}iteration)": "4:07",
    r"\b\d:\d\d(?=, [\d,]+ tok|, \$)": "1:52",
    r"\b\d\d:\d\d(?= )": "09:41",
}


class Terminal:
    """A shell in tmux."""

    def __init__(self, socket: Path, project: Path, environment: dict[str, str]) -> None:
        self._command = ["tmux", "-S", str(socket)]
        self._environment = {**environment, "TERM": "xterm-256color"}
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(project), "sh"
        )

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments], env=self._environment, capture_output=True, text=True, check=True
        )
        return done.stdout


def until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen")
        time.sleep(0.05)


def screen() -> str:
    """What the terminal shows while two agents work."""
    with tempfile.TemporaryDirectory() as scratch:
        home, project, outside = (Path(scratch, name) for name in ("home", "shop", "outside"))
        for directory in (home, project / ".system/hooks", project / "scripts", outside):
            directory.mkdir(parents=True)
        environment = {
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "SAMUEL_SERVE": "off",
        }
        (home / ".gitconfig").write_text(
            "[user]\nname = You\nemail = you@example.org\n[init]\ndefaultBranch = main\n"
        )
        (project / "prd.md").write_text(PRD)
        (project / "samuel.toml").write_text(SETTINGS)
        (project / "test_begin.py").write_text(TEST.replace("\\n", "\n") % "unittest")
        (project / ".system/hooks/no_push.yaml").write_text(HOOK)
        (project / "scripts/no_push.py").write_text(FUNCTION)
        (project / "agent.sh").write_text(AGENT.replace("@OUTSIDE@", str(outside)))
        (project / "agent.sh").chmod(0o755)
        (outside / "stay").touch()

        def run(*words: str) -> None:
            subprocess.run(words, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL)

        run("git", "init", "-q")
        run("samuel", "run", "init", "--prd", "prd.md", "--no-commit")
        run("git", "add", "-A")
        run("git", "commit", "-q", "-m", "Start the project")
        with (outside / "lines").open("w") as lines:
            command = ["samuel", "run", "start", "--yes", "--parallel", "2", "--accept-unguarded"]
            loop = subprocess.Popen(command, cwd=project, env=environment, stdout=lines, stderr=lines)
        terminal = Terminal(Path(scratch, "tmux"), project, environment)
        try:
            until(
                lambda: all((outside / f"at-{task}").exists() for task in ("2.1", "2.2")), "the work in two lanes"
            )
            terminal.tmux("send-keys", "samuel run watch", "Enter")
            until(lambda: "denied" in terminal.tmux("capture-pane", "-p"), "the view")
            return terminal.tmux("capture-pane", "-p", "-e")
        finally:
            terminal.tmux("kill-server")
            (outside / "stay").unlink()
            loop.wait(timeout=PATIENCE)


def draw() -> str:
    text = Text.from_ansi(screen().rstrip("\n"))
    lines = text.split("\n", allow_blank=True)
    for number, line in enumerate(lines):
        for pattern, sample in SAMPLES.items():
            for match in reversed([*re.finditer(pattern, line.plain)]):
                line = (
                    line[: match.start()]
                    + Text(sample, style=line.get_style_at_offset(Console(), match.start()))
                    + line[match.end() :]
                )
        lines[number] = line
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text("\n").join(lines), soft_wrap=True)
    svg = run_picture.SVG.replace("A run of Samuel's loop in a terminal", "The view of a run in a terminal")
    return console.export_svg(title="samuel run watch", theme=MONOKAI, code_format=svg, unique_id="samuel-watch")


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")

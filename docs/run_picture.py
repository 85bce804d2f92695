"""Draws docs/run.svg: a run of the demo's tasks, as a real terminal showed it.

    python docs/run_picture.py            run the loop and draw it again
    python docs/run_picture.py --check    say whether the picture shows what a run prints today, and fail if not

The scripted agent works on the demo project in a pseudo-terminal, and rich draws what the terminal shows at the
end. Times and the id of the run are written as in SAMPLES, so that the same program always gives the same
picture.
"""

from __future__ import annotations

import html
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import demo  # noqa: E402  the project of `make demo`

PICTURE = ROOT / "docs" / "run.svg"
COLUMNS = 92

COMMANDS = (
    ("samuel", "run", "start"),
    ("samuel", "run", "finish", "--merge"),
    ("git", "log", "--format=%s", "--reverse"),
)

SAMPLES = {
    r"\(\d+\.\ds\)": "(0.1s)",
    r"\bin \d+\.\d+s\b": "in 0.001s",
    r"\brun-[0-9a-f]{11,}": "run-1a1e68a947f755b1c32000001",
    r"(?<=: )[0-9a-f]{12}\b": "ea2ff69b6d3a",
}

# rich's own format without its @font-face rules, which would load fonts from the network.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A run of Samuel's loop in a terminal</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class Screen:
    """The part of a terminal that a run needs: lines, carriage returns, moving up, erasing and colours."""

    CONTROL = re.compile(r"\x1b\[(?P<arguments>[?0-9;]*)(?P<action>[A-Za-z])|\x1b\][^\x07]*\x07")

    def __init__(self) -> None:
        self.rows: list[list[tuple[str, str]]] = [[]]  # each cell: how it is drawn, and its character
        self.row = self.column = 0
        self.style = ""

    def feed(self, output: str) -> None:
        position = 0
        while position < len(output):
            control = self.CONTROL.match(output, position)
            if control:
                self._control(control["action"] or "", control["arguments"] or "")
                position = control.end()
                continue
            self._put(output[position])
            position += 1

    def _put(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            while len(self.rows) <= self.row:
                self.rows.append([])
        else:
            cells = self.rows[self.row]
            cells.extend([("", " ")] * (self.column + 1 - len(cells)))
            cells[self.column] = (self.style, character)
            self.column += 1

    def _control(self, action: str, arguments: str) -> None:
        if action == "A":
            self.row = max(0, self.row - int(arguments or 1))
        elif action == "K":
            self.rows[self.row] = []
        elif action == "m":
            self.style = "" if arguments in ("", "0") else f"{self.style}\x1b[{arguments}m"

    def text(self) -> Text:
        lines = []
        for cells in self.rows:
            runs = groupby(cells, key=lambda cell: cell[0])
            lines.append("".join(f"{style}{''.join(cell[1] for cell in run)}\x1b[0m" for style, run in runs))
        return Text.from_ansi("\n".join(lines).rstrip("\n"))


def in_terminal(words: tuple[str, ...], project: Path, environment: dict[str, str]) -> str:
    """What the command writes to a terminal of COLUMNS columns."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        words, cwd=project, env=environment, stdin=follower, stdout=follower, stderr=follower
    ) as run:
        os.close(follower)
        chunks = []
        while chunk := _read(leader):
            chunks.append(chunk)
    os.close(leader)
    if run.returncode != 0:
        sys.exit(f"`{' '.join(words)}` ended with exit code {run.returncode}\n{b''.join(chunks).decode()}")
    return b"".join(chunks).decode().replace("\r\n", "\n\r")


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # Linux reports the end of a pseudo-terminal as an error
        return b""


def draw() -> str:
    with tempfile.TemporaryDirectory() as scratch:
        home, project = Path(scratch, "home"), Path(scratch, "textkit")
        home.mkdir()
        environment = {
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": str(COLUMNS),
            "GIT_PAGER": "cat",
        }
        (home / ".gitconfig").write_text(
            "[user]\nname = You\nemail = you@example.org\n[init]\ndefaultBranch = main\n"
        )

        def run(*words: str) -> None:
            subprocess.run(words, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL)

        demo.prepare(project, run)
        run("samuel", "run", "init", "--prd", "docs/prd.md")
        demo.commit(run)
        run("samuel", "trust", "--yes")
        screen = Screen()
        for words in COMMANDS:
            screen.feed(f"\x1b[1;32m$\x1b[0m \x1b[1m{' '.join(words)}\x1b[0m\n\r")
            screen.feed(in_terminal(words, project, environment))
            screen.feed("\n\r")
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(steady(screen.text()), soft_wrap=True)
    return console.export_svg(title="textkit", theme=MONOKAI, code_format=SVG, unique_id="samuel-run")


def steady(text: Text) -> Text:
    """The same for every run: how long a check took and which id the run has are not of interest here."""
    lines = text.split("\n", allow_blank=True)
    for number, line in enumerate(lines):
        for pattern, sample in SAMPLES.items():
            if match := re.search(pattern, line.plain):
                lines[number] = line = line[: match.start()] + Text(sample) + line[match.end() :]
    return Text("\n").join(lines)


def content(svg: str) -> str:
    """The characters of the picture, without where and how they are drawn."""
    lines = re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)
    return html.unescape(" ".join(lines)).replace("\xa0", " ")


def main(arguments: list[str]) -> int:
    svg = draw()
    if "--check" not in arguments:
        PICTURE.write_text(svg, encoding="utf-8")
        return 0
    if PICTURE.exists() and content(PICTURE.read_text(encoding="utf-8")) == content(svg):
        return 0
    print("docs/run.svg: out of date; run `python docs/run_picture.py`")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A page of the documentation, read the way a person follows it: what it names is written, what it types is run.

    ```bash title=".samuel/hooks/notify"      a file: written, and not executable before the page says `chmod +x`
    ```toml title="samuel.toml"               a file too, and it must load
    ```python                                 without a title: run
    ```console                                each `$ command` is run; what is shown below it must come out
    <!-- needs: bwrap, podman -->              what the machine must have; elsewhere the page is left out
    <!-- needs: wheel packaging -->            what pip must find there

A command must end with 0, unless `$ echo $?` follows and shows another code. A line `...` stands for any number of
lines. `$ cd DIR` holds for all that comes after it. `python tests/docs/story.py` writes what really comes out into
the pages, and prints the difference: read it, it may be a bug rather than news.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

from samuel import config

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^```(?P<language>\w+)(?P<rest>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
NEEDS = re.compile(r"^<!-- needs: (.+) -->$", re.MULTILINE)
ANY_LINES = "..."
WHEEL = "wheel "
BASE_IMAGE = "localhost/busybox:stable-musl"  # `FROM busybox:stable-musl` finds it before it asks a registry

INSTALLED = Path(sys.executable).parent
RUN_ID = re.compile(r"\brun-[0-9a-f]{11,}")
SHORT_ID = len("run-") + 11  # of an id in a table

GIT_CONFIG = """\
[user]
	name = You
	email = you@example.org
[init]
	defaultBranch = main
"""


class Block(NamedTuple):
    language: str
    title: str
    text: str
    start: int  # where the text begins in the page
    line: int


class Step(NamedTuple):
    """One command, and what the page shows below it."""

    command: str
    expected: str
    at: int  # where that begins in its block


def needs(page: str) -> list[str]:
    match = NEEDS.search(page)
    return match[1].split(", ") if match else []


def blocks(page: str) -> Iterator[Block]:
    for match in FENCE.finditer(page):
        title = TITLE.search(match["rest"])
        line = page.count("\n", 0, match.start()) + 1
        yield Block(match["language"], title[1] if title else "", match["text"], match.start("text"), line)


def steps(console: str) -> list[Step]:
    typed = list(re.finditer(r"^\$ (.*(?:\\\n.*)*)\n", console, re.MULTILINE))
    ends = [*(match.start() for match in typed[1:]), len(console)]
    return [
        Step(match[1], console[match.end() : end], match.end()) for match, end in zip(typed, ends, strict=True)
    ]


class Machine:
    """A scratch computer: a home, a project in it, and nothing of the user who runs the tests."""

    def __init__(self, place: Path, programs: Path = INSTALLED) -> None:
        """`programs` is the directory that `samuel` is started from."""
        self.place = place
        self.home = place / "home/you"
        self.project = self.home / "shop"
        self.project.mkdir(parents=True)
        self.directory = self.project
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{programs}:{INSTALLED}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "PIP_NO_INDEX": "1",  # nothing is downloaded
            "PIP_FIND_LINKS": str(place / "wheels"),
        }
        self.code = 0
        (self.home / ".gitconfig").write_text(GIT_CONFIG)

    def write(self, name: str, text: str) -> Path:
        file = self.home / name[2:] if name.startswith("~/") else self.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)  # one that is there keeps its mode, as in an editor
        return file

    def run(self, *argv: str) -> str:
        """What a person sees: both streams, and no trace of where the scratch computer is."""
        done = subprocess.run(
            argv, cwd=self.directory, env=self.env, stdout=-1, stderr=subprocess.STDOUT, text=True, timeout=600
        )
        self.code = done.returncode
        return done.stdout.replace(str(self.place), "")

    def type(self, command: str) -> str:
        if command.startswith("cd "):
            command += " && pwd"
        output = self.run("bash", "-c", f"(exit {self.code})\n{command}")
        if command.startswith("cd ") and self.code == 0:
            self.directory = self.place / output.strip().lstrip("/")
            return ""
        return output

    def has_wheel(self, name: str) -> None:
        """Make what is installed here, and is nothing but Python, something that pip finds on that computer."""
        match = distribution(name)
        wheels = self.place / "wheels"
        wheels.mkdir()
        with zipfile.ZipFile(wheels / f"{name}-{match.version}-py3-none-any.whl", "w") as wheel:
            for file in match.files or ():
                if ".." not in file.parts and "__pycache__" not in file.parts:
                    wheel.write(str(file.locate()), str(file))


class RunIds:
    """The ids of runs in a page: each run of the machine has one id there, whatever it was called that day."""

    def __init__(self) -> None:
        self._of_page: dict[str, str] = {}  # by the beginning of the real id

    def agree(self, expected: str, output: str) -> bool:
        """Whether the page calls each run of this output what it called it before."""
        names, runs = RUN_ID.findall(expected), RUN_ID.findall(output)
        if len(names) != len(runs):  # a line `...` stands for some of them
            return True
        pairs = zip(names, runs, strict=True)
        known_as = [(self._of_page.setdefault(run[:SHORT_ID], name), name) for name, run in pairs]
        return all(before[:SHORT_ID] == name[:SHORT_ID] for before, name in known_as)

    def in_page(self, output: str) -> str:
        """The output with the ids of the page."""

        def name(match: re.Match[str]) -> str:
            return self._of_page.setdefault(match[0][:SHORT_ID], match[0])[: len(match[0])]

        return RUN_ID.sub(name, output)


def follow(page: str, machine: Machine) -> Iterator[tuple[Block, Step, str]]:
    """Do what a page says. Gives each command that shows something else than the page does."""
    ids = RunIds()
    for part in needs(page):
        if part.startswith(WHEEL):
            machine.has_wheel(part.removeprefix(WHEEL))
    for block in blocks(page):
        if block.title:
            file = machine.write(block.title, block.text)
            if block.title == "samuel.toml":
                config.load(file)
        elif block.language == "python":
            output = machine.run(sys.executable, "-c", block.text)
            assert machine.code == 0, f"line {block.line}: {output}"
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "console":
            todo = steps(block.text)
            for step, after in zip(todo, [*todo[1:], None], strict=True):
                output = machine.type(step.command)
                code_is_shown = after is not None and after.command == "echo $?"
                assert code_is_shown or machine.code == 0, (
                    f"line {block.line}: {step.command} ended with {machine.code}\n{output}"
                )
                if step.expected.strip() and not (
                    same(step.expected, output) and ids.agree(step.expected, output)
                ):
                    yield block, step, ids.in_page(output)


def same(expected: str, output: str) -> bool:
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == ANY_LINES else re.escape(line) + r"\n"
        for line in steady(expected).splitlines()
    )
    return re.fullmatch(pattern, steady(output)) is not None


def steady(text: str) -> str:
    """What differs from one run to the next, written the same."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "WHEN", text)
    text = re.sub(r'"(duration_ms|total_ms|seconds|at)": ?[0-9.e-]+', r'"\1": N', text)
    text = re.sub(r"\bcall-\d{8}T\d{6}-[0-9a-f]{16}\b", "CALL", text)
    text = re.sub(r"\b\d+(?:\.\d+)? ms\b", "N ms", text)
    text = re.sub(r"(?<![\d.])\+?[01]\.\d\d(?![\d.])", "N.NN", text)  # how sure routing is
    text = re.sub(r"\bby process \d+", "by process N", text)
    text = re.sub(r" +", " ", text)  # a column is as wide as what stands in it
    text = re.sub(r"\b\d+\.\d (?:-|note|warning)", "N SLOW", text)
    text = re.sub(r'"slow": "\w*"', '"slow": ""', text)
    text = re.sub(r"\b\d+\.\d\d+s\b(?: \(\d+:\d\d:\d\d\))?", "N.NNs", text)  # from a minute on, pytest adds hours
    text = re.sub(r"\(\d+\.\ds\)", "(N.Ns)", text)  # how long a check took
    text = re.sub(r"\ba prompt of \d+ bytes|\bprompt of \d+ bytes", "prompt of N bytes", text)
    text = re.sub(r"\bpid \d+", "pid N", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b", "MOMENT", text)
    text = RUN_ID.sub("RUN", text)
    text = re.sub(r"(?<=took )[0-9.hms ]+s\b|\b\d+\.\ds(?= so far|  )", "N.Ns", text)
    text = re.sub(r"\b[0-9a-f]{12,}\b", "HEX", text)
    text = re.sub(r"\b([a-z-]+)==[0-9][0-9.]*", r"\1==VERSION", text)
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def rewritten(page: str, machine: Machine) -> str:
    """The page with what really comes out. Where it has `...`, it is left alone if it is right."""
    changes = []
    for block, step, output in follow(page, machine):
        at = block.start + step.at
        changes.append((at, at + len(step.expected), output.strip("\n") + "\n"))
    for start, end, output in reversed(changes):
        page = page[:start] + output + page[end:]
    return page


def difference(name: str, before: str, after: str) -> str:
    """A unified diff, for a person to read."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), name, f"{name} (what comes out now)", lineterm=""
    )
    return "\n".join(lines)


def main(names: list[str]) -> None:
    # A page that needs podman needs its BASE_IMAGE as well: `podman tag` gives any busybox that name.
    for file in [Path(name).resolve() for name in names] or PAGES:
        with tempfile.TemporaryDirectory() as place:
            before = file.read_text()
            after = rewritten(before, Machine(Path(place)))
        if after != before:
            file.write_text(after)
            print(difference(str(file.relative_to(ROOT)), before, after))


if __name__ == "__main__":
    main(sys.argv[1:])

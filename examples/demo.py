"""`make demo`: a PRD of five tasks worked to done by a scripted agent, with the project's real tests as the gate.

One attempt fails and is retried, two hooks take part, each task becomes a commit, and the folder stays there to
look at.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLE = REPOSITORY / "examples" / "demo"
DIRECTORY = REPOSITORY / ".demo"

SETTINGS = """
[methodology.ralph]
agent = "scripted"
pause = "0s"
quality_checks = ["python3 -m unittest discover -s tests -q"]

[guardrails]
max_file_lines = 100
"""


def main(directory: Path = DIRECTORY) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    home, project = directory / "home", directory / "project"
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text("[user]\nname = You\nemail = you@example.org\n")
    run, show = partial(run_in, project, home), partial(run_in, project, home, show=True)

    title("A project, its PRD, and the two hooks that came with it")
    prepare(project, run)
    show("samuel", "run", "init", "--prd", "docs/prd.md")
    commit(run)

    title("Nothing of it runs before you agreed")
    show("samuel", "trust", "--list")
    run("samuel", "trust", "--yes")

    title("The loop: a fresh agent for each task, the project's own tests as the gate")
    show("samuel", "run", "start")

    title("The agent claimed task 2.1 twice. The first claim did not count: the tests failed")
    show("samuel", "run", "show", "2.1")

    title("A commit for each task: on a branch of the run's own until now, and then on yours")
    show("samuel", "run", "finish", "--merge")
    show("git", "log", "--format=%s", "--reverse")

    report = next((project / ".samuel" / "run" / "reports").glob("*/report.html"))
    print(f"\nThe report of the run:                {report.relative_to(directory.parent)}")
    print(f"The project is there to look at:      cd {project.relative_to(directory.parent)}")
    print(f"Its state is kept apart from yours:   export HOME={home}")


def prepare(project: Path, run: Callable[..., None]) -> None:
    """Copy the sample project and its agent's steps into a repository. docs/run_picture.py uses it, too."""
    shutil.copytree(SAMPLE / "project", project)
    run("git", "init", "-q", "-b", "main")
    run("samuel", "init")
    (project / "samuel.toml").write_text(SETTINGS.lstrip())
    shutil.copytree(SAMPLE / "steps", project / ".samuel" / "scripted")


def commit(run: Callable[..., None]) -> None:
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", "Start the project")


def run_in(project: Path, home: Path, *words: str, show: bool = False) -> None:
    environment = {
        **os.environ,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "GIT_PAGER": "cat",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    if show:
        print(f"$ {' '.join(words)}", flush=True)
    done = subprocess.run(
        words, cwd=project, env=environment, stdout=None if show else subprocess.DEVNULL, check=False
    )
    if done.returncode != 0:
        sys.exit(f"`{' '.join(words)}` ended with exit code {done.returncode}")


def title(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()

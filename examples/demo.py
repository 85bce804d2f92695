"""`make demo`: a PRD of five tasks worked to done by a scripted agent, with the project's real tests as the gate.

One attempt fails and is retried, two hooks take part, and the folder stays there to look at.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLE = REPOSITORY / "examples" / "demo"
PLACE = REPOSITORY / ".demo"
PROJECT = PLACE / "project"
HOME = PLACE / "home"

SETTINGS = """
[methodology.ralph]
agent = "scripted"
pause = "0s"
quality_checks = ["python3 -m unittest discover -s tests -q"]

[guardrails]
max_file_lines = 100
"""


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    HOME.mkdir(parents=True)

    title("A project, its PRD, and the two hooks that came with it")
    prepare(PROJECT, run)
    run("samuel", "run", "init", "--prd", "docs/prd.md", show=True)

    title("Nothing of it runs before you agreed")
    run("samuel", "trust", "--list", show=True)
    run("samuel", "trust", "--yes")

    title("The loop: a fresh agent for each task, the project's own tests as the gate")
    run("samuel", "run", "start", "--profile", show=True, live=True)

    title("The tasks afterwards")
    run("samuel", "run", "tasks", show=True)
    print(f"\nThe project is still there to look at:   cd {PROJECT.relative_to(REPOSITORY)}")
    print("What the agents were told and said:      .samuel/run/logs/, .samuel/run/progress.md")
    print(f"Its state is kept apart from yours:      export HOME={HOME}")


def prepare(project: Path, run: Callable[..., None], settings: str = SETTINGS) -> None:
    """Copy the sample project and its agent's steps, and commit them. docs/run_picture.py uses it, too."""
    shutil.copytree(SAMPLE / "project", project)
    run("git", "init", "-q", "-b", "main")
    run("samuel", "init")
    (project / "samuel.toml").write_text(settings.lstrip())
    shutil.copytree(SAMPLE / "steps", project / ".samuel" / "scripted")
    run("git", "add", "-A")
    run(
        "git",
        "-c",
        "user.name=demo",
        "-c",
        "user.email=demo@example.org",
        "commit",
        "-q",
        "-m",
        "Start the project",
    )


def run(*words: str, show: bool = False, live: bool = False) -> None:
    environment = {
        **os.environ,
        "HOME": str(HOME),
        "XDG_STATE_HOME": str(HOME / "state"),
        "XDG_CACHE_HOME": str(HOME / "cache"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    if show:
        print(f"$ {' '.join(words)}", flush=True)
    done = subprocess.run(
        words, cwd=PROJECT, env=environment, stdout=None if show or live else subprocess.DEVNULL, check=False
    )
    if done.returncode != 0:
        sys.exit(f"`{' '.join(words)}` ended with exit code {done.returncode}")


def title(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()

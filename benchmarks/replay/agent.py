"""The scripted agent of a replay: it does what a commit did and claims the task; sent back, it does so again.

python -IS agent.py PARENT COMMIT PROMPT
"""

from __future__ import annotations

import os
import subprocess
import sys


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


def main(parent: str, commit: str) -> None:
    fields = git("diff", "--name-status", "--no-renames", "-z", parent, commit).decode().split("\0")
    changes = list(zip(fields[1::2], fields[0::2], strict=False))
    removed = [path for path, status in changes if status == "D"]
    changed_paths = [path for path, status in changes if status != "D"]
    if changed_paths:
        git("checkout", commit, "--", *changed_paths)
    if removed:
        git("rm", "-q", "--ignore-unmatch", "--", *removed)
    git("reset", "-q")
    subprocess.run(["samuel", "run", "done", os.environ["SAMUEL_TASK_ID"]], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])

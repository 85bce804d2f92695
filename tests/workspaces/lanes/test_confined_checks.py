"""What checks see where agents work in bubblewrap: the clean room, and nothing that an agent could write."""

from __future__ import annotations

import os
import pwd
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.workspaces.lanes.project import LaneProject

PARALLEL = [0, 2]
HIDDEN_WORK = 'echo done > left.txt\necho "grep -q done $PWD/left.txt" > tool.sh\n'
# What it finds outside of the room is in its output, and git answers.
LOOK = """\
git cat-file -e HEAD:check.sh || exit 1
find {places} -type f ! -path '*/.git/objects/*' > found.txt
! grep -v "^$PWD/" found.txt
"""


@pytest.fixture
def project(fast_samuel: Path, with_compiled_python: Callable[[Path], None]) -> Iterator[LaneProject]:
    """Not below /tmp, of which a sandbox shows nothing anyway."""
    if shutil.which("bwrap") is None:
        pytest.skip("NOT TESTED: bubblewrap is not installed")
    directory = Path("/var/lib") if os.geteuid() == 0 else Path(pwd.getpwuid(os.getuid()).pw_dir)
    base = directory / f"samuel-checks-{os.getpid()}-{time.monotonic_ns()}"
    home = base / "home"
    home.mkdir(parents=True)
    with_compiled_python(home / "cache")
    yield LaneProject(base, fast_samuel, home)
    shutil.rmtree(base)


@pytest.mark.parametrize("parallel", PARALLEL)
@pytest.mark.parametrize(("sandbox", "status"), [("bwrap", "blocked"), ("host", "completed")])
def test_work_in_an_ignored_file_is_found_by_its_path_on_the_host_alone(
    project: LaneProject, parallel: int, sandbox: str, status: str
) -> None:
    files = {".gitignore": "left.txt\n", "check.sh": "test ! -e tool.sh || sh tool.sh\n"}
    project.prepare(1, settings=f'sandbox = "{sandbox}"\nmax_task_attempts = 1\ncommit = true', files=files)
    project.task("any", HIDDEN_WORK)
    ran = project.samuel(*start(parallel), code=None, installed=True)
    assert project.statuses() == {"1": status}, ran.screen


@pytest.mark.parametrize("parallel", PARALLEL)
def test_check_in_a_sandbox_finds_neither_the_agents_tree_nor_other_rooms(
    project: LaneProject, parallel: int
) -> None:
    state = project.home / "state/samuel"
    places = f"{state}/runs {state}/lanes" if parallel else f"{state}/runs {project.root}"
    look = LOOK.format(places=places)
    project.prepare(
        2, settings='sandbox = "bwrap"\nmax_task_attempts = 1\ncommit = true', files={"check.sh": look}
    )
    ran = project.samuel(*start(parallel), code=None, installed=True)
    assert project.statuses() == {"1": "completed", "2": "completed"}, ran.screen
    (report,) = (project.root / ".samuel/run/reports").glob("*/report.md")
    assert "clean room, in the sandbox bwrap" in report.read_text()


def start(parallel: int) -> list[str]:
    return ["run", "start", "--yes", *(("--parallel", str(parallel)) if parallel else ())]

"""What a cheat is worth: nothing that is false is called proven, and what hides broken work is refused."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cheats.cheats import Cheat, write
from tests.cheats.judged import Judged, JudgedProject, Memo, copied
from tests.cheats.reach import (
    ACCEPTANCE_TESTS,
    HONEST,
    HONEST_BY_OTHERS,
    JUDGED_BY_OTHERS,
    OUT_OF_REACH,
    WITH_CHECKS,
    program_of_another,
    with_all_tests,
)
from tests.cheats.tables import CHEATS
from tests.conftest import plain_git

from samuel.evidence.claim import Proof
from samuel.tasks.task import Task

MakeProject = Callable[..., JudgedProject]


@pytest.fixture(scope="session")
def memo() -> Memo:
    return {}


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Cheat], Path]:
    """The repository that a row begins with; the same for all rows with the same files."""
    repositories: dict[object, Path] = {}

    def original(cheat: Cheat) -> Path:
        key = (cheat.kit.name, *sorted(cheat.base.items()), *sorted(cheat.ignored.items()), cheat.prepare)
        if key not in repositories:
            root = tmp_path_factory.mktemp("original") / "shop"
            root.mkdir()
            write(root, {**cheat.kit.files, **cheat.base, **cheat.ignored})
            for name in cheat.executable:
                (root / name).chmod(0o755)
            git = plain_git(root.parent)
            git(root, "init", "-q", "-b", "main")
            if cheat.prepare:
                subprocess.run(["sh", "-ec", cheat.prepare], cwd=root, check=True, capture_output=True)
            git(root, "add", ".")
            git(root, "commit", "-q", "-m", "first")
            repositories[key] = root
        return repositories[key]

    return original


@pytest.fixture
def make(tmp_path: Path, originals: Callable[[Cheat], Path], memo: Memo) -> MakeProject:
    def project(cheat: Cheat, sealed: str = "") -> JudgedProject:
        root = copied(originals(cheat), tmp_path / f"project{len(os.listdir(tmp_path))}" / "shop")
        own = root.parent / "own"
        is_plain = cheat.by_tree and not cheat.ignored and not cheat.prepare
        commands = [cheat.command or cheat.kit.command]
        new_project = JudgedProject(root, own, commands, memo if is_plain else None, sealed)
        new_project.begin()
        return new_project

    return project


def need_tools(cheat: Cheat) -> None:
    if not cheat.kit.is_here:
        pytest.skip(f"NOT TESTED: one of {', '.join(cheat.kit.programs)} is not installed")


def judged(make: MakeProject, cheat: Cheat, proof: Proof) -> Judged:
    need_tools(cheat)
    project = make(cheat)
    end = project.claim(cheat.task, cheat.work, proof, cheat.task.kind)
    if cheat.then is not None and end.word not in ("refused", "disputed", "unproven"):
        then = cheat.then
        second = Task(id="2", title="Another fix", kind="fix")
        return project.claim(second, lambda root: write(root, then), proof)
    return end


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("cheat", CHEATS, ids=str)
def test_cheat_is_worth_no_more_than_it_shows(make: MakeProject, cheat: Cheat) -> None:
    end, required = judged(make, cheat, "ask"), judged(make, cheat, "require")
    if not (end.is_among(cheat.ends) and required.is_among(cheat.required or cheat.ends)):
        pytest.fail(f"{cheat}: {end}\nwith `require`: {required}", pytrace=False)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("cheat", OUT_OF_REACH, ids=str)
def test_what_an_agent_wrote_on_both_sides_is_proven_and_no_more_than_that(
    make: MakeProject, cheat: Cheat
) -> None:
    assert judged(make, cheat, "ask").word == cheat.ends


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("cheat", WITH_CHECKS, ids=str)
def test_check_that_came_with_the_task_sees_what_the_agents_own_tests_do_not(
    make: MakeProject, cheat: Cheat
) -> None:
    end = judged(make, cheat, "ask")
    assert end.word == cheat.ends, str(end)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("cheat", [*JUDGED_BY_OTHERS, *HONEST_BY_OTHERS], ids=str)
def test_sealed_check_sees_what_the_agents_own_tests_do_not(make: MakeProject, cheat: Cheat) -> None:
    need_tools(cheat)
    end = make(cheat, program_of_another(cheat.kit)).claim(cheat.task, cheat.work, "ask", "fix")
    assert end.word == ("proven" if cheat in HONEST else "refused"), str(end)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("cheat", [*JUDGED_BY_OTHERS, *HONEST_BY_OTHERS], ids=str)
def test_acceptance_tests_see_what_the_agents_own_tests_do_not(make: MakeProject, cheat: Cheat) -> None:
    need_tools(cheat)
    project = make(with_all_tests(cheat))
    project.lock(ACCEPTANCE_TESTS[cheat.kit.name])
    end = project.claim(cheat.task, cheat.work, "ask", "fix")
    assert end.word == ("proven" if cheat in HONEST else "refused"), str(end)


@pytest.mark.parametrize("cheat", HONEST, ids=str)
def test_honest_work_in_the_same_projects_is_proven(make: MakeProject, cheat: Cheat) -> None:
    """The table itself: what is refused there is not refused because nothing can be proven."""
    end = judged(make, cheat, "require")
    assert end.word == cheat.ends, str(end)

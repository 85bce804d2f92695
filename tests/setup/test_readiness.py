"""Whether a run may begin, asked by a program without the command line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from samuel.app import App, Machine, Overrides
from samuel.attempt.stop import Stop
from samuel.base.errors import SamuelError, UsageError
from samuel.config.place_spec import PlaceSpec
from samuel.setup.readiness import RunRequest, open_for_run
from samuel.setup.run_state import task_store
from samuel.tasks.task import Task
from samuel.testing import SamuelProject

CONFIG = """
    [methodology.ralph]
    agent = "mine"
    pause = "0s"
    [agents.mine]
    command = ["sh", "-c", "echo x > work.txt; samuel run done 1"]
    prompt = "stdin"
"""


@pytest.fixture
def project(samuel_project: SamuelProject) -> SamuelProject:
    samuel_project.config(CONFIG)
    task_store(samuel_project.root / ".samuel/run").replace_all([Task(id="1", title="One")])
    return samuel_project


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def opened(project: SamuelProject, notices: list[str]) -> Callable[..., App]:
    """The project, opened for a run with this request."""

    def open_app(overrides: Overrides) -> App:
        overrides = Overrides(config=overrides.config, methodology=overrides.methodology, trust_everything=True)
        return App(project.root, overrides=overrides, machine=Machine(user=project.user))

    def open_with(**request: object) -> App:
        return open_for_run(project.root, RunRequest(**request), open_app, notices.append)  # type: ignore[arg-type]

    return open_with


def test_a_program_runs_the_tasks_of_a_project_that_is_ready(
    opened: Callable[..., App], samuel_of_agents: None, project: SamuelProject
) -> None:
    with opened() as app:
        run = app.loop(Stop()).run(3, app.workplace.chosen_agents)
    assert run.exit_reason == "queue_empty"
    assert [task.status for task in task_store(project.root / ".samuel/run").load()] == ["completed"]


def test_a_request_overrides_settings_for_this_run_only(
    opened: Callable[..., App], project: SamuelProject
) -> None:
    with opened(baseline="accept", pilot={"focus": "speed"}, accept_unguarded=True) as app:
        settings = app.config.chosen("ralph")
        assert (settings.baseline, settings.pilot.enabled, settings.pilot.focus) == ("accept", True, "speed")
        assert app.config.agents["mine"].unguarded == "accept all"
    with project.open() as app:
        settings = app.config.chosen("ralph")
        assert (settings.baseline, settings.pilot.enabled) == ("refuse", False)


@pytest.mark.parametrize(
    ("request_fields", "why"),
    [
        ({"methodology": "nonesuch"}, "there is no methodology `nonesuch`"),
        ({"agent": "nonesuch"}, "`nonesuch`"),
        ({"require_checks": True}, "checks are required, but the methodology `ralph` has none"),
        ({"places": (PlaceSpec("local", 2),)}, "this project has no commit yet"),
    ],
)
def test_a_run_that_would_fail_later_is_refused(
    opened: Callable[..., App], request_fields: dict[str, object], why: str
) -> None:
    with pytest.raises(SamuelError) as refused:
        opened(**request_fields)
    assert why in refused.value.message


@pytest.mark.parametrize(
    ("reviewer", "why"),
    [
        ("nonesuch", "there is no agent `nonesuch`"),
        ("absent", "`review` needs the agent `absent`: "),
        ("mine", "`review` needs a git repository"),
    ],
)
def test_run_without_its_reviewer_is_refused_before_an_agent_is_paid(
    opened: Callable[..., App], project: SamuelProject, reviewer: str, why: str
) -> None:
    absent = '\n[agents.absent]\ncommand = ["/nonexistent/agent"]\nprompt = "stdin"\n'
    project.config(f'{CONFIG}{absent}\n[methodology.ralph.review]\nagent = "{reviewer}"\n')
    with pytest.raises(SamuelError) as refused:
        opened()
    assert why in refused.value.message


def test_the_agent_of_a_run_cannot_begin_another(
    opened: Callable[..., App], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-7")
    monkeypatch.setenv("SAMUEL_STEP", "agent")
    with pytest.raises(UsageError, match="its agents cannot start another one"):
        opened()


def test_a_check_without_a_test_is_named_and_does_not_stop_the_run(
    opened: Callable[..., App], project: SamuelProject, notices: list[str]
) -> None:
    project.config(CONFIG.replace('pause = "0s"', 'pause = "0s"\n    quality_checks = ["make test"]'))
    with opened():
        pass
    assert [notice.partition(":")[0] for notice in notices] == ["warning"]
    assert "no test file was found for `make test`" in notices[0]

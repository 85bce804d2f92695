from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from samuel.testing import SamuelProject

BUILD = """
    #!/bin/sh
    echo "built $1" >> built
    if [ "$1" = auth ]; then
        echo "services/auth/src/login.ts(58,12): error TS2322: no such type"
        exit 2
    fi
    """
BUILDS = """
builds:
  - paths: "services/{service}/**"
    command: ./build {service}
"""
CHANGED = ["services/billing/src/invoice.ts", "services/auth/src/login.ts", "services/billing/src/line.ts"]


@pytest.fixture
def stop(samuel_project: SamuelProject, put: Callable[..., None]) -> Callable[..., dict[str, Any]]:
    put({"build": BUILD, **dict.fromkeys(CHANGED, "x\n"), "README.md": "x\n"})

    def fire(changed: list[str] | None = None, **more: Any) -> dict[str, Any]:
        return dict(samuel_project.fire("SessionStop", changed_files=changed or CHANGED, **more).result)

    return fire


def built(project: SamuelProject) -> str:
    file = project.root / "built"
    return file.read_text() if file.exists() else ""


def test_each_changed_service_is_built_once_and_the_failing_line_is_proposed(
    samuel_project: SamuelProject, stop: Callable[..., dict[str, Any]], enable: Callable[..., None]
) -> None:
    enable("session_stop_build_check", BUILDS)
    assert stop() == {
        "messages_to_user": [
            "Ran `./build billing` and `./build auth` for what was changed.",
            "`./build billing`: success.",
            "`./build auth` failed with exit code 2 at services/auth/src/login.ts:58: error TS2322: no such type",
            "Recommend fixing this before merging.",
        ],
        "follow_up_actions": [
            {"kind": "open_file", "payload": {"path": "services/auth/src/login.ts", "line": 58}}
        ],
    }
    assert built(samuel_project) == "built billing\nbuilt auth\n"


def test_build_check_proposes_nothing_if_all_builds_succeed(
    stop: Callable[..., dict[str, Any]], enable: Callable[..., None]
) -> None:
    enable("session_stop_build_check", BUILDS)
    assert stop(["services/billing/src/invoice.ts"]) == {
        "messages_to_user": ["Ran `./build billing` for what was changed.", "`./build billing`: success."]
    }


@pytest.mark.parametrize(
    "changed", [["README.md"], ["services/x"], ["../services/a/b"], ["services/$(id)/x"], ["services/-x/y"]]
)
@pytest.mark.sampled(every=2)
def test_build_check_runs_nothing_for_files_without_a_rule(
    samuel_project: SamuelProject,
    stop: Callable[..., dict[str, Any]],
    enable: Callable[..., None],
    changed: list[str],
) -> None:
    enable("session_stop_build_check", BUILDS)
    assert set(stop(changed)) == {"logs"}
    assert built(samuel_project) == ""


def test_build_check_accepts_absolute_paths_of_changed_files(
    samuel_project: SamuelProject, stop: Callable[..., dict[str, Any]], enable: Callable[..., None]
) -> None:
    enable("session_stop_build_check", BUILDS)
    stop([str(samuel_project.root / "services/billing/src/invoice.ts")])
    assert built(samuel_project) == "built billing\n"


def test_build_check_runs_nothing_in_a_dry_run(
    samuel_project: SamuelProject, stop: Callable[..., dict[str, Any]], enable: Callable[..., None]
) -> None:
    enable("session_stop_build_check", BUILDS)
    (message,) = stop(dry_run=True)["logs"]
    assert message["message"] == "would run `./build billing`, `./build auth`"
    assert built(samuel_project) == ""


def test_a_build_that_does_not_end_is_ended_with_all_its_children(
    samuel_project: SamuelProject, stop: Callable[..., dict[str, Any]], enable: Callable[..., None], marked: Any
) -> None:
    config = 'builds: [{paths: "*.ts", command: sh -c "sleep 1000 & sleep 1000", timeout: 200ms}]'
    enable("session_stop_build_check", config)
    message = stop()["messages_to_user"]
    assert message[1] == "`sh -c 'sleep 1000 & sleep 1000'` was ended after 200ms."
    assert [command for command in marked.strays() if "sleep" in command] == []


def test_the_deadline_of_the_hook_holds_for_all_builds_together(
    stop: Callable[..., dict[str, Any]], enable: Callable[..., None], patiently: Any
) -> None:
    config = 'builds: [{paths: "*.ts", command: sleep 1000}, {paths: "*.ts", command: sleep 2000}]'

    def stopped(seconds: float) -> dict[str, Any]:
        enable("session_stop_build_check", config, more=f"timeout: {seconds:g}s\n")
        return stop()

    def first_build_began(result: dict[str, Any]) -> bool:
        return any("`sleep 1000` was ended" in message for message in result.get("messages_to_user", ()))

    messages = patiently(stopped, first_build_began)["messages_to_user"]
    assert messages[1].startswith("`sleep 1000` was ended after ")
    assert messages[2].startswith("`sleep 2000` was not run: there is no time left")


def test_a_program_that_is_not_there_is_a_failed_build(
    stop: Callable[..., dict[str, Any]], enable: Callable[..., None]
) -> None:
    enable("session_stop_build_check", 'builds: [{paths: "*.ts", command: ./no-such-program}]')
    assert stop()["messages_to_user"][1].startswith("`./no-such-program` could not be started: ")


def test_a_build_runs_in_its_directory(
    samuel_project: SamuelProject, stop: Callable[..., dict[str, Any]], enable: Callable[..., None]
) -> None:
    config = (
        'builds: [{paths: "services/{it}/**", command: "sh -c \'pwd > here\'", directory: "services/{it}/src"}]'
    )
    enable("session_stop_build_check", config)
    stop()
    for service in ("billing", "auth"):
        place = samuel_project.root / "services" / service / "src"
        assert (place / "here").read_text() == f"{place}\n"


def test_build_check_does_not_run_commands_that_are_not_trusted(
    samuel_project: SamuelProject, stop: Callable[..., dict[str, Any]], enable: Callable[..., None]
) -> None:
    enable("session_stop_build_check", BUILDS)
    file = samuel_project.root / ".system/hooks/session_stop_build_check.yaml"
    file.write_text(file.read_text().replace("./build {service}", "touch built"))
    assert stop() == {}
    assert built(samuel_project) == ""

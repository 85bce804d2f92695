"""Hooks of APM packages, which `import_hooks` names by their directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samuel.clients.hook_formats.client_hook import ClientHook
from samuel.sources.client_hooks.find import read_files
from samuel.sources.client_hooks.imported_files import project_files

COMMAND = {"type": "command", "command": "${PLUGIN_ROOT}/scripts/check.sh", "timeout": 10}


def hooks(root: Path, documents: dict[str, object]) -> list[ClientHook]:
    package = root / "packages/team"
    for name, document in {"apm.yml": "name: team\n", **documents}.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(document if isinstance(document, str) else json.dumps(document))
    reads = read_files(project_files(root, ["./packages/team"]))
    assert [problem for read in reads for problem in read.problems] == []
    return [hook for read in reads for hook in read.hooks]


@pytest.mark.parametrize(
    "document",
    [
        {"hooks": {"PreToolUse": [{"hooks": [COMMAND]}]}},
        {"PreToolUse": [{"hooks": [COMMAND]}]},
        {"version": 1, "hooks": {"preToolUse": [{"bash": COMMAND["command"], "timeoutSec": 10}]}},
        {"hooks": {"preToolUse": [COMMAND]}},
    ],
    ids=["settings", "without hooks", "copilot", "without a group"],
)
@pytest.mark.parametrize("file", [".apm/hooks/guard.json", "hooks/guard.json"])
def test_every_shape_that_apm_takes_is_the_same_hook(tmp_path: Path, file: str, document: object) -> None:
    (hook,) = hooks(tmp_path, {file: document})
    assert (hook.client_event, hook.event, hook.left_out) == ("PreToolUse", "PreAbilityCall", "")
    assert (hook.command, hook.timeout) == (COMMAND["command"], 10)
    assert hook.env["PLUGIN_ROOT"] == str(tmp_path / "packages/team")


def test_file_in_both_directories_is_read_once(tmp_path: Path) -> None:
    both = {"hooks": {"agentStop": [COMMAND]}}
    read = hooks(tmp_path, {".apm/hooks/a.json": both, "hooks/a.json": both, "hooks/b.json": both})
    assert [hook.event for hook in read] == ["SessionStop", "SessionStop"]


@pytest.mark.parametrize(
    ("command", "runs"),
    [("./check.sh now", ".apm/hooks/check.sh"), ("./hooks/check.sh", "hooks/check.sh")],
)
def test_program_of_the_package_is_found_from_its_file_or_its_root(
    tmp_path: Path, command: str, runs: str
) -> None:
    document = {"hooks": {"PreToolUse": [{"type": "command", "command": command}]}}
    (hook,) = hooks(tmp_path, {".apm/hooks/guard.json": document, runs: "#!/bin/sh\n"})
    assert hook.program == str(tmp_path / "packages/team" / runs)


def test_what_is_no_hook_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"`hooks.PreToolUse\[0\]` must be an object"):
        hooks(tmp_path, {"hooks/guard.json": {"hooks": {"preToolUse": ["check.sh"]}}})

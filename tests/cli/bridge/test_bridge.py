"""`samuel bridge`: what it says and with which exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_client(monkeypatch, tmp_path):
    """Neither a client nor samuel on PATH, and no variable that moves a client's home."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "COPILOT_HOME",
        "GEMINI_CLI_TRUST_WORKSPACE",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def samuel_on_path(tmp_path):
    program = tmp_path / "bin/samuel-emit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)


TRUST = (
    "warning: codex: before its hooks run, start `codex` in this directory, trust the directory, then review the "
    "hooks with `/hooks`; codex skips hooks that were not reviewed, and says nothing\n"
)


OFFER = "`samuel hooks enable shell_guard` stops dangerous commands of agents; nothing is enabled yet.\n"


def test_add_names_the_files_and_the_step_of_trust(samuel):
    assert samuel("bridge", "add", "codex", "cline", "codex") == (
        0,
        "added to PROJECT/.codex/hooks.json\n"
        + "".join(f"added to PROJECT/.clinerules/hooks/{event}\n" for event in cline_events())
        + OFFER,
        TRUST,
    )
    assert samuel("bridge", "add", "codex") == (0, f"already in PROJECT/.codex/hooks.json\n{OFFER}", TRUST)
    samuel("hooks", "enable", "shell_guard")
    assert samuel("bridge", "add", "codex").out == "already in PROJECT/.codex/hooks.json\n"


def cline_events():
    from samuel.clients.table import CLIENTS

    return CLIENTS["cline"].events


def test_add_prints_json_with_the_state_of_trust(samuel):
    data = samuel("bridge", "add", "claude", "--json").json["data"]
    assert data["files"] == [
        {"client": "claude", "level": "project", "file": "PROJECT/.claude/settings.json", "changed": True}
    ]
    assert data["trust"][0]["state"] == "untrusted"


LOST = """\
id: rewriter
event_type: PreAbilityCall
handler:
  kind: script
  path: scripts/hooks/rewriter
"""


def test_add_names_hooks_that_the_agent_would_lose(samuel, put):
    put(".system/hooks/rewriter.yaml", LOST)
    put("scripts/hooks/rewriter", "#!/bin/sh\n", 0o755)
    samuel("trust", "--yes")
    ran = samuel("bridge", "add", "claude", "qwen")
    assert "warning: qwen: `rewriter` on PreAbilityCall has no effect: " in ran.err
    assert "claude: `rewriter`" not in ran.err
    (lost,) = samuel("bridge", "add", "qwen", "--json").json["data"]["lost"]
    assert lost["name"] == "rewriter"


def test_user_file_names_the_command_by_its_absolute_path(samuel, machine):
    assert samuel("bridge", "add", "--user", "claude").code == 0
    text = (machine / ".claude/settings.json").read_text()
    assert f" {Path(sys.executable).with_name('samuel-emit')} --as claude PreToolUse " in text


def test_dry_run_shows_a_diff_and_writes_nothing(samuel, project, put):
    put(".claude/settings.json", '{\n  "model": "opus"\n}\n')
    ran = samuel("bridge", "add", "claude", "--dry-run")
    assert ran.out.startswith("--- a/.claude/settings.json\n+++ b/.claude/settings.json\n")
    assert (project / ".claude/settings.json").read_text() == '{\n  "model": "opus"\n}\n'
    assert samuel("bridge", "add", "claude", "--dry-run", "--json").json["data"]["files"][0]["diff"] == ran.out
    samuel("bridge", "add", "claude")
    assert samuel("bridge", "remove", "claude", "--dry-run").out.startswith("--- a/.claude/settings.json")


def test_remove_says_what_it_did(samuel, put):
    put(".gemini/settings.json", "{}")
    samuel("bridge", "add", "codex", "gemini")
    assert samuel("bridge", "remove", "codex", "gemini", "qwen") == (
        0,
        "deleted PROJECT/.codex/hooks.json\n"
        "removed from PROJECT/.gemini/settings.json\n"
        "nothing to remove for qwen\n",
        "",
    )


def test_unknown_agent_is_refused_with_the_nearest_name(samuel, project):
    ran = samuel("bridge", "add", "claude", "gemni")
    assert ran.code == 2
    assert "gemini" in ran.err
    assert not list(project.iterdir())


@pytest.mark.parametrize("command", ["add", "remove"])
def test_an_agent_in_a_run_cannot_change_bridges(samuel, project, monkeypatch, command):
    monkeypatch.setenv("SAMUEL_RUN_ID", "r1")
    ran = samuel("bridge", command, "claude")
    assert ran.code == 1
    assert ran.err.startswith("error: this is inside the run `r1`, which cannot change the hooks of agents\n")
    assert not list(project.iterdir())


def test_broken_file_is_named_with_its_line(samuel, put):
    put(".claude/settings.json", '{\n  "a": 1,\n}\n')
    ran = samuel("bridge", "add", "claude", "--json")
    assert ran.code == 2
    assert ran.json["error"]["problems"] == [
        {
            "what": "claude does not read a file with trailing commas",
            "file": "PROJECT/.claude/settings.json",
            "line": 2,
            "hint": "remove the comma before the bracket",
        }
    ]


def test_check_says_what_keeps_the_hooks_from_working(samuel, samuel_on_path, put):
    assert samuel("bridge", "check", "qwen") == (
        1,
        "AGENT  VERDICT  ABOUT\n"
        "qwen   problem  no hooks of qwen ask Samuel: `samuel bridge add qwen` adds them\n"
        "qwen   note     `qwen` is not on PATH\n",
        "",
    )
    samuel("bridge", "add", "qwen")
    assert samuel("bridge", "check", "qwen") == (
        0,
        "AGENT  VERDICT  ABOUT\n"
        "qwen   ok       its hooks ask Samuel: PROJECT/.qwen/settings.json\n"
        "qwen   note     `qwen` is not on PATH\n",
        "",
    )


def test_check_takes_a_question_that_claude_will_ask_for_a_note(samuel, samuel_on_path):
    samuel("bridge", "add", "claude", "gemini")
    claude, gemini = samuel("bridge", "check", "claude", "gemini", "--json").json["data"]
    assert claude["ok"]
    assert claude["notes"][0].startswith("claude does not trust these hooks yet")
    assert gemini["problems"][0].startswith("gemini does not trust these hooks yet")


def test_check_finds_hooks_that_are_switched_off(samuel, samuel_on_path, put):
    put(".qwen/settings.json", '{"disableAllHooks": true}')
    samuel("bridge", "add", "qwen")
    (problem,) = samuel("bridge", "check", "qwen", "--json").json["data"][0]["problems"]
    assert problem == "PROJECT/.qwen/settings.json: `disableAllHooks` switches all hooks of qwen off: remove it"


def test_check_finds_missing_events_and_a_missing_command(samuel, project):
    samuel("bridge", "add", "qwen")
    file = project / ".qwen/settings.json"
    file.write_text(file.read_text().replace('"Stop"', '"Stopped"'))
    checked = samuel("bridge", "check", "qwen", "--json")
    assert checked.code == 1
    problems = checked.json["data"][0]["problems"]
    assert "the project's hooks lack Stop: `samuel bridge add --project qwen` writes them again" in problems
    assert "`samuel-emit` is not on PATH, so the project's hooks deny everything: install it on PATH" in problems


def test_check_tells_of_entries_at_both_levels(samuel, samuel_on_path):
    samuel("bridge", "add", "qwen")
    samuel("bridge", "add", "--user", "qwen")
    notes = samuel("bridge", "check", "qwen", "--json").json["data"][0]["notes"]
    assert any("asked twice" in note for note in notes)


def test_list_has_a_row_for_every_agent(samuel):
    samuel("bridge", "add", "opencode", "codex")
    ran = samuel("bridge", "list")
    assert "codex     no         yes      -     untrusted\n" in ran.out
    assert "opencode  no         yes      -     not needed\n" in ran.out
    rows = samuel("bridge", "list", "--json").json["data"]
    assert {row["client"] for row in rows} >= {"claude", "kimi", "agy"}


def test_list_shows_a_file_that_cannot_be_read(samuel, put):
    put(".claude/settings.json", "{")
    ran = samuel("bridge", "list")
    assert ran.code == 0
    assert "PROJECT/.claude/settings.json:1: not valid JSON" in ran.err


def test_managed_prints_the_file_of_an_administrator_and_writes_nothing(samuel, project, machine):
    before = sorted(path for path in (*project.rglob("*"), *machine.rglob("*")) if path.is_file())
    code, out, err = samuel("bridge", "add", "--managed", "claude")

    settings = json.loads(out)
    assert code == 0
    assert settings["allowManagedHooksOnly"] is True
    assert settings["pluginConfigs"] == {
        "cc-plugin-sec-default@builtin": {"options": {"allowManagedModsOnly": True}}
    }
    [group] = settings["hooks"]["PreToolUse"]
    assert group["hooks"][0]["onFailure"] == "block"
    assert f"{Path(sys.executable).parent}/samuel-emit --as claude PreToolUse" in group["hooks"][0]["command"]
    assert "managed-settings.json` on each machine, owned by root" in err
    after = sorted(path for path in (*project.rglob("*"), *machine.rglob("*")) if path.is_file())
    assert after == before


def test_managed_prints_the_policy_file_of_copilot(samuel):
    answer = json.loads(samuel("bridge", "add", "--managed", "copilot", "--json").out)["data"]
    assert answer["file"] == "/etc/github-copilot/policy.d/samuel.json"
    assert answer["content"]["version"] == 1
    assert "--as copilot preToolUse" in answer["content"]["hooks"]["preToolUse"][0]["bash"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--managed", "gemini"), "there is no file of an administrator for `gemini` here"),
        (("--managed", "claude", "copilot"), "`--managed` prints the file of one agent"),
        (("--managed", "--user", "claude"), "`--managed` prints the file of one agent"),
    ],
)
def test_managed_is_refused_where_there_is_no_such_file(samuel, arguments, error):
    code, out, err = samuel("bridge", "add", *arguments)
    assert (code, out) == (2, "")
    assert error in err

"""`samuel sync`: one block in AGENTS.md and its mirrors, and everything else as people wrote it."""

from __future__ import annotations

import pytest

BLOCK = """\
<!-- samuel:begin (written by `samuel sync`; edit outside of this block) -->
## Working in this project

Tasks are worked one at a time; `samuel run tasks` lists them.
Before a task counts as done, these must pass:

- `make test`

Claim a finished task with `samuel run done ID`. Do not edit samuel.toml, `.samuel/` or the task file.

Guardrails:

- max_file_lines: 300
<!-- samuel:end -->
"""
CONFIG = '[methodology.ralph]\nquality_checks = ["make test"]\n[guardrails]\nmax_file_lines = 300\n'
MIRRORS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")


@pytest.fixture
def configured(put):
    put("samuel.toml", CONFIG)


def test_it_writes_the_block_everywhere(samuel, project, configured):
    assert samuel("sync") == (0, "wrote AGENTS.md\nwrote CLAUDE.md\nwrote GEMINI.md\n", "")
    assert {(project / name).read_text() for name in MIRRORS} == {BLOCK}
    assert samuel("sync") == (0, "everything is in step\n", "")


def test_sync_keeps_what_a_person_wrote(samuel, project, put, configured):
    put("CLAUDE.md", "# Mine\n\nTabs, please.\n")
    put("GEMINI.md", f"above\r\n{BLOCK.replace('make test', 'old').replace(chr(10), chr(13) + chr(10))}below\r\n")
    put(".github/copilot-instructions.md", "")
    assert samuel("sync", "--json").json["data"] == {
        "files_written": [*MIRRORS, ".github/copilot-instructions.md"],
        "would_write": [*MIRRORS, ".github/copilot-instructions.md"],
        "skipped": False,
    }
    assert (project / "CLAUDE.md").read_text() == f"# Mine\n\nTabs, please.\n\n{BLOCK}"
    gemini = (project / "GEMINI.md").read_bytes().decode()
    assert gemini == f"above\r\n{BLOCK.rstrip()}\r\nbelow\r\n"
    assert (project / ".github/copilot-instructions.md").read_text() == BLOCK


def test_sync_dry_run_writes_nothing(samuel, project, configured):
    assert samuel("sync", "--dry-run") == (
        0,
        "would write AGENTS.md\nwould write CLAUDE.md\nwould write GEMINI.md\n",
        "",
    )
    assert not any((project / name).exists() for name in MIRRORS)


def test_sync_does_not_follow_a_link(samuel, project, tmp_path, configured):
    (tmp_path / "outside.md").write_text("theirs\n")
    (project / "CLAUDE.md").symlink_to(tmp_path / "outside.md")
    assert samuel("sync") == (
        2,
        "",
        "error: `CLAUDE.md` is a link or not a file\nreplace it by a file of its own, or remove it\n",
    )
    assert (tmp_path / "outside.md").read_text() == "theirs\n"
    assert not (project / "AGENTS.md").exists()
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to("nowhere")
    assert samuel("sync").code == 2
    (project / "CLAUDE.md").unlink()
    (tmp_path / "github").mkdir()
    (tmp_path / "github/copilot-instructions.md").write_text("theirs\n")
    (project / ".github").symlink_to(tmp_path / "github")
    assert samuel("sync").code == 2
    assert (tmp_path / "github/copilot-instructions.md").read_text() == "theirs\n"


def test_a_link_to_agents_md_is_a_mirror_already(samuel, project, configured):
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert samuel("sync").out == "wrote AGENTS.md\nwrote GEMINI.md\n"
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / "CLAUDE.md").read_text() == BLOCK


def test_sync_refuses_marks_that_do_not_match(samuel, project, put, configured):
    put("CLAUDE.md", "# Mine\n<!-- samuel:end -->\n")
    ran = samuel("sync")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: CLAUDE.md:2: the marks of the managed block do not match")
    assert not (project / "AGENTS.md").exists()


HOOK = "#!/bin/sh\n[ $1 = hook ] && echo %s && exit\n%s\n"


def test_a_hook_can_skip_sync(samuel, project, put, configured):
    put(".samuel/hooks/not-now", HOOK % ("sync.before", """echo '{"skip": true}'"""), 0o755)
    samuel("trust", "--yes")
    assert samuel("sync") == (0, "skipped by a hook\n", "")
    assert samuel("sync", "--json").json["data"] == {"files_written": [], "skipped": True}
    assert not (project / "AGENTS.md").exists()


def test_a_strict_hook_may_stop_it_and_another_only_warns(samuel, project, put, configured):
    put(".samuel/hooks/broken", HOOK % ("sync.before", "exit 3"), 0o755)
    samuel("trust", "--yes")
    put("samuel.toml", f'{CONFIG}[hooks."sync.before"]\nstrict = true\n')
    ran = samuel("sync")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: a hook stopped the sync: ")
    assert not (project / "AGENTS.md").exists()
    put("samuel.toml", CONFIG)
    ran = samuel("sync")
    assert (ran.code, (project / "AGENTS.md").exists()) == (0, True)
    assert ran.err.startswith("warning: `broken` crashed")


def test_afterwards_hooks_hear_what_was_written(samuel, project, put, configured):
    put(".samuel/hooks/told", HOOK % ("sync.after", "cat > told.json"), 0o755)
    samuel("trust", "--yes")
    samuel("sync")
    payloads = (project / "told.json").read_text()
    assert '"files_written":["AGENTS.md","CLAUDE.md","GEMINI.md"]' in payloads.replace(" ", "")
    samuel("sync", "--dry-run")
    assert '"dry_run":true' in (project / "told.json").read_text().replace(" ", "")


def test_agents_are_told_how_to_find_abilities_and_documents_where_there_are_any(samuel, put, project):
    samuel("sync")
    assert "samuel ability" not in (project / "AGENTS.md").read_text()
    put(".system/registry/low-level/a.yaml", "operation_key: a\nsummary: A\n")
    put("ROUTING.md", "---\nroute_indexes: []\n---\n")
    samuel("sync")
    text = (project / "AGENTS.md").read_text()
    assert '`samuel ability route "TEXT"`' in text
    assert '`samuel knowledge route "TEXT"`' in text


FAILING = """\
import samuel

@samuel.hook("{event}", strict=True)
def mirror(event):
    return {{"ok": False, "reason": "the mirror is down"}}
"""


def test_a_strict_hook_that_fails_after_the_sync_is_an_error_and_the_files_stay(samuel, project, put, configured):
    put(".samuel/hooks/mirror.py", FAILING.format(event="sync.after"))
    samuel("trust", "--yes")
    error = "a hook failed after the sync: `mirror` failed: the mirror is down; the files are written and stay"
    ran = samuel("sync", "--json")
    assert (ran.code, ran.json["ok"], ran.json["error"]["message"]) == (1, False, error)
    assert ran.json["data"]["files_written"] == [*MIRRORS]
    assert all((project / name).exists() for name in MIRRORS)


def test_a_strict_hook_that_fails_after_a_sync_without_changes_does_not_say_that_files_stay(
    samuel, put, configured
):
    samuel("sync")
    put(".samuel/hooks/mirror.py", FAILING.format(event="sync.after"))
    samuel("trust", "--yes")
    ran = samuel("sync")
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == "error: a hook failed after the sync: `mirror` failed: the mirror is down"

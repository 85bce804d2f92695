"""`samuel init`: what it writes, what it keeps, and who can stop it."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from samuel import config
from samuel.config.schema import config_schema
from samuel.scaffold.project import SCHEMA_LINE, TEMPLATE

NEW = """\
PROJECT is a Samuel project now.
  wrote samuel.toml
  wrote .samuel/samuel.schema.json
  wrote .samuel/.gitignore
  wrote .samuel/hooks/
`samuel hooks enable shell_guard` stops dangerous commands of agents; nothing is enabled yet.
"""


def test_init_writes_samuel_toml_its_schema_and_the_samuel_directory(samuel, project):
    assert samuel("init") == (0, NEW, "")
    schema_line, _, rest = (project / "samuel.toml").read_text().partition("\n")
    assert rest == TEMPLATE.read_text()
    assert schema_line == "#:schema ./.samuel/samuel.schema.json"
    assert json.loads((project / schema_line.removeprefix("#:schema ")).read_text()) == config_schema()
    assert (project / ".samuel/.gitignore").read_text() == "run/\nplugins/\n"
    assert list((project / ".samuel/hooks").iterdir()) == []


def test_a_directory_that_is_not_there_yet(samuel, project):
    ran = samuel("init", "a/b", "--minimal", "--json")
    assert ran.json == {
        "ok": True,
        "data": {"root": "PROJECT/a/b", "written": ["samuel.toml"], "kept": [], "untrusted": []},
        "warnings": [],
        "error": None,
    }
    assert (project / "a/b/samuel.toml").read_text() == TEMPLATE.read_text()  # with no line for a missing schema
    assert not (project / "a/b/.samuel/hooks").exists()


def test_what_it_writes_can_be_read(samuel, project):
    samuel("init")
    loaded = config.load(project / "samuel.toml")
    assert loaded.chosen("ralph") == config.Config().chosen("ralph")
    assert replace(loaded, methodology={}) == config.Config(file=project / "samuel.toml")


@pytest.mark.parametrize("key", ["agent", "quality_checks", "commit", "sandbox", "environment"])
def test_the_keys_that_one_edits_first_stand_below_a_line_of_explanation(key):
    lines = TEMPLATE.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines) if re.match(rf"(# )?{key} = ", line)]
    assert re.match(r"# [A-Z].{20,}", lines[number - 1])
    assert not lines[number - 2].startswith("# ") or lines[number - 2].startswith("[")


def test_run_init_changes_the_lines_of_the_template(samuel, project, put):
    samuel("init")
    before = (project / "samuel.toml").read_text()
    put("prd.md", "# Shop\n\n- [ ] Add prices\n")
    put("Makefile", "test:\n\ttrue\n")
    samuel("run", "init", "--prd", "prd.md", "--agent", "codex")
    assert (project / "samuel.toml").read_text() == before.replace(
        '# agent = "claude"', 'agent = "codex"'
    ).replace("quality_checks = []", 'quality_checks = ["make test"]')


def test_every_line_of_it_may_be_uncommented(project):
    file = project / "samuel.toml"
    # Lines of prose begin with a capital letter and are no assignments; the others are TOML.
    file.write_text(re.sub(r"(?m)^# (?=\[|\"|[a-z_]+ = )", "", TEMPLATE.read_text()))
    loaded = config.load(file)
    assert loaded.settings("quality.check", "ralph").strict is True
    assert loaded.settings("after:iteration", "ralph").order == {"default": 100, "notify": 150}
    assert loaded.settings("context.extra", "ralph").timeout == 5
    assert loaded.distributions
    assert loaded.pass_env
    assert loaded.guardrails
    assert loaded.limits == config.Limits()


def test_a_project_inside_a_repository_is_its_own(samuel, project):
    (project / ".git").mkdir()
    assert samuel("init", "sub").code == 0
    assert (project / "sub/samuel.toml").is_file()
    assert not (project / ".samuel").exists()


def test_a_samuel_toml_that_is_there_stays(samuel, put):
    file = put("samuel.toml", "# mine\n")
    assert samuel("init") == (
        1,
        "",
        "error: `PROJECT/samuel.toml` exists already\n`samuel init --force` replaces it\n",
    )
    assert file.read_text() == "# mine\n"


def test_init_force_replaces_existing_files(samuel, put):
    file = put("samuel.toml", "# mine\n")
    put(".samuel/.gitignore", "mine\n")
    put(".samuel/hooks/README", "")
    ran = samuel("init", "--force", "--yes", "--json")
    assert ran.json["data"]["written"] == ["samuel.toml", ".samuel/samuel.schema.json", ".samuel/.gitignore"]
    assert ran.json["data"]["kept"] == [".samuel/hooks/"]
    assert file.read_text() == SCHEMA_LINE + TEMPLATE.read_text()


def test_force_without_anybody_to_ask_replaces_nothing(samuel, put):
    file = put("samuel.toml", "# mine\n")
    assert samuel("init", "--force") == (
        1,
        "",
        "error: `PROJECT/samuel.toml` exists already, and there is no terminal to ask on\n"
        "add `--yes` to replace it without being asked\n",
    )
    assert file.read_text() == "# mine\n"


@pytest.mark.slow
def test_init_force_asks_on_a_terminal(on_terminal, put):
    file = put("samuel.toml", "# mine\n")
    code, screen = on_terminal("init", "--force", typed="n\n")
    assert (code, "Replace samuel.toml?" in screen) == (130, True)
    assert file.read_text() == "# mine\n"
    assert on_terminal("init", "--force", "--yes")[0] == 0
    assert file.read_text() == SCHEMA_LINE + TEMPLATE.read_text()


def test_init_keeps_other_existing_files(samuel, put):
    put(".samuel/.gitignore", "mine\n")
    assert samuel("init", "--json").json["data"]["kept"] == [".samuel/.gitignore"]


@pytest.mark.parametrize("arguments", [(), ("--yes",), ("--force", "--yes")])
def test_hooks_of_a_clone_stay_untrusted(samuel, project, guard, arguments):
    assert samuel("init", *arguments) == (
        0,
        "PROJECT is a Samuel project now.\n"
        "  wrote samuel.toml\n"
        "  wrote .samuel/samuel.schema.json\n"
        "  wrote .samuel/.gitignore\n"
        "  kept .samuel/hooks/\n"
        "1 hook came with it and is not trusted; `samuel trust` shows it.\n"
        "`samuel hooks enable shell_guard` stops dangerous commands of agents; nothing is enabled yet.\n",
        "",
    )
    assert not (project / "canary").exists()


def test_init_refuses_a_samuel_directory_that_is_a_link(samuel, project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / ".samuel").symlink_to(tmp_path / "elsewhere")
    ran = samuel("init")
    assert (ran.code, ran.out) == (2, "")
    assert "`PROJECT/.samuel` is a symbolic link" in ran.err
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (project / "samuel.toml").exists()


def test_init_refuses_a_file_in_place_of_the_directory(samuel, put):
    put("file", "")
    expected = "error: `file` is not a directory\nname a directory; it is created if it is missing\n"
    assert samuel("init", "file") == (2, "", expected)
    assert samuel("init", "file/below").code == 2


HOOK = """#!/bin/sh
if [ $1 = hook ]; then printf 'init.before init.after'; exit; fi
echo "$SAMUEL_EVENT" >> fired
echo '{"ok": %s, "reason": "not today"}'
"""


def test_init_fires_its_two_events(samuel, machine, project):
    hook = machine / ".samuel/hooks/watch"
    hook.parent.mkdir(parents=True)
    hook.write_text(HOOK % "true")
    hook.chmod(0o755)
    assert samuel("init").code == 0
    assert (project / "fired").read_text() == "init.before\ninit.after\n"


def test_a_no_that_is_not_strict_is_a_warning(samuel, machine, project):
    hook = machine / ".samuel/hooks/watch"
    hook.parent.mkdir(parents=True)
    hook.write_text(HOOK % "false")
    hook.chmod(0o755)
    ran = samuel("init")
    assert ran.code == 0
    assert "not today" in ran.err
    assert (project / "samuel.toml").exists()


def test_a_strict_failure_of_init_before_stops_init_before_it_writes(samuel, machine, put, project):
    hook = machine / ".samuel/hooks/watch"
    hook.parent.mkdir(parents=True)
    hook.write_text(HOOK % "false")
    hook.chmod(0o755)
    file = put("samuel.toml", '[hooks."init.before"]\nstrict = true\n')
    before = file.read_text()
    ran = samuel("init", "--force", "--yes")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: a hook stopped `samuel init`: ")
    assert "not today" in ran.err
    assert file.read_text() == before
    assert not (project / ".samuel/hooks").exists()


def test_init_after_is_told_which_plugins_the_project_has(samuel, machine, put, project):
    manifest = 'name = "notes"\nversion = "1.0.0"\nkind = "skill"\n'
    put(".samuel/plugins/notes/samuel-plugin.toml", manifest)
    hook = machine / ".samuel/hooks/watch"
    hook.parent.mkdir(parents=True)
    hook.write_text('#!/bin/sh\n[ "$1" = hook ] && echo init.after || cat > payload.json\n')
    hook.chmod(0o755)
    assert samuel("init").code == 0
    assert json.loads((project / "payload.json").read_text())["plugins_installed"] == ["notes"]


def test_a_strict_hook_that_fails_after_init_is_an_error_and_the_files_stay(samuel, project, machine):
    hook = machine / ".samuel/hooks/mirror.py"
    hook.parent.mkdir(parents=True)
    hook.write_text(
        "import samuel\n\n"
        '@samuel.hook("init.after", strict=True)\n'
        'def mirror(event):\n    return {"ok": False, "reason": "the mirror is down"}\n'
    )
    ran = samuel("init", "--json")
    why = "a hook failed after `samuel init`: `mirror` failed: the mirror is down; the files are written and stay"
    assert (ran.code, ran.json["ok"], ran.json["error"]["message"]) == (1, False, why)
    assert "samuel.toml" in ran.json["data"]["written"]
    assert (project / "samuel.toml").exists()

"""`samuel plugin add`: what is shown, what is asked, and that nothing runs before a person agreed."""

from __future__ import annotations

import json
import os
import re

import pytest

from .conftest import HOOK, manifest

PLAIN = """\
Installed org/plain:
  Skills:  1
  Recipes: 1
  Hooks:   2
"""
CHECKS = """\
Installed org/checks:
  Skills:  0
  Recipes: 0
  Hooks:   1
"""


class TestInstalled:
    def test_plugin_add_prints_what_it_installed(self, samuel, project, plain):
        ran = samuel("plugin", "add", "org/plain", "--yes")
        assert (ran.code, ran.out) == (0, PLAIN)
        assert sorted(os.listdir(project / ".samuel/plugins/org@plain/hooks")) == ["helper.txt", "one", "two"]
        fired = samuel("hooks", "fire", "quality.check").json["chain"]
        assert [call["handler"] for call in fired] == ["default", "org/plain/one", "org/plain/two"]
        assert {call["outcome"] for call in fired} == {"ok"}

    def test_plugin_add_shows_what_a_plugin_may_do(self, samuel, checks):
        ran = samuel("plugin", "add", "org/checks", "--yes")
        lines = [" ".join(line.split()) for line in ran.err.partition("  not held to")[0].splitlines() if line]
        assert lines == [
            "fetching https://github.com/org/checks.git",
            "org/checks, called checks 1.0.0 (skill)",
            "about Looks at what was done",
            "from https://github.com/org/checks.git",
            f"commit {checks.head}",
            "license MIT",
            "hooks quality.check -> scripts/check.sh",
            "may use filesystem.read: the whole project",
            "env: TOKEN",
        ]
        assert ran.out == CHECKS

    def test_plugin_add_prints_json(self, samuel, plain):
        ran = samuel("plugin", "add", "org/plain", "--yes", "--json")
        (data,) = ran.json["data"]
        assert (ran.json["ok"], ran.json["error"]) == (True, None)
        assert data["name"] == "org/plain"
        assert data["path"] == "PROJECT/.samuel/plugins/org@plain"
        assert (data["skills"], data["recipes"], data["hooks"]) == (["review"], ["a/b"], ["one", "two"])
        assert len(data["commit"]) == 40

    def test_plugin_add_installs_several_plugins(self, samuel, plain, checks):
        ran = samuel("plugin", "add", "org/plain", "org/checks", "--yes")
        assert (ran.code, ran.out) == (0, PLAIN + CHECKS)

    def test_plugin_add_global_installs_for_the_user(self, samuel, machine, project, plain):
        assert samuel("plugin", "add", "-g", "org/plain", "--yes").out == PLAIN
        assert (machine / ".samuel/plugins/org@plain/hooks/one").exists()
        assert not (project / "samuel.lock").exists()
        fired = samuel("hooks", "fire", "quality.check").json["chain"]
        assert [call["outcome"] for call in fired] == ["ok", "ok", "ok"]

    def test_plugin_add_link_links_to_a_directory(self, samuel, put, tmp_path):
        put("mine/hooks/one", HOOK, 0o755)
        assert samuel("plugin", "add", "./mine", "--link", "--yes").code == 0
        put("mine/hooks/two", HOOK, 0o755)
        fired = samuel("hooks", "fire", "quality.check").json["chain"]
        assert [(call["handler"], call["outcome"]) for call in fired] == [
            ("default", "ok"),
            ("mine/one", "ok"),
            ("mine/two", "ok"),
        ]

    def test_a_broken_hook_is_told_at_once(self, samuel, origin):
        origin("org/broken", {"hooks/one": "#!/bin/sh\nexit 3\n"})
        ran = samuel("plugin", "add", "org/broken", "--yes")
        assert ran.code == 0
        assert "warning: `org/broken/one` is broken: " in ran.err

    def test_plugin_add_warns_of_broken_skills_and_recipes(self, samuel, origin):
        origin("org/texts", {"skills/mute/SKILL.md": "# no front matter\n", "recipes/torn.md": "{{ x\n"})
        ran = samuel("plugin", "add", "org/texts", "--yes")
        assert ran.code == 0
        assert "skills/mute/SKILL.md:1: it has no front matter" in ran.err
        assert "recipes/torn.md:1: unexpected end of template" in ran.err

    def test_one_that_samuel_toml_turns_off_is_told(self, samuel, put, checks):
        put("samuel.toml", "[plugins.checks]\nenabled = false\n")
        ran = samuel("plugin", "add", "org/checks", "--yes")
        assert ran.code == 0
        assert "`samuel plugin enable org/checks` turns it on" in ran.err


class TestConsent:
    @pytest.mark.parametrize("arguments", [(), ("--non-interactive",), ("--json",)])
    def test_plugin_add_without_a_terminal_installs_nothing(self, samuel, project, plain, arguments):
        ran = samuel("plugin", "add", "org/plain", *arguments)
        assert ran.code == 1
        assert "error: `org/plain`: installing needs your consent\n" in ran.err
        assert not (project / ".samuel/plugins/org@plain").exists()
        assert not (project / "samuel.lock").exists()

    @pytest.mark.slow
    def test_plugin_add_asks_on_a_terminal(self, on_terminal, project, checks):
        code, screen = on_terminal("plugin", "add", "org/checks", typed="n\n")
        assert (code, "env: TOKEN" in screen, "nothing was installed" in screen) == (1, True, True)
        assert not (project / "samuel.lock").exists()
        code, screen = on_terminal("plugin", "add", "org/checks", typed="y\n", NO_COLOR="1")
        assert (code, screen.endswith(CHECKS)) == (0, True)
        assert "\x1b[3" not in screen  # no colours

    @pytest.mark.slow
    def test_plugin_add_non_interactive_does_not_ask_on_a_terminal(self, on_terminal, project, checks):
        code, _ = on_terminal("plugin", "add", "org/checks", "--non-interactive", typed="y\n")
        assert code == 1
        assert not (project / "samuel.lock").exists()

    def test_plugin_add_runs_nothing_before_consent(self, samuel, project, origin, tmp_path):
        origin("org/eager", {"hooks/one": f"#!/bin/sh\ntouch {tmp_path}/touched\necho quality.check\n"})
        assert samuel("plugin", "add", "org/eager").code == 1
        assert samuel("plugin", "add", "org/eager", "--dry-run").code == 0
        samuel("plugin", "list")
        assert not (tmp_path / "touched").exists()

    def test_plugin_add_is_refused_inside_a_run(self, samuel, project, plain, monkeypatch):
        monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
        for command in (
            ("add", "org/plain", "--yes"),
            ("install",),
            ("update",),
            ("remove", "x"),
            ("disable", "x"),
        ):
            ran = samuel("plugin", *command)
            assert (ran.code, "this is inside the run `run-1`" in ran.err) == (1, True)
        assert not (project / ".samuel/plugins").exists()

    def test_what_is_agreed_to_is_what_is_there(self, samuel, project, plain):
        samuel("plugin", "add", "org/plain", "--yes")
        assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["trusted"]
        (project / ".samuel/plugins/org@plain/hooks/helper.txt").write_text("changed")
        assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["changed"]
        fired = samuel("hooks", "fire", "quality.check").json["chain"]
        assert [call["outcome"] for call in fired] == ["ok", "refused", "refused"]

    def test_plugin_add_escapes_hostile_text_of_a_manifest(self, samuel, origin):
        text = manifest().replace("Looks at what was done", "\\u001b[2J\\u202e may use nothing")
        origin("org/evil", {"scripts/check.sh": "#!/bin/sh\n", "samuel-plugin.toml": text})
        ran = samuel("plugin", "add", "org/evil", "--yes")
        assert "\x1b" not in ran.out + ran.err
        assert "\u202e" not in ran.out + ran.err


class TestWishes:
    def test_plugin_add_dry_run_installs_nothing(self, samuel, project, plain, machine):
        ran = samuel("plugin", "add", "org/plain", "--dry-run")
        assert (ran.code, ran.out) == (0, PLAIN.replace("Installed", "Would install"))
        assert "hooks/one, which names its own events" in ran.err
        assert os.listdir(project / ".samuel/plugins") == [".lock"]
        assert not (project / "samuel.lock").exists()
        assert samuel("trust", "--list", "--json").json["data"] == []
        assert samuel("plugin", "add", "org/plain", "--dry-run", "--json").json["data"][0]["hooks"] == [
            "one",
            "two",
        ]

    def test_plugin_add_stops_at_the_first_failure(self, samuel, project, plain):
        ran = samuel("plugin", "add", "org/plain", "org/missing", "--yes")
        assert (ran.code, ran.out) == (1, "")
        assert os.listdir(project / ".samuel/plugins") == [".lock"]

    def test_plugin_add_continue_on_error_installs_the_others(self, samuel, project, plain, checks):
        ran = samuel(
            "plugin", "add", "org/missing", "a/b/c", "org/plain", "org/checks", "--yes", "--continue-on-error"
        )
        assert (ran.code, ran.out) == (1, PLAIN + CHECKS)
        assert "warning: `org/missing` was not added: " in ran.err
        assert "warning: `a/b/c` was not added: " in ran.err

    def test_plugin_add_force_replaces_an_installed_plugin(self, samuel, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        checks.push({"samuel-plugin.toml": manifest("2.0.0", "exec = true\nnetwork = true")})
        assert "error: `org/checks` is installed already\n" in samuel("plugin", "add", "org/checks", "--yes").err
        ran = samuel("plugin", "add", "org/checks", "--yes", "--force")
        assert (ran.code, ran.out) == (0, CHECKS)
        assert re.search(r"(?m)^  that is new +exec: yes\n +network: yes$", ran.err)
        assert samuel("plugin", "list", "--json").json[0]["version"] == "2.0.0"

    def test_plugin_add_grant_gives_capabilities_to_a_plugin_without_a_manifest(
        self, samuel, project, plain, checks
    ):
        grants = ("--grant", "filesystem.write=docs/,out/", "--grant", "network", "--grant", "env=TOKEN")
        assert samuel("plugin", "add", "org/plain", "--yes", *grants).code == 0
        assert samuel("plugin", "list", "--json").json[0]["capabilities"] == {
            "filesystem.write": ["docs/", "out/"],
            "network": True,
            "env": ["TOKEN"],
        }
        ran = samuel("plugin", "add", "org/checks", "--yes", "--grant", "network")
        assert (ran.code, "asks in its manifest for what it needs" in ran.err) == (2, True)

    @pytest.mark.parametrize(
        "grant",
        ["root", "network=yes", "exec=1", "env=", "filesystem.write=../x", "filesystem.write=.git", "env=A B"],
    )
    def test_plugin_add_refuses_unknown_grants(self, samuel, project, plain, grant):
        assert samuel("plugin", "add", "org/plain", "--yes", "--grant", grant).code == 2
        assert not (project / "samuel.lock").exists()

    @pytest.mark.parametrize("source", ["", "..", "a/b/c", "ext::sh", "-x", "org/repo@a@b", "https://t@host/a/b"])
    def test_plugin_add_refuses_an_invalid_source(self, samuel, project, source):
        assert samuel("plugin", "add", "--yes", "--", source).code == 2
        assert not (project / "samuel.lock").exists()

    def test_plugin_add_reports_a_broken_samuel_toml(self, samuel, put, project, plain):
        put("samuel.toml", "x = 1\n")
        assert samuel("plugin", "add", "org/plain", "--yes").code == 2
        assert not (project / ".samuel").exists()

    def test_all_problems_of_a_plugin_as_data(self, samuel, origin):
        origin("org/bad", {"samuel-plugin.toml": 'name = 1\nversion = "x"\nkind = "y"\n'})
        problems = json.loads(samuel("plugin", "add", "org/bad", "--yes", "--json").out)["error"]["problems"]
        assert [(problem["file"], problem["line"]) for problem in problems] == [
            ("org/bad/samuel-plugin.toml", line) for line in (1, 2, 3)
        ]

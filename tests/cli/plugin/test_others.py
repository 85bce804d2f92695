"""`samuel plugin list`, `show`, `install`, `update`, `remove`, `enable` and `disable`."""

from __future__ import annotations

import os
import shutil

import pytest

from samuel import config

from .conftest import HOOK, manifest


class TestList:
    def test_plugin_list_says_when_no_plugin_is_installed(self, samuel):
        assert samuel("plugin", "list") == (0, "No plugins are installed.\n", "")
        assert samuel("plugin", "list", "--json").json == []

    def test_plugin_list_is_an_aligned_table_with_a_line_of_dashes_in_a_pipe(self, samuel, plain, checks):
        samuel("plugin", "add", "org/plain", "--yes")
        samuel("plugin", "add", "-g", "org/checks", "--yes")
        assert samuel("plugin", "list") == (
            0,
            "NAME        LOCATION  SKILLS  RECIPES  HOOKS\n"
            "----        --------  ------  -------  -----\n"
            "org/checks  global    0       0        1\n"
            "org/plain   local     1       1        2\n",
            "",
        )

    def test_plugin_list_json_is_a_bare_array(self, samuel, plain, checks):
        samuel("plugin", "add", "org/plain", "org/checks", "--yes")
        samuel("plugin", "disable", "org/plain")
        assert samuel("plugin", "list", "--json").json == [
            {
                "name": "org/checks",
                "location": "local",
                "path": "PROJECT/.samuel/plugins/org@checks",
                "skills": [],
                "recipes": [],
                "hooks": ["scripts/check.sh"],
                "kind": "skill",
                "version": "1.0.0",
                "capabilities": {"filesystem.read": ["."], "env": ["TOKEN"]},
                "enabled": True,
                "problems": [],
            },
            {
                "name": "org/plain",
                "location": "local",
                "path": "PROJECT/.samuel/plugins/org@plain",
                "skills": ["review"],
                "recipes": ["a/b"],
                "hooks": ["one", "two"],
                "kind": "skill",
                "version": "",
                "capabilities": {},
                "enabled": False,
                "problems": [],
            },
        ]

    def test_plugin_list_includes_broken_plugins(self, samuel, project, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        (project / ".samuel/plugins/org@checks/samuel-plugin.toml").write_text("name = 1\n")
        ran = samuel("plugin", "list")
        assert ran.out.splitlines()[2].startswith("org/checks  local")
        assert "warning: `org/checks`: " in ran.err
        shutil.rmtree(project / ".samuel/plugins/org@checks")
        assert "it is not installed (run `samuel plugin install`)" in samuel("plugin", "list").err

    def test_plugin_list_includes_plugins_of_kodelet(self, samuel, put):
        put(".kodelet/plugins/org@old/hooks/one", HOOK, 0o755)
        assert samuel("plugin", "list").out.splitlines()[2:] == ["org/old  local     0       0        1"]


def test_plugin_show_prints_one_plugin_in_full(samuel, checks):
    samuel("plugin", "add", "org/checks@main", "--yes")
    for name in ("org/checks", "org@checks", "checks"):
        text = samuel("plugin", "show", name).out
        assert text.startswith("org/checks, called checks 1.0.0 (skill)\n")
        assert "[plugins.checks]" in text
        assert "https://github.com/org/checks.git@main" in text
        assert "quality.check -> scripts/check.sh" in text
    data = samuel("plugin", "show", "checks", "--json").json["data"]
    assert (data["manifest"]["license"], data["lock"]["ref"]) == ("MIT", "main")
    assert samuel("plugin", "show", "org/check") == (
        2,
        "",
        "error: no plugin is called `org/check`\ndid you mean `org/checks`?\n",
    )


class TestInstall:
    @pytest.fixture
    def cloned(self, samuel, project, machine, plain, checks):
        """The project as another person has it: the lock is all that came with it."""
        samuel("plugin", "add", "org/plain", "org/checks", "--yes")
        shutil.rmtree(project / ".samuel")
        shutil.rmtree(machine / "state")
        checks.push({"samuel-plugin.toml": manifest("9.0.0")})

    @pytest.mark.slow
    def test_plugin_install_installs_what_is_locked(self, samuel, project, cloned):
        ran = samuel("plugin", "install")
        assert (ran.code, "installing needs your consent" in ran.err) == (1, True)
        assert os.listdir(project / ".samuel/plugins") == [".lock"]
        before = (project / "samuel.lock").read_text()
        ran = samuel("plugin", "install", "--yes")
        assert ran.out.startswith("Installed org/checks:\n")
        assert samuel("plugin", "list", "--json").json[0]["version"] == "1.0.0"
        assert (project / "samuel.lock").read_text() == before
        fired = samuel("hooks", "fire", "quality.check").json["chain"]
        assert {call["outcome"] for call in fired} == {"ok"}
        assert len(fired) == 4

    @pytest.mark.slow
    def test_plugin_install_again_changes_nothing(self, samuel, cloned):
        samuel("plugin", "install", "--yes")
        ran = samuel("plugin", "install")
        assert ran == (0, "org/checks is as it was locked.\norg/plain is as it was locked.\n", "")

    @pytest.mark.slow
    def test_plugin_install_asks_on_a_terminal(self, on_terminal, samuel, cloned):
        code, screen = on_terminal("plugin", "install", typed="y\n")
        assert (code, "Install these 2 plugins" in screen) == (0, True)
        assert len(samuel("plugin", "list", "--json").json) == 2

    def test_plugin_install_refuses_content_that_differs_from_the_lock(self, samuel, project, cloned):
        text = (project / "samuel.lock").read_text()
        (project / "samuel.lock").write_text(text.replace('digest = "', 'digest = "0'))
        ran = samuel("plugin", "install", "--yes")
        assert (ran.code, "is not what samuel.lock says" in ran.err) == (1, True)
        assert os.listdir(project / ".samuel/plugins") == [".lock"]

    def test_plugin_install_without_a_lock_installs_nothing(self, samuel):
        assert samuel("plugin", "install") == (0, "samuel.lock names no plugins.\n", "")

    def test_plugin_install_reports_a_broken_lock(self, samuel, put):
        put("samuel.lock", "version = 99\n")
        ran = samuel("plugin", "install")
        assert (ran.code, "PROJECT/samuel.lock: cannot be read: version 99" in ran.err) == (2, True)

    def test_a_lock_that_names_one_twice(self, samuel, project, plain):
        samuel("plugin", "add", "org/plain", "--yes")
        text = (project / "samuel.lock").read_text()
        (project / "samuel.lock").write_text(text + text[text.index("[[plugin]]") :])
        ran = samuel("plugin", "install")
        assert (ran.code, "it names `org/plain` twice" in ran.err) == (2, True)

    def test_one_that_the_lock_grants_less_than_it_asks_for(self, samuel, project, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        text = (project / "samuel.lock").read_text()
        (project / "samuel.lock").write_text(text.replace('["TOKEN"]', "[]"))
        assert "it asks for more than samuel.lock grants: env: TOKEN" in samuel("plugin", "install", "--yes").err


class TestUpdate:
    def test_plugin_update_says_when_a_plugin_is_up_to_date(self, samuel, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        assert samuel("plugin", "update").out.startswith("org/checks is up to date: 1.0.0 at ")

    def test_plugin_update_installs_a_newer_version(self, samuel, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        checks.push({"samuel-plugin.toml": manifest("1.1.0")})
        ran = samuel("plugin", "update", "checks", "--yes")
        assert ran.code == 0
        assert ran.out.startswith("Updated org/checks from 1.0.0 at ")
        assert " to 1.1.0 at " in ran.out
        fired = samuel("hooks", "fire", "quality.check").json["chain"]
        assert [call["outcome"] for call in fired] == ["ok", "ok"]

    @pytest.mark.slow
    def test_changed_code_is_shown_and_asked_for(self, samuel, on_terminal, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        deny = "#!/bin/sh\necho '{\"ok\": false}'\n"
        checks.push({"scripts/check.sh": deny, "hooks/new": "#!/bin/sh\necho PreAbilityCall\n"})
        for options in ((), ("--non-interactive",)):
            ran = samuel("plugin", "update", *options)
            assert ran.code == 1
            assert "changed  scripts/check.sh  (+1 -2 lines)" in ran.err
            assert "added    hooks/new" in ran.err
            assert "hooks/new, which names its own events" in ran.err
            assert "installing needs your consent" in ran.err
        code, screen = on_terminal("plugin", "update", typed="n\n")
        assert (code, "Update this plugin, and let it run?" in screen) == (1, True)
        assert [call["outcome"] for call in samuel("hooks", "fire", "quality.check").json["chain"]] == ["ok", "ok"]
        assert samuel("plugin", "update", "--yes", "--non-interactive").code == 0

    @pytest.mark.slow
    def test_bad_source_of_one_does_not_stop_the_others(self, samuel, tmp_path, checks, plain):
        samuel("plugin", "add", "org/checks", "org/plain", "--yes")
        shutil.rmtree(tmp_path / "origins/org/checks.git", ignore_errors=True)
        shutil.rmtree(tmp_path / "origins/org/checks", ignore_errors=True)
        plain.push({"hooks/helper.txt": "y"})
        ran = samuel("plugin", "update", "--yes")
        assert ran.code == 1
        assert "Updated org/plain" in ran.out
        assert "warning: `org/checks` was not updated: " in ran.err

    @pytest.mark.slow
    def test_one_that_asks_for_more_asks_again(self, samuel, on_terminal, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        checks.push({"samuel-plugin.toml": manifest("2.0.0", "network = true")})
        ran = samuel("plugin", "update")
        assert (ran.code, "network: yes" in ran.err) == (1, True)
        assert samuel("plugin", "list", "--json").json[0]["version"] == "1.0.0"
        assert on_terminal("plugin", "update", typed="n\n")[0] == 1
        assert samuel("plugin", "update", "--yes").code == 0
        assert samuel("plugin", "list", "--json").json[0]["capabilities"] == {"network": True}

    def test_one_that_was_edited_is_put_right_unasked(self, samuel, project, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        script = project / ".samuel/plugins/org@checks/scripts/check.sh"
        agreed = script.read_text()
        script.write_text("#!/bin/sh\nexit 1\n")
        assert samuel("plugin", "update").code == 0
        assert script.read_text() == agreed

    def test_plugin_update_names_plugins_that_are_not_installed(self, samuel, project, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        shutil.rmtree(project / ".samuel/plugins/org@checks")
        ran = samuel("plugin", "update")
        assert "`org/checks` is not installed; run `samuel plugin install`" in ran.err

    def test_plugin_update_says_when_there_is_nothing_to_update(self, samuel):
        assert samuel("plugin", "update") == (0, "There is nothing to update.\n", "")


def test_recipes_of_a_plugin_that_is_not_trusted_are_named(samuel, project, plain):
    samuel("plugin", "add", "org/plain", "--yes")
    (project / ".samuel/plugins/org@plain/hooks/helper.txt").write_text("changed")
    ran = samuel("recipe", "list")
    assert "`org/plain` is not trusted, so its recipes are left out: " in ran.err


class TestListOfDisabled:
    def test_disabled_plugin_is_shown_as_such(self, samuel, checks):
        samuel("plugin", "add", "org/checks", "--yes")
        samuel("plugin", "disable", "checks")
        assert "org/checks  local, disabled  0" in samuel("plugin", "list").out


class TestRemove:
    @pytest.mark.parametrize("name", ["org/checks", "org@checks", "checks"])
    def test_plugin_remove_accepts_any_name_of_a_plugin(self, samuel, project, checks, name):
        samuel("plugin", "add", "org/checks", "--yes")
        assert samuel("plugin", "remove", name) == (0, "Removed org/checks.\n", "")
        assert samuel("plugin", "list", "--json").json == []
        assert samuel("trust", "--list", "--json").json["data"] == []
        assert len(samuel("hooks", "fire", "quality.check").json["chain"]) == 1

    @pytest.mark.parametrize("name", ["", "..", "a/b/c", "/", "org@plain/hooks", "../../project"])
    def test_plugin_remove_takes_only_listed_plugins(self, samuel, project, plain, name):
        samuel("plugin", "add", "org/plain", "--yes")
        assert samuel("plugin", "remove", "--", name).code == 2
        assert (project / ".samuel/plugins/org@plain/hooks/one").exists()

    def test_plugin_remove_global_removes_the_users_own_plugin(self, samuel, plain):
        samuel("plugin", "add", "-g", "org/plain", "--yes")
        assert samuel("plugin", "remove", "org/plain").code == 2
        assert samuel("plugin", "remove", "-g", "org/plain").code == 0


class TestSwitch:
    def test_plugin_disable_and_enable_are_written_to_samuel_toml(self, samuel, project, checks, put):
        put("samuel.toml", "# mine\n")
        samuel("plugin", "add", "org/checks", "--yes")
        ran = samuel("plugin", "disable", "org/checks")
        assert ran == (0, "org/checks is disabled in this project.\n", "")
        assert (project / "samuel.toml").read_text().startswith("# mine\n")
        assert config.load(project / "samuel.toml").plugins["checks"].enabled is False
        assert len(samuel("hooks", "fire", "quality.check").json["chain"]) == 1
        assert samuel("plugin", "enable", "checks").out == "org/checks is enabled in this project.\n"
        assert len(samuel("hooks", "fire", "quality.check").json["chain"]) == 2

    def test_plugin_disable_warns_about_plugins_that_require_it(self, samuel, origin, checks):
        requires = '[requires]\n"org/checks" = ">=1"\n'
        origin("org/all", {"samuel-plugin.toml": f'name = "all"\nversion = "1"\nkind = "meta"\n{requires}'})
        assert samuel("plugin", "add", "org/all", "--yes").code == 0
        assert "`org/all` requires it" in samuel("plugin", "disable", "org/checks").err

    def test_plugin_disable_works_for_a_plugin_without_a_manifest(self, samuel, project, plain):
        samuel("plugin", "add", "-g", "org/plain", "--yes")
        assert samuel("plugin", "disable", "org@plain").code == 0
        assert config.load(project / "samuel.toml").plugins["org/plain"].enabled is False
        assert len(samuel("hooks", "fire", "quality.check").json["chain"]) == 1

    def test_plugin_enable_refuses_an_unknown_plugin(self, samuel, project):
        assert samuel("plugin", "disable", "org/x").code == 2
        assert not (project / "samuel.toml").exists()


def test_the_help_of_plugin_names_every_command(samuel):
    ran = samuel("plugin", "--help")
    for name in ("add", "install", "list", "show", "update", "remove", "enable", "disable", "new", "validate"):
        assert f"  {name} " in ran.out
        assert samuel("plugin", name, "--help").code == 0


def test_what_is_listed_comes_before_a_name_in_a_manifest(samuel, origin, tmp_path, checks):
    """`checks` is listed for the user, and is what the project's `org/checks` says it is called."""
    own = tmp_path / "checks"
    (own / "recipes").mkdir(parents=True)
    (own / "recipes/a.md").write_text("A\n")
    assert samuel("plugin", "add", "org/checks", "--yes").code == 0
    assert samuel("plugin", "add", "-g", str(own), "--yes").code == 0
    ran = samuel("plugin", "remove", "checks")
    assert ran.code == 2
    assert ran.err == "error: `checks` is a global plugin\nadd `--global`\n"
    assert samuel("plugin", "remove", "-g", "checks").code == 0
    assert samuel("plugin", "remove", "checks").out == "Removed org/checks.\n"

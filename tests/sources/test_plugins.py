"""Handlers of plugins: found, named, ordered, configured, shadowed; and in their places when they must not run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.app import App
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Outcome
from samuel.testing import SamuelProject

MANIFEST = """
name = "lint"
version = "1.0.0"
kind = "skill"

[hooks]
"context.extra" = "scripts/extra.sh"
"PreAbilityCall" = { handler = "scripts/guard.sh", role = "guard", order = 50 }

[config]
level = "low"
depth = { most = 3 }
"""
EXTRA = """#!/bin/sh
cat > /dev/null
echo '{"extras": [{"name": "lint.md", "content": "from lint"}]}'
"""
GUARD = """#!/bin/sh
cat > /dev/null
echo '{"decision": "deny", "reason": "the guard says no"}'
"""

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(name: str, files: dict[str, str], manifest: str = "") -> Path:
        directory = tmp_path / "sources" / name
        for path, text in {**files, **({"samuel-plugin.toml": manifest} if manifest else {})}.items():
            file = directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755 if text.startswith("#!") else 0o644)
        return directory

    return make


@pytest.fixture
def lint(make: Make) -> Path:
    return make("lint", {"scripts/extra.sh": EXTRA, "scripts/guard.sh": GUARD}, MANIFEST)


def of(app: App, owner: str) -> list[Handler]:
    return [handler for handler in app.handlers if handler.owner == owner]


def echo(event: str) -> str:
    """A hook by the `hook`/`run` protocol that answers with its payload."""
    return (
        "#!/usr/bin/env python3\nimport json, sys\n"
        f"if sys.argv[1] == 'hook':\n    print({event!r})\nelse:\n"
        "    seen = json.load(sys.stdin)\n"
        "    print(json.dumps({'extras': [{'name': 'seen.json', 'content': json.dumps(seen)}]}))\n"
    )


def hook_payload(fired: Any) -> dict[str, Any]:
    return json.loads(fired.result["extras"][0]["content"])  # type: ignore[no-any-return]


def test_what_a_manifest_binds_is_found_named_and_run(samuel_project: SamuelProject, lint: Path) -> None:
    samuel_project.plugin(lint, "org@lint")
    with samuel_project.open() as app:
        handler_by_event = {handler.event: handler for handler in of(app, "lint")}
        assert {event: handler.name for event, handler in handler_by_event.items()} == {
            "context.extra": "lint/scripts/extra.sh",
            "PreAbilityCall": "lint/scripts/guard.sh",
        }
        assert all(
            handler.origin is Origin.PROJECT_PLUGIN and handler.status is HandlerStatus.ACTIVE
            for handler in handler_by_event.values()
        )
        assert handler_by_event["PreAbilityCall"].order == 50
        extra = app.fire("context.extra", task={})
        assert extra.result["extras"] == [{"name": "lint.md", "content": "from lint"}]
        assert app.fire("PreAbilityCall", ability_id="x").denied


def test_without_a_manifest_the_executables_in_hooks_are_asked(samuel_project: SamuelProject, make: Make) -> None:
    source = make("bare", {"hooks/tell": echo("context.extra"), "hooks/helper.txt": "data"})
    samuel_project.plugin(source, "org@bare")
    with samuel_project.open() as app:
        (handler,) = of(app, "org/bare")
        assert (handler.name, handler.event, handler.status) == (
            "org/bare/tell",
            "context.extra",
            HandlerStatus.ACTIVE,
        )
        payload = hook_payload(app.fire("context.extra", task={}))
    assert payload["plugin"]["name"] == "org/bare"
    assert payload["plugin"]["data_dir"].endswith(".samuel/run/plugins/org@bare")


def test_a_handler_receives_its_defaults_with_samuel_toml_on_top(
    samuel_project: SamuelProject, make: Make
) -> None:
    script = echo("").replace("if sys.argv[1] == 'hook':\n    print('')\nelse:\n", "if True:\n")
    manifest = (
        MANIFEST.split("[hooks]")[0]
        + '[hooks]\n"context.extra" = "tell"\n[config]\nlevel = "low"\nkept = [1, 2]\n'
    )
    samuel_project.plugin(make("lint", {"tell": script}, manifest))
    samuel_project.config('[plugins.lint]\nlevel = "high"\nown = { a = true }\n')
    with samuel_project.open() as app:
        payload = hook_payload(app.fire("context.extra", task={}))
    assert payload["plugin"]["config"] == {"level": "high", "kept": [1, 2], "own": {"a": True}}


def test_nothing_of_a_plugin_runs_before_its_owner_agreed(samuel_project: SamuelProject, make: Make) -> None:
    marker = samuel_project.root / "marker"
    evil = f"#!/bin/sh\ntouch {marker}\necho context.extra\n"
    source = make(
        "evil",
        {"hooks/evil": evil, "run.sh": evil},
        MANIFEST.split("[hooks]")[0]
        + '[hooks]\n"context.extra" = "run.sh"\n[capabilities]\n"filesystem.write" = ["."]\n',
    )
    samuel_project.plugin(source)
    samuel_project.user.state.joinpath("trust").rename(samuel_project.user.state / "elsewhere")  # a fresh clone
    with samuel_project.open() as app:
        assert {handler.status for handler in of(app, "lint")} == {HandlerStatus.UNTRUSTED}
        fired = app.fire("context.extra", task={})
    assert not marker.exists()
    assert [call.outcome for call in fired.calls if call.handler.owner == "lint"] == [Outcome.REFUSED]


def test_a_plugin_with_one_changed_byte_is_refused_in_its_place(samuel_project: SamuelProject, lint: Path) -> None:
    there = samuel_project.plugin(lint)
    with samuel_project.open() as app:
        assert app.fire("PreAbilityCall", ability_id="x").denied
        # While it is open, and by dropping its guard from the manifest: neither helps.
        (there / "samuel-plugin.toml").write_text(MANIFEST.replace('"PreAbilityCall"', '"PostAbilityCall"'))
        fired = app.fire("PreAbilityCall", ability_id="x")
        assert fired.denied
        assert fired.calls[0].outcome is Outcome.REFUSED
    with samuel_project.open() as app:
        fired = app.fire("PreAbilityCall", ability_id="x")
    assert fired.denied
    assert [(call.handler.name, call.outcome) for call in fired.calls] == [
        ("lint/scripts/guard.sh", Outcome.REFUSED)
    ]


def test_a_broken_manifest_of_a_guard_denies(samuel_project: SamuelProject, lint: Path) -> None:
    there = samuel_project.plugin(lint)
    samuel_project.open().close()
    (there / "samuel-plugin.toml").write_text("name = ")
    samuel_project.trust()
    with samuel_project.open() as app:
        fired = app.fire("PreAbilityCall", ability_id="x")
    assert fired.denied
    assert fired.calls[0].outcome is Outcome.NOT_STARTED


def test_a_guard_that_its_manifest_has_observed_denies_nothing_even_when_it_is_changed(
    samuel_project: SamuelProject, make: Make
) -> None:
    files = {"scripts/extra.sh": EXTRA, "scripts/guard.sh": GUARD}
    observed = make("observed", files, MANIFEST.replace('role = "guard"', 'role = "guard", mode = "observe"'))
    there = samuel_project.plugin(observed)
    with samuel_project.open() as app:
        fired = app.fire("PreAbilityCall", ability_id="shell")
    assert fired.ok
    assert [call.would and call.would.reason for call in fired.calls] == ["the guard says no"]
    (there / "scripts/guard.sh").write_text("#!/bin/sh\nexit 1\n")
    with samuel_project.open() as app:
        fired = app.fire("PreAbilityCall", ability_id="shell")
    assert fired.ok
    assert [(call.outcome, call.would and call.would.verdict) for call in fired.calls] == [
        (Outcome.REFUSED, "deny")
    ]


def test_the_mode_in_a_manifest_that_nobody_agreed_to_does_not_count(
    samuel_project: SamuelProject, make: Make
) -> None:
    observed = make(
        "observed",
        {"scripts/guard.sh": GUARD, "scripts/extra.sh": EXTRA},
        MANIFEST.replace("order = 50", 'mode = "observe"'),
    )
    samuel_project.plugin(observed)
    samuel_project.user.state.joinpath("trust").rename(samuel_project.user.state / "elsewhere")  # a fresh clone
    with samuel_project.open() as app:
        assert app.fire("PreAbilityCall", ability_id="shell").denied


def test_a_removed_plugin_is_refused_in_its_place(samuel_project: SamuelProject, lint: Path) -> None:
    there = samuel_project.plugin(lint)
    samuel_project.open().close()
    there.rename(there.with_name(".hidden"))
    with samuel_project.open() as app:
        fired = app.fire("PreAbilityCall", ability_id="x")
        assert fired.denied
        assert "is gone" in fired.calls[0].message
    samuel_project.trust()  # that is right, says its owner
    with samuel_project.open() as app:
        assert not app.fire("PreAbilityCall", ability_id="x").denied


def test_a_disabled_plugin_is_listed_and_does_not_run(samuel_project: SamuelProject, lint: Path) -> None:
    samuel_project.plugin(lint)
    samuel_project.config("[plugins.lint]\nenabled = false\n")
    with samuel_project.open() as app:
        assert {handler.status for handler in of(app, "lint")} == {HandlerStatus.DISABLED}
        assert not app.fire("PreAbilityCall", ability_id="x").denied
        assert app.plugins.usable == []


class TestNoGuard:
    """What a manifest binds without a role is no guard; where it cannot run, it denies nothing."""

    ROLELESS = MANIFEST.replace('role = "guard", ', "")

    def call(self, project: SamuelProject) -> Any:
        return project.fire("PreAbilityCall", ability_id="x")

    def test_a_bound_hook_without_a_role_lets_calls_through_until_it_is_trusted(
        self, samuel_project: SamuelProject, make: Make
    ) -> None:
        source = make("lint", {"scripts/extra.sh": EXTRA, "scripts/guard.sh": "#!/bin/sh\n"}, self.ROLELESS)
        samuel_project.plugin(source, "a@lint")
        assert self.call(samuel_project).ok
        script = samuel_project.root / ".samuel/plugins/a@lint/scripts/guard.sh"
        script.write_text("#!/bin/sh\nexit 1\n")
        fired = self.call(samuel_project)
        assert fired.ok
        assert [call.outcome for call in fired.calls] == [Outcome.REFUSED]
        assert "the call goes on, because `lint/scripts/guard.sh` is not a guard" in fired.warnings[0]

    def test_a_bound_hook_that_once_denied_denies_while_it_cannot_run(
        self, samuel_project: SamuelProject, make: Make
    ) -> None:
        source = make("lint", {"scripts/extra.sh": EXTRA, "scripts/guard.sh": GUARD}, self.ROLELESS)
        samuel_project.plugin(source, "a@lint")
        assert self.call(samuel_project).denied
        (samuel_project.root / ".samuel/plugins/a@lint/scripts/guard.sh").write_text("#!/bin/sh\n")
        assert "a guard that cannot run denies" in self.call(samuel_project).reason

    @pytest.mark.parametrize("manifest", [MANIFEST, "name = 1\n"], ids=["a guard", "broken"])
    def test_a_plugin_whose_new_manifest_binds_a_guard_or_cannot_be_read_denies(
        self, samuel_project: SamuelProject, make: Make, manifest: str
    ) -> None:
        source = make("lint", {"scripts/extra.sh": EXTRA, "scripts/guard.sh": "#!/bin/sh\n"}, self.ROLELESS)
        samuel_project.plugin(source, "a@lint")
        assert self.call(samuel_project).ok
        (samuel_project.root / ".samuel/plugins/a@lint/samuel-plugin.toml").write_text(manifest)
        assert self.call(samuel_project).denied

    def test_a_hook_file_of_a_plugin_has_no_role_to_declare_and_denies_while_it_cannot_run(
        self, samuel_project: SamuelProject, make: Make
    ) -> None:
        samuel_project.plugin(make("bare", {"hooks/tell": echo("PreAbilityCall")}), "org@bare")
        assert self.call(samuel_project).ok
        (samuel_project.root / ".samuel/plugins/org@bare/hooks/tell").write_text("#!/bin/sh\n")
        assert self.call(samuel_project).denied


def test_a_users_hook_without_a_namesake_in_the_projects_plugin_of_the_same_name_still_runs(
    samuel_project: SamuelProject, make: Make
) -> None:
    deny = GUARD.replace("cat", '[ "$1" = hook ] && { echo PreAbilityCall; exit; }\ncat')
    user = make("user", {"hooks/guard": deny, "hooks/tell": echo("context.extra")})
    home = samuel_project.user.home / ".kodelet" / "plugins"
    home.mkdir(parents=True)
    user.rename(home / "org@repo")
    project = make("project", {"hooks/tell": echo("context.extra")})
    samuel_project.plugin(project, "org@repo")
    with samuel_project.open() as app:
        states = {(handler.name, handler.origin): handler.status for handler in of(app, "org/repo")}
        assert app.fire("PreAbilityCall", ability_id="x").reason == "the guard says no"
        assert app.chains["context.extra"].warnings == ()  # what is hidden there is no guard
    assert states == {
        ("org/repo/tell", Origin.PROJECT_PLUGIN): HandlerStatus.ACTIVE,
        ("org/repo/guard", Origin.USER_PLUGIN): HandlerStatus.ACTIVE,
        ("org/repo/tell", Origin.USER_PLUGIN): HandlerStatus.SHADOWED,
    }


def test_a_hidden_guard_is_named_when_its_event_is_fired(samuel_project: SamuelProject, lint: Path) -> None:
    samuel_project.plugin(lint, "a@lint")
    home = samuel_project.user.home / ".samuel" / "plugins"
    home.mkdir(parents=True)
    (samuel_project.root / ".samuel" / "plugins" / "a@lint").rename(home / "b@lint")
    (lint / "scripts/guard.sh").write_text("#!/bin/sh\n")
    samuel_project.plugin(lint, "a@lint")
    samuel_project.trust()
    fired = samuel_project.fire("PreAbilityCall", ability_id="x")
    assert not fired.denied
    assert fired.warnings == (
        f"`lint/scripts/guard.sh` of `{home / 'b@lint'}`, which may be a guard, does not run on `PreAbilityCall`: "
        f"`{samuel_project.root / '.samuel/plugins/a@lint'}` has the same name and comes first",
    )


def test_a_guard_of_the_user_that_a_projects_samuel_toml_disables_is_named(
    samuel_project: SamuelProject, lint: Path
) -> None:
    home = samuel_project.user.home / ".samuel" / "plugins"
    home.mkdir(parents=True)
    lint.rename(home / "b@lint")
    assert samuel_project.fire("PreAbilityCall", ability_id="x").denied
    samuel_project.config("[plugins.lint]\nenabled = false\n")
    fired = samuel_project.fire("PreAbilityCall", ability_id="x")
    (warning,) = fired.warnings
    assert "`lint/scripts/guard.sh`" in warning
    assert "does not run on `PreAbilityCall`: `enabled = false` in samuel.toml" in warning


def test_the_projects_plugin_hides_the_users_of_the_same_name(samuel_project: SamuelProject, lint: Path) -> None:
    samuel_project.plugin(lint, "a@lint")
    user = samuel_project.user.home / ".samuel" / "plugins"
    user.mkdir(parents=True)
    (samuel_project.root / ".samuel" / "plugins" / "a@lint").rename(user / "b@lint")
    samuel_project.trust()
    with samuel_project.open() as app:  # the user's own needs no agreement
        assert [handler.status for handler in of(app, "lint")] == [HandlerStatus.ACTIVE, HandlerStatus.ACTIVE]
        assert app.fire("PreAbilityCall", ability_id="x").denied
    samuel_project.plugin(lint, "a@lint")
    with samuel_project.open() as app:
        states = {(handler.origin, handler.status) for handler in of(app, "lint")}
    assert states == {(Origin.PROJECT_PLUGIN, HandlerStatus.ACTIVE), (Origin.USER_PLUGIN, HandlerStatus.SHADOWED)}


@pytest.mark.slow
def test_project_hooks_run_after_project_plugins_and_those_after_the_users(
    samuel_project: SamuelProject, make: Make
) -> None:
    """Repo standalone, repo plugins, user standalone, user plugins: the project has the last word."""
    home = samuel_project.user.home / ".samuel"
    samuel_project.plugin(make("p", {"hooks/one": echo("context.extra")}), "org@p")
    samuel_project.hook("one", echo("context.extra"))
    samuel_project.hook("two", echo("context.extra"), where=home / "hooks")
    source = make("q", {"hooks/one": echo("context.extra")})
    (home / "plugins").mkdir(parents=True)
    source.rename(home / "plugins" / "org@q")
    with samuel_project.open() as app:
        names = [step.handler.name for step in app.chains["context.extra"].steps]
    assert names == ["org/q/one", "two", "org/p/one", "one"]


def test_config_names_a_plugin_a_function_of_it_or_a_hook(samuel_project: SamuelProject, lint: Path) -> None:
    samuel_project.plugin(lint)
    for use in ("lint", "lint:scripts/extra.sh", "lint/scripts/extra.sh"):
        samuel_project.config(f'[hooks."context.extra"]\nhandlers = ["{use}"]\n')
        with samuel_project.open() as app:
            assert [step.handler.name for step in app.chains["context.extra"].steps] == ["lint/scripts/extra.sh"]


def test_an_order_may_name_one_hook_of_a_plugin(samuel_project: SamuelProject, lint: Path) -> None:
    samuel_project.plugin(lint)
    for key in ("lint", "lint:scripts/extra.sh", "lint/scripts/extra.sh"):
        samuel_project.config(f'[hooks."context.extra".order]\n"{key}" = 7\n')
        with samuel_project.open() as app:
            assert [step.order for step in app.chains["context.extra"].steps] == [7]


def test_a_linked_plugin_may_change_between_runs_and_not_within_one(
    samuel_project: SamuelProject, lint: Path
) -> None:
    plugins = samuel_project.root / ".samuel" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "lint").symlink_to(lint)
    with samuel_project.open() as app:
        assert {handler.status for handler in of(app, "lint")} == {HandlerStatus.UNTRUSTED}
    samuel_project.trust()
    (lint / "scripts/extra.sh").write_text(EXTRA.replace("from lint", "changed"))
    with samuel_project.open() as app:
        assert app.fire("context.extra", task={}).result["extras"][0]["content"] == "changed"
        (lint / "scripts/extra.sh").write_text(EXTRA.replace("from lint", "again"))
        (call,) = app.fire("context.extra", task={}).calls
        assert call.outcome is Outcome.REFUSED
        assert "changed since" in call.message
    (plugins / "lint").unlink()
    (plugins / "lint").symlink_to(lint.parent)  # another place is another thing
    with samuel_project.open() as app:
        assert HandlerStatus.ACTIVE not in {
            handler.status for handler in app.handlers if handler.origin is Origin.PROJECT_PLUGIN
        }


def test_unchanged_plugins_are_recalled_without_asking_their_files(
    samuel_project: SamuelProject, make: Make
) -> None:
    hook = '#!/bin/sh\nif [ "$1" = hook ]; then echo asked >> "$HOME/asked"; echo context.extra; fi\n'
    samuel_project.plugin(make("p", {"hooks/one": hook}), "org@p")
    for _ in range(3):
        with samuel_project.open() as app:
            (handler,) = of(app, "org/p")
            assert handler.status is HandlerStatus.ACTIVE
            assert handler.package is not None
    (marker,) = samuel_project.user.cache.rglob("asked")  # in the home that only this plugin has
    assert marker.read_text() == "asked\n"


def test_a_plugin_of_samuel_lock_that_is_not_installed_is_reported(samuel_project: SamuelProject) -> None:
    (samuel_project.root / "samuel.lock").write_text(
        'version = 1\n[[plugin]]\nname = "org/guard"\nsource = "https://example.invalid/org/guard.git"\n'
    )
    with samuel_project.open() as app:
        assert app.plugins.missing == ["org/guard"]
        assert "samuel plugin install" in app.warnings[0]


def test_samuel_lock_can_only_narrow_the_grants_of_a_plugin(samuel_project: SamuelProject, make: Make) -> None:
    asks = MANIFEST + '\n[capabilities]\nexec = true\n"filesystem.read" = ["."]\n'
    samuel_project.plugin(make("lint", {"scripts/extra.sh": EXTRA, "scripts/guard.sh": GUARD}, asks))
    (samuel_project.root / "samuel.lock").write_text(
        'version = 1\n[[plugin]]\nname = "lint"\nsource = "./lint"\ncapabilities = {"filesystem.read" = ["."]}\n'
    )
    samuel_project.trust()
    with samuel_project.open() as app:
        (first, *_) = of(app, "lint")
        assert first.status is HandlerStatus.BROKEN
        assert "exec: yes" in first.reason
        assert app.plugins.usable == []


def test_handlers_of_one_plugin_run_as_declared(samuel_project: SamuelProject, tmp_path: Path) -> None:
    source = tmp_path / "decl"
    source.mkdir()
    names = ["z_first", "a_second", "m_third"]
    (source / "samuel-plugin.toml").write_text(
        f'name = "decl"\nversion = "1.0.0"\nkind = "skill"\n[hooks]\n"context.extra" = {names}\n'
    )
    for name in names:
        (source / name).write_text("#!/bin/sh\n")
        (source / name).chmod(0o755)
    samuel_project.plugin(source)
    with samuel_project.open() as app:
        chain = [step.handler.name for step in app.chains["context.extra"].steps]
    assert chain == ["decl/z_first", "decl/a_second", "decl/m_third"]

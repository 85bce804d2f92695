"""`[requires]`: found, fetched, checked; and nothing installed when it does not work out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.plugins.source import parse
from samuel.plugins.store import Store

SKILL = {"skills/x/SKILL.md": "x"}
AT = "2025-01-15T10:00:00.000Z"


@pytest.fixture
def store(root: Path, user: paths.User) -> Store:
    return Store(root, user)


@pytest.fixture
def add(store: Store, root: Path) -> Callable[..., list[str]]:
    def add(*sources: str, **options: bool) -> list[str]:
        with store.staging_area() as staging_area:
            plan = store.plan_add(staging_area, [parse(source, root) for source in sources], **options)
            return [plugin.title for plugin in store.commit(plan, AT)]

    return add


@pytest.fixture
def plugin(origin) -> Callable[..., object]:
    """A repository with a plugin in it: `plugin("org/a", "1.0", "b = { source = 'org/b' }")`."""

    def make(repository: str, version: str, *requires: str, kind: str = "skill", name: str = ""):
        name = name or repository.partition("/")[2]
        head = f'name = "{name}"\nversion = "{version}"\nkind = "{kind}"\n'
        text = head + ("[requires]\n" + "\n".join(requires) if requires else "")
        return origin(repository, {"samuel-plugin.toml": text, **(SKILL if kind == "skill" else {})})

    return make


def titles(store: Store) -> list[str]:
    return [installed.title for installed in store.installed()]


def test_a_required_plugin_is_fetched_too(add, plugin, store):
    plugin("org/a", "1.0", 'b = { source = "org/b", version = ">=1,<2" }')
    plugin("org/b", "1.4", '"org/c" = "*"')
    plugin("org/c", "3.0")
    assert add("org/a") == ["org/a", "org/b", "org/c"]
    assert list(store.locked()) == ["org/a", "org/b", "org/c"]


def test_the_plan_names_which_plugin_requires_which(store, plugin, root):
    plugin("org/a", "1.0", 'b = { source = "org/b" }')
    plugin("org/b", "1.0")
    with store.staging_area() as staging_area:
        plan = store.plan_add(staging_area, [parse("org/a", root)])
        assert [(candidate.title, candidate.required_by) for candidate in plan.to_agree] == [
            ("org/a", ""),
            ("org/b", "org/a"),
        ]


def test_a_meta_plugin_brings_its_requirements(add, plugin, store):
    plugin("org/all", "1.0", 'a = { source = "org/a" }', 'b = { source = "org/b" }', kind="meta")
    plugin("org/a", "1.0")
    plugin("org/b", "1.0")
    assert add("org/all") == ["org/all", "org/a", "org/b"]


def test_an_installed_requirement_is_not_fetched_again(add, plugin, store):
    plugin("org/b", "1.0")
    add("org/b")
    plugin("org/a", "1.0", 'b = { source = "nowhere/at-all", version = "~=1.0" }')
    assert add("org/a") == ["org/a"]


def test_two_plugins_added_together_meet_each_others_requirements(add, plugin, store):
    """Neither has to be first, and what is required is not fetched a second time."""
    plugin("org/a", "1.0", 'b = { source = "nowhere/at-all" }')
    plugin("org/b", "1.0")
    assert add("org/a", "org/b") == ["org/a", "org/b"]


@pytest.mark.parametrize("version", [">=2", "==1.5", "<1"])
def test_a_required_version_out_of_range_is_refused(add, plugin, store, version):
    plugin("org/a", "1.0", f'b = {{ source = "org/b", version = "{version}" }}')
    plugin("org/b", "1.0")
    with pytest.raises(SamuelError) as refused:
        add("org/a")
    assert refused.value.message == f"`org/a` requires `b` {version}, and `org/b` is version 1.0"
    assert titles(store) == []
    add("org/b")
    with pytest.raises(SamuelError, match=r"`org/b` is version 1\.0"):
        add("org/a")


def test_a_required_version_of_a_plugin_without_one_is_refused(add, plugin, origin):
    plugin("org/a", "1.0", '"org/b" = ">=1"')
    origin("org/b", SKILL)
    with pytest.raises(SamuelError, match="`org/b` is a plugin without a version"):
        add("org/a")


def test_two_plugins_that_require_different_versions_are_refused(add, plugin, store):
    plugin("org/a", "1.0", 'c = { source = "org/c", version = ">=2" }')
    plugin("org/b", "1.0", 'c = { source = "org/c", version = "<2" }')
    plugin("org/c", "2.0")
    with pytest.raises(SamuelError, match=r"`org/b` requires `c` <2, and `org/c` is version 2\.0"):
        add("org/a", "org/b")
    assert titles(store) == []


def test_an_update_that_breaks_the_requirement_of_another_is_refused(add, plugin, store):
    plugin("org/a", "1.0", 'b = { source = "org/b", version = "<2" }')
    other = plugin("org/b", "1.0")
    add("org/a")
    other.push({"samuel-plugin.toml": 'name = "b"\nversion = "2.0"\nkind = "skill"\n'})
    with store.staging_area() as staging_area:
        plan = store.plan_update(staging_area)
        assert plan.candidates == ()
        assert "`org/a` requires `b` <2" in plan.failed[0]
    with pytest.raises(SamuelError, match="`org/a` requires `b` <2"):
        add("org/b", force=True)
    assert store.named("b").manifest.version == "1.0"


def test_an_update_brings_its_new_requirements(add, plugin, store):
    first = plugin("org/a", "1.0")
    plugin("org/b", "1.0")
    add("org/a")
    text = 'name = "a"\nversion = "1.1"\nkind = "skill"\n[requires]\nb = { source = "org/b" }\n'
    first.push({"samuel-plugin.toml": text})
    with store.staging_area() as staging_area:
        plan = store.plan_update(staging_area)
        assert [candidate.title for candidate in plan.to_agree] == ["org/a", "org/b"]
        store.commit(plan, AT)
    assert titles(store) == ["org/a", "org/b"]


def test_plugins_that_require_each_other_are_refused(add, plugin, store):
    plugin("org/a", "1.0", 'b = { source = "org/b" }')
    plugin("org/b", "1.0", 'c = { source = "org/c" }')
    plugin("org/c", "1.0", 'a = { source = "org/a" }')
    with pytest.raises(SamuelError, match="they require each other: org/a -> org/b -> org/c -> org/a"):
        add("org/a")
    assert titles(store) == []


def test_a_requirement_that_cannot_be_fetched_is_reported(add, plugin, store):
    plugin("org/a", "1.0", 'b = { source = "org/b" }')
    with pytest.raises(SamuelError, match=r"`org/a` requires `b`: .* could not be fetched"):
        add("org/a")
    assert titles(store) == []


def test_a_requirement_with_another_name_is_refused(add, plugin, store):
    plugin("org/a", "1.0", 'b = { source = "org/c" }')
    plugin("org/c", "1.0")
    with pytest.raises(SamuelError, match="`org/a` requires `b`, and `org/c` is called `c`"):
        add("org/a")


def test_a_broken_required_plugin_is_refused(add, plugin, origin, store):
    plugin("org/a", "1.0", 'b = { source = "org/b" }')
    origin("org/b", {"samuel-plugin.toml": "name = 1\n"})
    with pytest.raises(SamuelError, match=r"`org/a` requires `b`: org/b/samuel-plugin\.toml: it has no `version`"):
        add("org/a")
    assert titles(store) == []


@pytest.mark.slow
def test_an_endless_chain_of_requirements_is_refused(add, tmp_path):
    """Each requires one that is not there yet; there is always another."""
    for number in range(105):
        (tmp_path / f"p{number}").mkdir()
        head = f'name = "p{number}"\nversion = "1"\nkind = "meta"\n'
        requires = f'[requires]\np{number + 1} = {{ source = "../p{number + 1}" }}\n'
        (tmp_path / f"p{number}" / "samuel-plugin.toml").write_text(head + requires)
    with pytest.raises(SamuelError, match="more than 100 plugins would be installed"):
        add("../p0")


def test_only_a_local_plugin_may_require_a_path(add, plugin, store, tmp_path):
    """A directory may require the one beside it; what came over the network must not point to this machine."""
    for name, requires in (("a", '[requires]\nb = { source = "../b" }\n'), ("b", "")):
        (tmp_path / name / "skills/x").mkdir(parents=True)
        (tmp_path / name / "skills/x/SKILL.md").write_text("x")
        head = f'name = "{name}"\nversion = "1.0"\nkind = "skill"\n'
        (tmp_path / name / "samuel-plugin.toml").write_text(head + requires)
    plugin("org/evil", "1.0", f'b = {{ source = "{tmp_path}/b" }}')
    with pytest.raises(SamuelError, match="`org/evil` requires `b`"):
        add("org/evil")
    assert add("../a") == ["a", "b"]


def test_a_required_plugin_is_not_removed(add, plugin, store):
    plugin("org/a", "1.0", 'b = { source = "org/b" }')
    plugin("org/b", "1.0")
    add("org/a")
    with pytest.raises(SamuelError, match="`org/b` is required by `org/a`"):
        store.remove("b")
    assert titles(store) == ["org/a", "org/b"]
    store.remove("a")
    store.remove("b")
    assert titles(store) == []


def test_a_required_plugin_is_removed_with_force(add, plugin, store):
    plugin("org/a", "1.0", 'b = { source = "org/b" }')
    plugin("org/b", "1.0")
    add("org/a")
    store.remove("b", force=True)
    assert titles(store) == ["org/a"]

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samuel.base.errors import UsageError
from samuel.routing.abilities.model import Level, ScriptImplementation
from samuel.routing.abilities.registry import cache_file, load

SEED = "operation_key: db.seed\nsummary: Seed the database\n"
REVIEW = "id: review\ntype: agent\nsummary: Review a change\n"
TABLE = """\
| Id | Type | Scope | When to use | Registry path |
|---|---|---|---|---|
| review | agent | dev/review | Before a merge | .system/registry/high-level/review.yaml |
"""
HIGH, LOW, CONFIG = (f".system/registry/{name}" for name in ("high-level", "low-level", "config"))


def problem_texts(root: Path) -> list[str]:
    return [str(problem) for problem in load(root).problems]


def test_a_project_without_files_has_an_empty_registry(tmp_path: Path) -> None:
    registry = load(tmp_path)
    assert registry.abilities == ()
    assert registry.problems == ()


def test_files_and_tables_together_are_abilities(write) -> None:
    root = write({"ABILITY.md": TABLE, f"{HIGH}/review.yaml": REVIEW, f"{LOW}/seed.yml": SEED})
    registry = load(root)
    assert registry.problems == ()
    assert [ability.id for ability in registry.abilities] == ["db.seed", "review"]
    review = registry.find("review")
    assert review.level is Level.HIGH
    assert review.file == f"{HIGH}/review.yaml"
    assert (review.when_to_use, review.area) == ("Before a merge", "dev/review")


def test_an_ability_is_found_by_id_and_by_operation_key(write) -> None:
    root = write({f"{HIGH}/r.yaml": REVIEW + "operation_key: agent.code_review\n", f"{LOW}/seed.yaml": SEED})
    registry = load(root)
    assert registry.find("agent.code_review") is registry.find("review")
    with pytest.raises(UsageError, match=r"there is no ability `db\.sed`\ndid you mean `db\.seed`"):
        registry.find("db.sed")


def test_an_implementation_may_be_in_a_file_below_config(write) -> None:
    run = "operation_key: db.seed\nimplementation: {kind: script, script: {path: seed.sh}}\n"
    registry = load(write({f"{LOW}/seed.yaml": SEED, f"{CONFIG}/seed.yaml": run}))
    assert registry.find("db.seed").implementation == ScriptImplementation("seed.sh")
    assert registry.find("db.seed").implementation_file == f"{CONFIG}/seed.yaml"


def test_a_second_implementation_of_an_ability_is_reported(write) -> None:
    run = "operation_key: db.seed\nimplementation: {kind: script, script: {path: %s}}\n"
    root = write(
        {
            f"{LOW}/seed.yaml": SEED,
            f"{CONFIG}/a.yaml": run % "a.sh",
            f"{CONFIG}/b.yaml": run % "b.sh",
            f"{CONFIG}/c.yaml": run.replace("db.seed", "db.sed") % "c.sh",
        }
    )
    assert load(root).find("db.seed").implementation == ScriptImplementation("a.sh")
    assert problem_texts(root) == [
        f"{CONFIG}/b.yaml:1: the implementation of `db.seed` is already given in `{CONFIG}/a.yaml`"
        " (keep one of the two)",
        f"{CONFIG}/c.yaml:1: there is no ability `db.sed` (did you mean `db.seed`?)",
    ]


def test_a_broken_registry_file_does_not_hide_others(write) -> None:
    root = write(
        {
            f"{HIGH}/review.yaml": REVIEW,
            f"{HIGH}/broken.yaml": "id: broken\n\tx: 1\n",
            f"{LOW}/bomb.yaml": "operation_key: &a b\nsummary: *a\n",
            f"{LOW}/seed.yaml": SEED,
            f"{LOW}/two.yaml": f"{SEED}---\n{SEED}",
        }
    )
    (root / LOW / "binary.yaml").write_bytes(b"\xff\xfe")
    assert [ability.id for ability in load(root).abilities] == ["db.seed", "review"]
    assert sorted(problem.partition(":")[0] for problem in problem_texts(root)) == [
        f"{HIGH}/broken.yaml",
        f"{LOW}/binary.yaml",
        f"{LOW}/bomb.yaml",
        f"{LOW}/two.yaml",
    ]


def test_a_second_ability_of_the_same_name_is_reported(write) -> None:
    other = "id: other\ntype: agent\noperation_key: db.seed\nsummary: x\n"
    root = write({f"{LOW}/a.yaml": SEED, f"{LOW}/b.yaml": SEED, f"{HIGH}/other.yaml": other})
    assert [ability.id for ability in load(root).abilities] == ["other"], "the first file of the name has it"
    assert problem_texts(root) == [
        f"{LOW}/{name}.yaml: `db.seed` is already the name of the ability in `{HIGH}/other.yaml`"
        " (choose another name)"
        for name in ("a", "b")
    ]


def test_an_ability_in_a_table_keeps_its_name_against_another_file(write) -> None:
    other = REVIEW.replace("Review a change", "Something else")
    root = write({"ABILITY.md": TABLE, f"{HIGH}/a.yaml": other, f"{HIGH}/review.yaml": REVIEW})
    assert load(root).find("review").file == f"{HIGH}/review.yaml"
    assert problem_texts(root) == [
        f"{HIGH}/a.yaml: `review` is already the name of the ability in `{HIGH}/review.yaml` (choose another name)"
    ]


def test_a_row_may_name_a_file_elsewhere_in_the_project(write) -> None:
    root = write(
        {"ABILITY.md": TABLE.replace(f"{HIGH}/review.yaml", "./tools/review.yaml"), "tools/review.yaml": REVIEW}
    )
    assert load(root).find("review").file == "tools/review.yaml"


@pytest.mark.parametrize("path", ["../review.yaml", "/etc/passwd", "tools/../../review.yaml", "a\\|b/../x"])
def test_no_row_leads_out_of_the_project(write, path: str) -> None:
    root = write({"ABILITY.md": TABLE.replace(f"{HIGH}/review.yaml", path)})
    (root.parent / "review.yaml").write_text(REVIEW)
    assert load(root).abilities == ()
    (problem,) = problem_texts(root)
    assert problem.startswith(
        "ABILITY.md:3: the registry path of `review` must be a path below the project's root"
    )


def test_symbolic_links_in_the_registry_are_not_followed(write) -> None:
    root = write(
        {"ABILITY.md": TABLE.replace(f"{HIGH}/review.yaml", "tools/review.yaml"), f"{LOW}/seed.yaml": SEED}
    )
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "review.yaml").write_text(REVIEW)
    (root / "tools").symlink_to(outside)
    (root / LOW / "linked.yaml").symlink_to(outside / "review.yaml")
    assert [ability.id for ability in load(root).abilities] == ["db.seed"]
    assert len(problem_texts(root)) == 2
    assert all("symbolic link" in problem for problem in problem_texts(root))


def test_a_registry_entry_that_is_not_a_file_is_reported(write) -> None:
    root = write({f"{LOW}/seed.yaml": SEED})
    os.mkfifo(root / LOW / "pipe.yaml")
    (root / LOW / "directory.yaml").mkdir()
    assert [ability.id for ability in load(root).abilities] == ["db.seed"]
    assert len(problem_texts(root)) == 2


def test_a_registry_file_name_that_is_not_utf8_is_reported(write, tmp_path: Path) -> None:
    root = write({f"{LOW}/seed.yaml": SEED})
    with open(os.path.join(os.fsencode(root / LOW), b"\xff.yaml"), "w") as file:
        file.write(SEED)
    registry = load(root, tmp_path / "cache")
    assert [ability.id for ability in registry.abilities] == ["db.seed"]
    assert [problem.what for problem in registry.problems] == ["its name is not UTF-8"]


def test_the_registry_is_cached_until_a_file_changes(write, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    root = write({"ABILITY.md": TABLE, f"{HIGH}/review.yaml": REVIEW, f"{LOW}/seed.yaml": SEED})
    first = load(root, cache)
    cached_bytes = cache_file(cache, root, "msgpack").read_bytes()
    assert load(root, cache) == first
    assert cache_file(cache, root, "msgpack").read_bytes() == cached_bytes

    write({f"{LOW}/seed.yaml": SEED.replace("Seed", "Fill")})
    assert load(root, cache).find("db.seed").summary == "Fill the database"
    assert load(root, cache).stamp != first.stamp
    (root / LOW / "seed.yaml").unlink()
    assert [ability.id for ability in load(root, cache).abilities] == ["review"]
    write({"ABILITY.md": TABLE.replace("Before a merge", "After it")})
    assert load(root, cache).find("review").when_to_use == "After it"


def test_a_changed_file_outside_of_the_registry_is_read_again(write, tmp_path: Path) -> None:
    root = write({"ABILITY.md": TABLE.replace(f"{HIGH}/review.yaml", "tools/review.yaml")})
    assert load(root, tmp_path / "cache").abilities == ()
    write({"tools/review.yaml": REVIEW})
    assert [ability.id for ability in load(root, tmp_path / "cache").abilities] == ["review"]
    write({"tools/review.yaml": REVIEW.replace("Review", "Check")})
    assert load(root, tmp_path / "cache").find("review").summary == "Check a change"


@pytest.mark.parametrize("damage", [b"", b"\x00", b"\xff" * 100, b"\x94" * 10_000])
def test_a_damaged_registry_cache_is_replaced(write, tmp_path: Path, damage: bytes) -> None:
    root = write({f"{LOW}/seed.yaml": SEED})
    load(root, tmp_path / "cache")
    cache_file(tmp_path / "cache", root, "msgpack").write_bytes(damage)
    assert [ability.id for ability in load(root, tmp_path / "cache").abilities] == ["db.seed"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.binary(max_size=300), st.binary(max_size=300))
def test_any_registry_files_are_read_without_an_exception(write, table: bytes, high: bytes, config: bytes) -> None:
    root = write({f"{HIGH}/a.yaml": "", f"{LOW}/seed.yaml": SEED, f"{CONFIG}/c.yaml": ""})
    (root / "ABILITY.md").write_bytes(table)
    (root / HIGH / "a.yaml").write_bytes(high)
    (root / CONFIG / "c.yaml").write_bytes(config)
    assert "db.seed" in load(root).by_name

from __future__ import annotations

from samuel.shipped.session_stop_build_check.rules import Build, Builds, BuildStep, steps

SERVICES = Build(("services/{service}/**", "apps/{service}/**"), ("npm", "run", "build:{service}"))


def test_a_command_for_each_directory_once_in_the_order_of_the_files() -> None:
    changed = [
        "services/billing/a.ts",
        "services/auth/b.ts",
        "services/billing/c/d.ts",
        "apps/web/e.ts",
        "README.md",
    ]
    assert [step.shown for step in steps(Builds((SERVICES,)), changed)] == [
        "npm run build:billing",
        "npm run build:auth",
        "npm run build:web",
    ]


def test_the_order_is_that_of_the_rules_first() -> None:
    rules = Builds((Build(("*.py",), ("second",)), Build(("*",), ("first",)), Build(("*.md",), ("second",))))
    assert [step.words for step in steps(rules, ["a.md", "b.py"])] == [("second",), ("first",)]


def test_patterns_can_take_files_out() -> None:
    rules = Builds((Build(("services/{it}/**", "!*.md"), ("make", "{it}")),))
    assert steps(rules, ["services/a/readme.md"]) == []
    assert steps(rules, ["services/a/x.c"]) == [BuildStep(("make", "a"))]


def test_a_file_in_the_directory_above_is_in_none_of_them() -> None:
    assert steps(Builds((SERVICES,)), ["services/readme.md", "services", ""]) == []


def test_several_directories_and_where_it_runs() -> None:
    rules = Builds((Build(("{team}/{service}/**",), ("make", "{team}-{service}"), "{team}", 3.0),))
    assert steps(rules, ["core/auth/x"]) == [BuildStep(("make", "core-auth"), "core", 3.0)]


def test_a_name_that_could_be_more_than_a_name_runs_nothing() -> None:
    for odd in ("--force", "a b", "$(id)", "a;b", "..", "a\nb", "{service}", "é'"):
        assert steps(Builds((SERVICES,)), [f"services/{odd}/x.ts"]) == []

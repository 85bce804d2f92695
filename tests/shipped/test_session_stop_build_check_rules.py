from __future__ import annotations

from samuel.shipped.session_stop_build_check.rules import Build, Builds, BuildStep, build_steps

SERVICES = Build(("services/{service}/**", "apps/{service}/**"), ("npm", "run", "build:{service}"))


def test_build_steps_has_one_command_per_directory_in_the_order_of_the_files() -> None:
    changed = [
        "services/billing/a.ts",
        "services/auth/b.ts",
        "services/billing/c/d.ts",
        "apps/web/e.ts",
        "README.md",
    ]
    assert [step.command_line for step in build_steps(Builds((SERVICES,)), changed)] == [
        "npm run build:billing",
        "npm run build:auth",
        "npm run build:web",
    ]


def test_build_steps_are_in_the_order_of_the_rules() -> None:
    rules = Builds((Build(("*.py",), ("second",)), Build(("*",), ("first",)), Build(("*.md",), ("second",))))
    assert [step.words for step in build_steps(rules, ["a.md", "b.py"])] == [("second",), ("first",)]


def test_a_pattern_with_an_exclamation_mark_excludes_files_from_a_build() -> None:
    rules = Builds((Build(("services/{it}/**", "!*.md"), ("make", "{it}")),))
    assert build_steps(rules, ["services/a/readme.md"]) == []
    assert build_steps(rules, ["services/a/x.c"]) == [BuildStep(("make", "a"))]


def test_a_file_above_the_directory_of_a_placeholder_starts_no_build() -> None:
    assert build_steps(Builds((SERVICES,)), ["services/readme.md", "services", ""]) == []


def test_a_build_can_have_several_placeholders_and_one_in_its_directory() -> None:
    rules = Builds((Build(("{team}/{service}/**",), ("make", "{team}-{service}"), "{team}", 3.0),))
    assert build_steps(rules, ["core/auth/x"]) == [BuildStep(("make", "core-auth"), "core", 3.0)]


def test_a_directory_name_with_special_characters_starts_no_build() -> None:
    for odd in ("--force", "a b", "$(id)", "a;b", "..", "a\nb", "{service}", "é'"):
        assert build_steps(Builds((SERVICES,)), [f"services/{odd}/x.ts"]) == []

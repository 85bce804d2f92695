from __future__ import annotations

from pathlib import Path

from samuel.routing.abilities.lint import lint
from samuel.routing.abilities.registry import load

HIGH, LOW, CONFIG = (f".system/registry/{name}" for name in ("high-level", "low-level", "config"))
RUN = "implementation: {kind: script, script: {path: run.sh}}\n"
SEED = f"operation_key: db.seed\nsummary: Seed the database\n{RUN}"
FLOW = f"id: flow\ntype: workflow\nsummary: Do it all\n{RUN}"
TABLE = f"""\
| Id | Type | Scope | When to use | Registry path |
|---|---|---|---|---|
| flow | workflow | dev | Always | {HIGH}/flow.yaml |

| Operation key | Kind | Scope | Summary | Registry path |
|---|---|---|---|---|
| db.seed | script | infra | Seed it | {LOW}/seed.yaml |
"""
SOUND = {
    "ABILITY.md": TABLE,
    f"{HIGH}/flow.yaml": FLOW,
    f"{LOW}/seed.yaml": SEED,
    "run.sh": "#!/bin/sh\n",
}


def problem_texts(root: Path) -> list[str]:
    return [str(problem) for problem in lint(root, load(root))]


def test_a_valid_registry_has_no_problems(write, labelled: Path) -> None:
    assert problem_texts(write(SOUND)) == []
    assert problem_texts(labelled / "project") == []


def test_a_registry_needs_no_tables(write) -> None:
    assert problem_texts(write({name: text for name, text in SOUND.items() if name != "ABILITY.md"})) == []


def test_tables_and_files_that_disagree_are_reported(write) -> None:
    table = TABLE.replace("flow.yaml |", "folw.yaml |").replace("| script |", "| api |")
    root = write(SOUND | {"ABILITY.md": table, f"{LOW}/orphan.yaml": SEED.replace("db.seed", "db.drop")})
    assert problem_texts(root) == [
        f"{LOW}/orphan.yaml:1: `db.drop` has no row in ABILITY.md (add one, or remove the file)",
        f"ABILITY.md:3: the file `{HIGH}/folw.yaml` of `flow` is missing (did you mean `{HIGH}/flow.yaml`?)",
        "ABILITY.md:7: `db.seed` is of kind `script`, not `api` (correct the row)",
    ]


def test_a_row_that_contradicts_its_file_is_reported(write) -> None:
    table = TABLE.replace("| flow |", "| other |").replace(
        f"| db.seed | script | infra | Seed it | {LOW}/seed.yaml |", ""
    )
    extra = f"| db.seed | workflow | x | y | {LOW}/seed.yaml |\n| db.seed | workflow | x | y | {LOW}/seed.yaml |\n"
    high, _, low = table.partition("\n\n")
    assert problem_texts(write(SOUND | {"ABILITY.md": f"{high}\n{extra}\n{low}"})) == [
        f"{HIGH}/flow.yaml:1: `flow` has no row in ABILITY.md (add one, or remove the file)",
        f"ABILITY.md:3: `{HIGH}/flow.yaml` defines `flow`, not `other` (correct the row)",
        "ABILITY.md:4: `db.seed` is a low-level ability (use the other table)",
        "ABILITY.md:5: `db.seed` is already in line 4 (remove one of them)",
        "ABILITY.md:5: `db.seed` is a low-level ability (use the other table)",
    ]


def test_calls_of_unknown_abilities_are_reported(write) -> None:
    flow = f"{FLOW}calls:\n  - db.seed\n  - db.sead\n  - unheard.of\n"
    assert problem_texts(write(SOUND | {f"{HIGH}/flow.yaml": flow})) == [
        f"{HIGH}/flow.yaml:7: there is no ability `db.sead` (did you mean `db.seed`?)",
        f"{HIGH}/flow.yaml:8: there is no ability `unheard.of` (only abilities of the registry can be called)",
    ]


def test_each_circle_of_calls_is_reported_once(write) -> None:
    def flow(name: str, calls: str) -> str:
        return FLOW.replace("id: flow", f"id: {name}\noperation_key: workflow.{name}") + f"calls: [{calls}]\n"

    root = write(
        {
            f"{HIGH}/a.yaml": flow("a", "db.seed, b"),
            f"{HIGH}/b.yaml": flow("b", "workflow.c"),
            f"{HIGH}/c.yaml": flow("c", "a"),
            f"{HIGH}/self.yaml": flow("self", "self"),
            f"{LOW}/seed.yaml": SEED,
            "run.sh": "",
        }
    )
    assert problem_texts(root) == [
        f"{HIGH}/a.yaml:6: it calls itself: `a` -> `b` -> `c` -> `a` (remove one of these calls)",
        f"{HIGH}/self.yaml:6: it calls itself: `self` -> `self` (remove one of these calls)",
    ]


def test_invalid_schemas_are_reported(write) -> None:
    schema = "input_schema:\n  type: object\n  properties:\n    a:\n      type: text\n"
    (problem,) = problem_texts(write(SOUND | {f"{LOW}/seed.yaml": SEED + schema}))
    assert problem.startswith(f'{LOW}/seed.yaml:8: `input_schema` is not a valid JSON Schema: "text" is not valid')


def test_scripts_that_cannot_run_are_reported(write, tmp_path: Path) -> None:
    def seed(name: str) -> str:
        return SEED.replace("db.seed", f"db.{name}").replace("run.sh", f"tools/{name}")

    root = write({f"{LOW}/{name}.yaml": seed(name) for name in ("gone", "plain", "out")} | {"tools/plain": "x"})
    (tmp_path / "outside.sh").write_text("#!/bin/sh\n")
    (root / "tools/out").symlink_to(tmp_path / "outside.sh")
    assert problem_texts(root) == [
        f"{LOW}/gone.yaml:3: the script `tools/gone` is missing (paths are relative to the project's root)",
        f"{LOW}/out.yaml:3: the script `tools/out` is a symbolic link out of the project",
        f"{LOW}/plain.yaml:3: the script `tools/plain` is not executable (chmod +x tools/plain)",
    ]


def test_missing_functions_are_reported(write) -> None:
    def seed(name: str, function: str) -> str:
        run = f"implementation:\n  kind: python\n  python:\n    function: {function}\n"
        return SEED.replace("db.seed", f"db.{name}").replace(RUN, run)

    root = write(
        {
            f"{LOW}/a.yaml": seed("a", "tools/seed.py:runn"),
            f"{LOW}/b.yaml": seed("b", "tools/gone.py:run"),
            f"{LOW}/c.yaml": seed("c", "tools/bad.py:run"),
            f"{LOW}/d.yaml": seed("d", "tools/seed.py:imported"),
            f"{LOW}/e.yaml": seed("e", "some.module:run"),
            "tools/seed.py": "from json import loads as imported\nasync def run(given): ...\n",
            "tools/bad.py": "def run(:\n",
        }
    )
    first, second, third = problem_texts(root)
    assert first == f"{LOW}/a.yaml:6: `tools/seed.py` has no function `runn` (did you mean `run`?)"
    assert (
        second == f"{LOW}/b.yaml:6: the file `tools/gone.py` is missing (paths are relative to the project's root)"
    )
    assert third.startswith(f"{LOW}/c.yaml:6: `tools/bad.py` cannot be read: invalid syntax")


def test_an_ability_without_an_implementation_is_reported(write) -> None:
    bare = SEED.replace(RUN, "")
    assert problem_texts(write({f"{LOW}/seed.yaml": bare})) == [
        f"{LOW}/seed.yaml:1: `db.seed` has no implementation"
        " (add `implementation:` here, or a file that gives it below `.system/registry/config/`)"
    ]
    write({f"{CONFIG}/seed.yaml": f"operation_key: db.seed\n{RUN}", "run.sh": ""})
    assert problem_texts(write({})) == []


def test_placeholders_that_the_input_schema_lacks_are_reported(write) -> None:
    run = """\
    operation_key: db.seed
    summary: Seed
    input_schema: {type: object, properties: {target: {type: string}}}
    implementation:
      kind: script
      script:
        path: run.sh
        args_template:
          - "{target}"
          - "--to={targt}"
    """
    assert problem_texts(write({f"{LOW}/seed.yaml": run, "run.sh": ""})) == [
        f"{LOW}/seed.yaml:10: the input has no `targt` (did you mean `target`?)"
    ]


def test_a_negative_keyword_that_is_also_a_keyword_is_reported(write) -> None:
    hints = "routing_hints:\n  keywords: [seed, fill]\n  negative_keywords:\n    - drop\n    - Seed\n"
    assert problem_texts(write(SOUND | {f"{LOW}/seed.yaml": SEED + hints})) == [
        f"{LOW}/seed.yaml:8: `Seed` is also a keyword (remove one of the two: it can never match)"
    ]


def test_files_that_cannot_be_read_are_reported(write) -> None:
    assert problem_texts(write(SOUND | {f"{LOW}/bad.yaml": "summary: x\n", "ABILITY.md": TABLE})) == [
        f"{LOW}/bad.yaml:1: `operation_key` is missing (add `operation_key: ...`)"
    ]


def test_a_row_with_an_impossible_path_does_not_hide_other_problems(write) -> None:
    long = "a" * 300
    row = f"| other | script | infra | Seed it | {LOW}/{long}.yaml |\n"
    root = write({**SOUND, "ABILITY.md": TABLE + row, f"{LOW}/seed.yaml": SEED.replace("run.sh", long)})
    assert [problem.replace(long, "LONG") for problem in problem_texts(root)] == [
        f"{LOW}/seed.yaml:3: `path` is longer than a path can be",
        "ABILITY.md:8: the registry path of `other` is longer than a path can be",
        f"ABILITY.md:8: the file `{LOW}/LONG.yaml` of `other` is missing (write the file, or remove the row)",
    ]


def test_only_the_first_problems_of_a_registry_get_spelling_hints(write) -> None:
    rows = "".join(f"| s{at} | script | x | Seed | {LOW}/seed{at}.yaml |\n" for at in range(50))
    all_problems = problem_texts(write({**SOUND, "ABILITY.md": TABLE + rows}))
    assert len(all_problems) == 50
    assert sum("did you mean" in problem for problem in all_problems) == 20

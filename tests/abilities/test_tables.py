from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samuel.abilities.model import Level
from samuel.abilities.tables import AbilityRow, read_tables

TABLES = """\
# Abilities

## High-level abilities

| Id                 | Type     | Scope               | When to use                    | Registry path           |
| ------------------ | -------- | ------------------- | ------------------------------ | ----------------------- |
| billing_regression | workflow | integration/billing | Run the suite with a \\| in it | .system/registry/a.yaml |
| `code_review`      | agent    |                     | Review **PRs**                 | [b](./b.yaml)           |

Some text | with a bar.

Operation key | Kind | Scope | Summary | Registry path
:-- | --: | :-: | --- | -
db.seed | script | infra/db | Seed it | c.yaml
"""


def test_both_tables_are_read() -> None:
    tables = read_tables(TABLES)
    assert tables.problems == ()
    assert tables.rows == (
        AbilityRow(
            Level.HIGH,
            "billing_regression",
            "workflow",
            "integration/billing",
            "Run the suite with a | in it",
            ".system/registry/a.yaml",
            7,
        ),
        AbilityRow(Level.HIGH, "code_review", "agent", "", "Review **PRs**", "./b.yaml", 8),
        AbilityRow(Level.LOW, "db.seed", "script", "infra/db", "Seed it", "c.yaml", 14),
    )


def test_columns_are_known_by_their_names() -> None:
    text = "|Registry path|KIND|Owner|Summary|Scope|Operation  key|\n|-|-|-|-|-|-|\n|a.yaml|script|me|Do|x|a|\n"
    assert read_tables(text).rows == (AbilityRow(Level.LOW, "a", "script", "x", "Do", "a.yaml", 3),)


def test_other_tables_and_code_are_somebody_elses() -> None:
    other = "| Name | Age |\n|---|---|\n| a | 3 |\n"
    assert read_tables(other + "\n```\n" + TABLES + "\n```\n") == ((), ())


def test_a_table_without_a_column_is_told() -> None:
    (problem,) = read_tables(
        "| Id | Type | Scope | Registry path |\n|---|---|---|---|\n| a | b | c | d |\n"
    ).problems
    assert (
        str(problem) == "ABILITY.md:1: the table lacks the column `when to use` (columns are found by their names)"
    )


def test_a_row_of_another_length_is_told_and_hides_no_other() -> None:
    head = "| Id | Type | Scope | When to use | Registry path |\n|---|---|---|---|---|\n"
    tables = read_tables(
        f"{head}| a | workflow | x | this | or | that.yaml |\n| b | workflow | x | y | b.yaml |\n"
    )
    assert [row.name for row in tables.rows] == ["b"]
    assert [problem.line for problem in tables.problems] == [3]


def test_a_row_needs_a_name_and_a_path() -> None:
    head = "| Id | Type | Scope | When to use | Registry path |\n|---|---|---|---|---|\n"
    tables = read_tables(f"{head}| | workflow | x | y | a.yaml |\n| b | workflow | x | y | |\n")
    assert tables.rows == ()
    assert [problem.what for problem in tables.problems] == ["the row has no name", "the row has no registry path"]


pieces = st.sampled_from(
    [
        "|",
        "---",
        "\n",
        "\\",
        "```",
        "~~~",
        "Id",
        "Type",
        "Scope",
        "When to use",
        "Registry path",
        " ",
        "a",
        "é",
        "\r",
    ]
)


@given(st.text() | st.lists(pieces, max_size=60).map("".join) | st.lists(pieces, max_size=60).map("|".join))
def test_any_text_is_read(text: str) -> None:
    tables = read_tables(text)
    assert all(row.name and row.path and 1 <= row.line <= text.count("\n") + 1 for row in tables.rows)


def test_ten_thousand_rows_are_read() -> None:
    rows = "".join(f"| a{n} | workflow | x | y{'-' * 50} | {n}.yaml |\n" for n in range(10_000))
    head = "| Id | Type | Scope | When to use | Registry path |\n|---|---|---|---|---|\n"
    assert len(read_tables(head + rows).rows) == 10_000


def test_a_cell_that_nobody_reads_is_told() -> None:
    tables = read_tables(TABLES.replace("Seed it", "x" * 5000))
    assert [row.name for row in tables.rows] == ["billing_regression", "code_review"]
    assert [str(problem) for problem in tables.problems] == [
        "ABILITY.md:14: `summary` has more than 2000 characters (shorten it)"
    ]

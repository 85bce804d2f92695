from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samuel.routing.abilities.model import Level
from samuel.routing.abilities.tables import AbilityRow, read_tables

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


def test_both_tables_of_ability_md_are_read() -> None:
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


def test_columns_may_be_in_any_order() -> None:
    text = "|Registry path|KIND|Owner|Summary|Scope|Operation  key|\n|-|-|-|-|-|-|\n|a.yaml|script|me|Do|x|a|\n"
    assert read_tables(text).rows == (AbilityRow(Level.LOW, "a", "script", "x", "Do", "a.yaml", 3),)


def test_other_tables_and_code_blocks_are_ignored() -> None:
    other = "| Name | Age |\n|---|---|\n| a | 3 |\n"
    assert read_tables(other + "\n```\n" + TABLES + "\n```\n") == ((), ())


def test_a_table_that_lacks_a_column_is_reported() -> None:
    (problem,) = read_tables(
        "| Id | Type | Scope | Registry path |\n|---|---|---|---|\n| a | b | c | d |\n"
    ).problems
    assert (
        str(problem) == "ABILITY.md:1: the table lacks the column `when to use` (columns are found by their names)"
    )


def test_a_row_with_a_wrong_number_of_cells_is_reported_and_does_not_hide_others() -> None:
    head = "| Id | Type | Scope | When to use | Registry path |\n|---|---|---|---|---|\n"
    tables = read_tables(
        f"{head}| a | workflow | x | this | or | that.yaml |\n| b | workflow | x | y | b.yaml |\n"
    )
    assert [row.name for row in tables.rows] == ["b"]
    assert [problem.line for problem in tables.problems] == [3]


def test_a_row_without_a_name_or_a_path_is_reported() -> None:
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
def test_any_ability_md_is_read_without_an_exception(text: str) -> None:
    tables = read_tables(text)
    assert all(row.name and row.path and 1 <= row.line <= text.count("\n") + 1 for row in tables.rows)


def test_a_table_of_ten_thousand_rows_is_read() -> None:
    rows = "".join(f"| a{n} | workflow | x | y{'-' * 50} | {n}.yaml |\n" for n in range(10_000))
    head = "| Id | Type | Scope | When to use | Registry path |\n|---|---|---|---|---|\n"
    assert len(read_tables(head + rows).rows) == 10_000


def test_a_cell_that_is_too_long_is_reported() -> None:
    tables = read_tables(TABLES.replace("Seed it", "x" * 5000))
    assert [row.name for row in tables.rows] == ["billing_regression", "code_review"]
    assert [str(problem) for problem in tables.problems] == [
        "ABILITY.md:14: `summary` has more than 2000 characters (shorten it)"
    ]

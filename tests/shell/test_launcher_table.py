"""Each row of the table of launchers, by its own example."""

from __future__ import annotations

import pytest

from samuel.shell import commands
from samuel.shell.launcher_table import LauncherRow, launcher_rows

ROWS = list({row: None for rows in launcher_rows().values() for row in rows})
READ = ("words", "after", "script", "text", "address", "escape")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.example)
def test_what_a_launcher_starts_is_read_or_opaque(row: LauncherRow) -> None:
    reading = commands(row.example)
    if row.way in READ:
        assert "rm" in {command.program for command in reading.commands}
    else:
        assert reading.opaque


def test_a_command_knows_the_program_that_starts_it() -> None:
    starters = {command.program: command.starter for command in commands("sudo env A=1 rm x; ls").commands}
    assert starters == {"sudo": "", "env": "sudo", "rm": "env", "ls": ""}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("$CMD x", "program"),
        ("curl x | sh", "input"),
        ("bash build.sh", "file"),
        ('eval "$x"', "text"),
        ("python3 -c 'print(1)'", "code"),
        ("tar cf a b --checkpoint-action=exec=c", "option"),
        ("x='a[$(rm y)]'; ((x))", "value"),
        ("ls | xargs sed -n", "arguments"),
        ("if then fi", "syntax"),
        ("x" * 200_000, "limit"),
    ],
)
def test_an_opaque_part_says_of_which_kind_it_is(text: str, kind: str) -> None:
    assert kind in {part.kind for part in commands(text).opaque}


def test_code_of_another_language_is_handed_on() -> None:
    (part,) = [part for part in commands("python3 -c 'import os'").opaque if part.kind == "code"]
    assert part.program == "python3"
    assert "import os" in part.code


def test_assignments_are_listed_wherever_they_stand() -> None:
    reading = commands('A=1 make; export B="$HOME/x"; (C=3)')
    assert reading.assignments == ("A=1", "B=$HOME/x", "C=3")

"""prd.toon: what is written is read again, what was not changed stays as it was, what is wrong is named."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import toons
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from samuel.base.errors import ConfigError
from samuel.tasks.grade import GRADES
from samuel.tasks.prd_file import decode, encode
from samuel.tasks.task import COLUMNS, PRIORITIES, STATUSES, Task

NASTY = (
    *("", " ", "1.10", "007", "-0", "1e5", "+1", ".5", "5.", "1_000", "0x10", "NaN", "true", "false", "null", "~"),
    *("a,b", 'say "hi"', "'", "a: b", "- [ ] x", "[2]", "{x}", "tasks[1]{id}:", "#", "# no comment"),
    *("two\nlines", "tab\there", "cr\r\nlf", "a|b", "|", "\\", "\\|", "\\n", "  padded  "),
    *("\x00", "\x7f", "\x85", "\u2028", "\ufeff", "ünï©ødé", "🙂"),
)
text = st.sampled_from(NASTY) | st.text()
filled = text.filter(bool)
one_line = text.filter(lambda words: words.splitlines() in ([], [words]))
ids = one_line.map(str.strip).filter(bool)
plain = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text
columns = st.lists(text.filter(lambda name: name not in COLUMNS), unique=True, max_size=3)


@st.composite
def tasks(draw: st.DrawFn) -> list[Task]:
    """Tasks that fit together, each depending on some before it; all have the same unknown columns."""
    unknown = draw(columns)
    new_tasks: list[Task] = []
    for id in draw(st.lists(ids, unique=True, max_size=6)):
        before = [task.id for task in new_tasks]
        some = st.lists(st.sampled_from(before), unique=True) if before else st.just([])
        new_tasks.append(
            Task(
                id=id,
                title=draw(one_line),
                description=draw(text),
                status=draw(st.sampled_from(STATUSES)),
                priority=draw(st.sampled_from(PRIORITIES)),
                complexity=draw(text),
                parent_id=draw(st.sampled_from(before)) if before else "",
                depends_on=tuple(draw(some)),
                files_to_create=tuple(draw(st.lists(filled, max_size=3))),
                files_to_modify=tuple(draw(st.lists(filled, max_size=3))),
                guardrails=tuple(draw(st.lists(filled, max_size=3))),
                completed_at=draw(text),
                commit_sha=draw(text),
                iteration=draw(st.integers(0, 1000)),
                source=draw(text),
                claimed=draw(st.booleans()),
                attempts=draw(st.integers(0, 100)),
                last_failure=draw(text),
                grade=draw(st.sampled_from(GRADES)),
                checks=tuple(draw(st.lists(filled, max_size=3))),
                no_change=draw(st.booleans()),
                extra={name: draw(plain) for name in unknown},
            )
        )
    return new_tasks


@given(tasks())
@example([Task(id="1.10", title="1.10", description="true", commit_sha="1234567", last_failure="null")])
@example([Task(id="007", title="x", guardrails=("a|b", "\\", "c\\|d", "e\nf"))])
def test_what_is_written_is_read_again(tasks: list[Task]) -> None:
    encoded = encode(tasks)
    document = decode(encoded)
    assert list(document.tasks) == tasks
    assert encode(document.tasks, document) == encoded
    assert encode([replace(task) for task in document.tasks], document) == encoded  # all rows anew


def test_a_line_break_in_an_id_or_a_title_is_read_as_a_blank() -> None:
    rows = [Task(id="1\n2", title="a\r\nb\n"), Task(id="3", title="c", parent_id="1\n2", depends_on=("1\n2",))]
    first, second = decode(encode(rows)).tasks
    assert (first.id, first.title) == ("1 2", "a b")
    assert (second.parent_id, second.depends_on) == ("1 2", ("1 2",))


@given(tasks(), st.data())
def test_a_change_touches_its_own_row_only(tasks: list[Task], data: st.DataObject) -> None:
    document = decode(encode(tasks))
    if not tasks:
        return
    index = data.draw(st.integers(0, len(tasks) - 1))
    changed = replace(document.tasks[index], status="blocked", last_failure=data.draw(text))
    after = (*document.tasks[:index], changed, *document.tasks[index + 1 :])
    encoded = encode(after, document)
    assert decode(encoded).tasks == after
    lines, before = encoded.split("\n"), encode(tasks).split("\n")
    assert [line for number, line in enumerate(lines) if number != index + 1] == [
        line for number, line in enumerate(before) if number != index + 1
    ]


@given(tasks())
def test_ids_are_always_in_quotes_and_it_is_one_table(tasks: list[Task]) -> None:
    header, *rows, last = encode(tasks).split("\n")
    assert header.startswith(f"tasks[{len(tasks)}]{{id,title,")
    assert all(row.startswith('  "') for row in rows)
    assert (len(rows), last) == (len(tasks), "")
    read = toons.loads(encode(tasks))["tasks"]  # by anybody who reads TOON
    assert [row["id"] for row in read] == [task.id for task in tasks]


def test_encode_writes_ids_in_quotes_and_joins_lists_with_bars() -> None:
    task = Task(id="1.10", title="Write it, well", files_to_modify=("a.py", "b|c.py"), extra={"estimate": 3})
    assert encode([task, Task(id="T2", title="Use it", depends_on=("1.10",))]) == (
        "tasks[2]{id,title,description,status,priority,complexity,parent_id,depends_on,files_to_create,"
        "files_to_modify,guardrails,completed_at,commit_sha,iteration,source,claimed,attempts,last_failure,"
        "estimate}:\n"
        '  "1.10","Write it, well","",pending,medium,medium,"","","","a.py|b\\\\|c.py","","","",0,prd,'
        'false,0,"",3\n'
        '  "T2",Use it,"",pending,medium,medium,"","1.10","","","","","",0,prd,false,0,"",null\n'
    )


BY_HAND = """\
# my tasks
project: demo
tasks[3]{title,id,owner,status}:
  # the beginning
  Write it,"1.0",ann,completed

  Use it,"1.10",null,pending
  "Sell it, soon","2",bob,null
# the end
version: 1.10
""".replace("\n\n", "\n")


def test_a_file_by_hand_keeps_what_samuel_does_not_know() -> None:
    document = decode(BY_HAND)
    assert [(task.id, task.status, task.extra) for task in document.tasks] == [
        ("1.0", "completed", {"owner": "ann"}),
        ("1.10", "pending", {"owner": None}),
        ("2", "pending", {"owner": "bob"}),
    ]
    first, second, third = document.tasks
    encoded = encode([first, replace(second, claimed=True), third, Task(id="3", title="New")], document)
    assert encoded.startswith("# my tasks\nproject: demo\ntasks[4]{id,title,")
    assert '\n  # the beginning\n  "1.0",Write it,' in encoded
    assert encoded.endswith(',false,0,"",null\n# the end\nversion: 1.10\n')
    again = decode(encoded)
    assert [task.extra["owner"] for task in again.tasks] == ["ann", None, "bob", None]
    assert encode(again.tasks, again) == encoded


def test_comments_blank_lines_and_windows() -> None:
    document = decode('\n# a\r\ntasks[2]{id,title}:\r\n\r\n  # b\r\n  "1",A\r\n# c\r\n  "2",B\r\n# d\r\n')
    assert [(task.id, task.title) for task in document.tasks] == [("1", "A"), ("2", "B")]
    document = decode(encode(document.tasks, document))
    assert len(document.tasks) == 2
    encoded = encode([*document.tasks, Task(id="3", title="C")], document)
    assert [note in encoded for note in ("# a", "# b", "# c", "# d")] == [True] * 4
    assert decode(encoded).tasks[2].id == "3"


@pytest.mark.parametrize("empty", ["tasks: []", "tasks[0]:", "tasks[0]{id,title}:\n"])
def test_no_tasks_at_all(empty: str) -> None:
    document = decode(empty)
    assert document.tasks == ()
    assert decode(encode([Task(id="1", title="A")], document)).tasks[0].id == "1"


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(ConfigError) as caught:
        decode(text, "prd.toon")
    assert all(problem.file == "prd.toon" and problem.hint for problem in caught.value.problems)
    return [(problem.line, problem.what) for problem in caught.value.problems]


def rows(*lines: str, columns: str = "id,title,status,depends_on", count: int | None = None) -> str:
    return "\n".join([f"tasks[{len(lines) if count is None else count}]{{{columns}}}:", *lines, ""])


def test_a_wrong_count_and_rows_that_cannot_be_read_are_all_named() -> None:
    text = rows('  "1",A,pending,""', '  "2",B', '  "3","C,pending,""', '  "4",D,pending,""', count=5)
    assert problems(f"# c\n{text}") == [
        (2, "the header counts 5 tasks, but the table has 4"),
        (4, "this row cannot be read: Row has 2 cells but the header declares 4 leaf fields"),
        (5, "this row cannot be read: Row has 2 cells but the header declares 4 leaf fields"),
    ]


@pytest.mark.parametrize(
    "text", ["", "just words", "version: 1\n", "[2]: 1,2\n", 'tasks[1|]{id|title}:\n  "1"|A\n']
)
def test_no_table_of_tasks(text: str) -> None:
    assert problems(text) == [(1, "there is no table of tasks")]


def test_a_blank_line_within_the_table() -> None:
    assert problems(rows('  "1",A,pending,""', "", '  "2",B,pending,""', count=2)) == [
        (3, "Blank line inside array")
    ]


def test_every_wrong_cell_is_named_with_its_line() -> None:
    assert problems(
        rows('  1.10,A,pending,""', '  "2",2048,dnoe,2', '  "3",C,compleed,0', '  null,D,pending,""')
    ) == [
        (2, "`id` must be text, not 1.1"),
        (3, "`title` must be text, not 2048"),
        (3, "`dnoe` is not a valid status"),
        (3, "`depends_on` must be text, not 2"),
        (4, "`compleed` is not a valid status"),
        (4, "`depends_on` must be text, not 0"),
        (5, "the task has no `id`"),
    ]
    columns = "id,title,priority,claimed,attempts,x"
    assert problems(rows('  "1",A,urgent,maybe,2.5,1', columns=columns)) == [
        (2, "`urgent` is not a valid priority"),
        (2, "`claimed` must be true or false, not 'maybe'"),
        (2, "`attempts` must be a whole number, not 2.5"),
    ]
    assert problems(rows('  "1",A,1,2', columns="id,title,x{a,b}")) == [(1, "`x` holds columns of its own")]


def test_ids_that_do_not_fit_together() -> None:
    text = rows('  "1",A,pending,"9"', '  "1",B,pending,""', '  " ",C,pending,""', '  "12",D,pending,"122|1"')
    assert problems(text) == [
        (2, "task `1` depends on `9`, which does not exist"),
        (2, "the id `1` is there 2 times"),
        (3, "the id `1` is there 2 times"),
        (4, "the id ' ' is empty or has blanks around it"),
        (5, "task `12` depends on `122`, which does not exist"),
    ]
    parent = rows('  "1",A,2', '  "2",B,"1"', '  "3",C,"4"', columns="id,title,parent_id").replace("A,2", 'A,"2"')
    assert problems(parent) == [
        (2, "tasks are their own parents: `1` -> `2` -> `1`"),
        (4, "task `3` has the parent `4`, which does not exist"),
    ]


def test_every_cycle_is_named_in_order() -> None:
    text = rows(
        '  "1",A,pending,"3"',
        '  "2",B,pending,"1"',
        '  "3",C,pending,"2"',
        '  "4",D,pending,"4"',
        '  "5",E,pending,"1|4"',
    )
    messages = problems(text)
    assert messages[1:] == [(5, "tasks wait for each other: `4` -> `4`")]
    line, what = messages[0]
    cycle = what.removeprefix("tasks wait for each other: ").replace("`", "").split(" -> ")
    assert (line, sorted(cycle[:-1]), cycle[0]) == (int(cycle[0]) + 1, ["1", "2", "3"], cycle[-1])
    assert all((a, b) in {("1", "3"), ("3", "2"), ("2", "1")} for a, b in pairwise(cycle))


def test_what_could_not_be_read_again_is_not_written() -> None:
    wrong: list[dict[str, Any]] = [
        {"status": "done"},
        {"title": "\ud800"},
        {"extra": {"x": [1]}},
        {"attempts": "2"},
    ]
    for fields in wrong:
        with pytest.raises(ConfigError):
            encode([replace(Task(id="1", title="A"), **fields)])


@given(
    st.text()
    | st.lists(st.sampled_from(["tasks[1]{id,title}:\n", '  "1",A\n', "  x\n", "#\n", "\n", ","])).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = decode(text)
    except ConfigError:
        return
    assert decode(encode(document.tasks, document)).tasks == document.tasks


def test_a_file_without_the_rare_columns_keeps_its_header_until_a_task_needs_one() -> None:
    old = decode(encode([Task(id="1", title="One"), Task(id="2", title="Two")]))
    header = encode(old.tasks, old).split("\n")[0]
    assert not {"grade", "checks", "no_change"} & set(old.columns)
    begun = [replace(old.tasks[0], status="in_progress"), old.tasks[1]]
    assert encode(begun, old).split("\n")[0] == header
    checked = [replace(old.tasks[0], checks=("make e2e", "a|b")), old.tasks[1]]
    new = decode(encode(checked, old))
    assert new.columns == (*old.columns, "checks")
    assert [task.checks for task in new.tasks] == [("make e2e", "a|b"), ()]
    assert decode(encode([replace(new.tasks[0], checks=()), new.tasks[1]], new)).columns == new.columns


def test_rare_columns_stand_before_the_unknown_ones_which_survive() -> None:
    old = decode('tasks[1]{id,title,owner}:\n  "1",One,ann\n')
    new = decode(encode([replace(old.tasks[0], grade="unverified", no_change=True)], old))
    assert new.columns[-3:] == ("grade", "no_change", "owner")
    assert (new.tasks[0].grade, new.tasks[0].no_change, new.tasks[0].extra) == (
        "unverified",
        True,
        {"owner": "ann"},
    )


def test_an_unknown_grade_is_refused_with_the_possible_ones() -> None:
    with pytest.raises(ConfigError, match="`maybe` is not a valid grade"):
        decode('tasks[1]{id,title,grade}:\n  "1",One,maybe\n')

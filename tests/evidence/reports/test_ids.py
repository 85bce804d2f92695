"""Which ids name the same test in another run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from samuel.evidence.reports.ids import is_stable, normalised
from samuel.evidence.reports.junit_xml import read_junit

NOW = datetime(2026, 11, 18, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "id",
    [
        "tests.test_app::test_one",
        "tests.test_app::test_one[a b-2]",
        "tests.test_date::test_parse[2020-01-01]",
        "tests.test_date::test_parse[2020-01-01T10:00:00]",
        "tests.test_date::test_parse[31/12/1999 23:59:59]",
        "tests.test_num::test_parse[1234567890]",
        "tests.test_num::test_parse[0xdeadbeef]",
        "tests.test_num::test_parse[deadbeef]",
        "shop::tests::adds",
        "example.com/shop::TestTable/a_b",
        "test::a cart > has a total of 3",
        "ShopTest::testWords with data set #0",
        "spec/shop_spec.rb::Shop costs 10:30",
    ],
)
def test_an_id_that_is_the_same_in_each_run_is_stable(id: str) -> None:
    assert is_stable(id, NOW)


@pytest.mark.parametrize(
    "id",
    [
        "",
        "#3",
        "t/shop.t::#3",
        "test::7",
        "tests.test_field::test_it[11-17-2026 21:15:29]",
        "tests.test_field::test_it[2026-11-18]",
        "tests.test_field::test_it[18.11.2026]",
        "tests.test_field::test_it[21:15:29]",
        "tests.test_field::test_it[2020-01-01 10:00:00.123456]",
        "tests.test_field::test_it[1795000000]",
        "tests.test_field::test_it[1795000000.25]",
        "tests.test_field::test_it[1795000000123]",
        "tests.test_field::test_it[<object at 0x7f3d6d156b60>]",
        "tests.test_field::test_it[0x7f3d6d156b60]",
        "tests.test_field::test_it[1f79aa0d-4ec8-4a5c-aa83-5e8dc2f36573]",
        "tests.test_field::test_it[9f86d081884c7d659a2feaa0c55ad015]",
        "tests.test_field::test_it[pid-4711]",
        "tests.test_field::test_it[/tmp/x]",
        "tests.test_field::test_it[tmpab12cd_3]",
        "tests.test_field::test_it[localhost:43127]",
    ],
)
def test_an_id_with_something_of_one_run_in_it_is_not_stable(id: str) -> None:
    assert not is_stable(id, NOW)


def test_without_a_time_that_of_the_machine_counts() -> None:
    today = datetime.now(UTC).date().isoformat()
    assert not is_stable(f"test_it[{today}]")


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("/room/1/src/a.test.js", "src/a.test.js"),
        ("file:///room/1/src/a.test.js", "src/a.test.js"),
        ("doc shop::src/lib.rs - add (line 5)", "doc shop::src/lib.rs - add"),
        ("adds (0.25ms)", "adds"),
        ("adds (two numbers)", "adds (two numbers)"),
        ("/other/a.js", "/other/a.js"),
    ],
)
def test_what_differs_between_runs_of_one_test_is_left_out(id: str, expected: str) -> None:
    assert normalised(id, "/room/1") == expected


def test_a_root_that_is_everything_is_left_alone() -> None:
    assert normalised("/a/b.js", "/") == "/a/b.js"


def test_name_that_node_escaped_twice_is_read_as_it_was_written() -> None:
    report = read_junit(
        b'<testsuites><testcase name="slug of &amp;quot;X&amp;quot;" classname="test"/></testsuites>'
    )
    assert report is not None
    assert [*report.tests] == ['test::slug of "X"']

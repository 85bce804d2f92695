"""The report of a run: what it says, and that nothing in it can become markup."""

from __future__ import annotations

import json
import os
import re
import sys
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from tests.run.conftest import LoopProject

from samuel.base.printable_json import safe_json
from samuel.base.wording import block, line, span
from samuel.checks.refusal_texts import CONTESTED
from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.attempt_record import AttemptRecord, ChangedFile, CheckRecord, ReportedTests, RunRecord
from samuel.history.cost_summary import CostSummary
from samuel.history.history import History, RunHistory
from samuel.history.notices import LoopWarning
from samuel.history.outcome_words import OUTCOMES
from samuel.report.files import save_report, write_reports
from samuel.report.html import to_html
from samuel.report.markdown import to_markdown
from samuel.report.model import RunReport, build_report, report_json
from samuel.tasks.question import Question
from samuel.tasks.task import Task

DOCS = Path(__file__).parents[3] / "docs"
HOSTILE = (
    "<script>alert(1)</script></style></title></pre><img src=x onerror=alert(2)>\"'&amp; `` ``` | a | b |\n"
    "# heading\n- [x](javascript:alert(3)) ![i](http://evil/) "
    "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u2066 \x00\x9b\r"
    " {{ 7*7 }} {% raw %} \udcff"
)

HARMLESS = "x\n# y\n- z\nw"


def attempt(iteration: int = 1, task: str = "1", outcome: str = "completed", **fields: object) -> AttemptRecord:
    defaults: dict[str, object] = {
        "run_id": "run-1",
        "title": f"Task {task}",
        "exit_code": 0,
        "grade": "checked",
    }
    defaults |= {"started_at": 100.0 * iteration, "ended_at": 100.0 * iteration + 60}
    kind = IterationOutcome(outcome)
    return AttemptRecord(iteration=iteration, task_id=task, outcome=kind, **{**defaults, **fields})  # type: ignore[arg-type]


def history(
    *attempts: AttemptRecord, reason: ExitReason | None = ExitReason.QUEUE_EMPTY, **fields: object
) -> RunHistory:
    run = RunRecord(
        run_id="run-1", methodology="ralph", agents=("mine",), started_at=100.0, exit_reason=reason, **fields
    )  # type: ignore[arg-type]
    return RunHistory(run, attempts)


def task(id: str = "1", **fields: object) -> Task:
    return Task(id=id, title=f"Task {id}", **fields)  # type: ignore[arg-type]


class Page(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_headline_counts_tasks_and_calls_a_task_without_checks_unverified() -> None:
    tasks = [
        task("1", status="completed", grade="checked"),
        task("2", status="completed", grade="unverified"),
        task("3", status="blocked", last_failure="no key"),
        task("4", status="waiting", last_failure="which one?"),
        task("5"),
    ]
    report = build_report(history(attempt(1, "1"), attempt(2, "2", grade="unverified")), tasks, project="shop")
    assert report.counts == {"proven": 0, "checked": 1, "unverified": 1, "blocked": 1, "waiting": 1, "pending": 1}
    assert to_markdown(report).startswith(
        "# shop: 0 proven, 1 checked, 1 unverified, 1 blocked, 1 waiting, 1 pending\n"
    )
    assert "1 checked" in re.sub(r"\s+", " ", Page(to_html(report)).text)
    assert [other.id for other in report.other_tasks] == ["3", "4", "5"]


def test_lost_tests_are_in_the_headline_and_are_to_be_looked_at() -> None:
    lost = ("test_cart::negative", "test_cart::empty")
    attempts = [attempt(1, "1", "quality_failed", lost_tests=("of no matter",)), attempt(2, "1", lost_tests=lost)]
    tasks = [task("1", status="completed", grade="checked")]
    report = build_report(history(*attempts), tasks, project="shop")
    assert (report.lost_tests, report.tasks[0].lost_tests, report.tasks[0].tone) == (2, lost, "warn")
    assert [(item.word, item.tone, item.why, item.commands[0].command) for item in report.to_look_at] == [
        (
            "lost tests",
            "bad",
            "2 tests ran before and do not run now: test_cart::negative, test_cart::empty",
            "samuel run show 1 --diff",
        ),
        ("checked", "warn", "nothing shows that the task is done", "samuel run show 1 --diff"),
    ]
    assert to_markdown(report).startswith(
        "# shop: 0 proven, 1 checked, 0 unverified, 0 blocked, 0 waiting, 2 lost tests\n"
    )
    page = Page(to_html(report))
    assert "0 proven, 1 checked, 2 lost tests" in re.sub(r"\s+", " ", page.text)
    assert [attributes["class"] for tag, attributes in page.tags if tag == "details" and "open" in attributes] == [
        "task warn"
    ]


def test_a_flaky_check_is_named_in_the_report() -> None:
    check = CheckRecord(command="npm test", passed=True, exit_code=0, flaky=True, output_tail="ECONNRESET")
    report = build_report(history(attempt(1, checks=(check,))), [task()], project="shop")
    assert report.tasks[0].flaky == ("npm test",)
    words = "flaky: it failed, and passed when it was run once more"
    assert f"`npm test` exit code 0, 0.0s, {words}" in to_markdown(report)
    assert "**Flaky checks:** `npm test`" in to_markdown(report)
    assert words in Page(to_html(report)).text
    assert "Flaky checks" in Page(to_html(report)).text


def test_a_task_that_turned_nothing_green_is_unverified_for_that_reason() -> None:
    row = task("1", status="completed", grade="unverified")
    report = build_report(history(attempt(1, grade="unverified", still_red=("a",))), [row], project="shop")
    assert [(item.word, item.why) for item in report.to_look_at] == [
        ("unverified", "the checks failed before it, and it turned nothing green")
    ]


def test_a_refused_change_of_tests_comes_with_the_way_out() -> None:
    why = f"{CONTESTED}`tests/test_a.py`, `tests/test_b.py`\nthese files were put back"
    row = task("a b", status="blocked", last_failure=f"quality_failed: {why}")
    failed = attempt(1, "a b", "quality_failed", why=why, ref="refs/samuel/run-1/a/1")
    (item,) = build_report(history(failed), [row], project="shop").waiting
    assert "add the line `Files: tests/test_a.py, tests/test_b.py` below it in the PRD" in item.why
    assert [command.command for command in item.commands] == [
        "samuel run show 'a b'",
        "samuel run reset 'a b'",
        "samuel run restore 'a b'",
        "samuel run done 'a b'",
    ]


def test_a_baseline_of_a_check_that_cannot_run_is_not_to_be_accepted() -> None:
    for code, commands in ((127, 1), (1, 2)):
        check = CheckRecord(command="pytets", passed=False, exit_code=code)
        report = build_report(history(reason=ExitReason.BASELINE_FAILED, baseline=(check,)), [], project="shop")
        assert len(report.waiting[0].commands) == commands


def test_what_waits_for_a_person_comes_with_the_command_for_it() -> None:
    question = Question(id="q7", text="red or blue?", options=("red one", "blue"))
    tasks = [
        task("a b", status="blocked", last_failure="no key"),
        task("2", status="waiting", questions=(question,)),
    ]
    report = build_report(history(reason=ExitReason.BASELINE_FAILED), tasks, project="shop")
    assert [(item.word, item.why, item.commands[0].command) for item in report.waiting] == [
        ("waiting", "red or blue?", "samuel run answer q7 'red one'"),
        ("blocked", "no key", "samuel run show 'a b'"),
        ("baseline failed", ExitReason.BASELINE_FAILED.meaning, "samuel run start"),
    ]
    for text in (to_markdown(report), Page(to_html(report)).text):
        assert "samuel run reset 'a b'" in text
        assert "samuel run answer q7 'red one'" in text


def test_a_completed_task_without_a_commit_is_named_where_others_have_one() -> None:
    files = (ChangedFile(path="a", added=1, removed=0),)
    records = attempt(1, "1", commit="abc123", changed_files=files), attempt(2, "2", changed_files=files)
    report = build_report(history(*records), None, project="shop")
    assert [(item.subject, item.why.partition(",")[0]) for item in report.waiting] == [
        ("2 Task 2", "completed without a commit")
    ]


def test_an_earlier_run_is_reported_from_its_attempts_alone() -> None:
    report = build_report(history(attempt(1, "1"), attempt(2, "2", "asked")), None, project="shop")
    assert [(entry.id, entry.word) for entry in report.tasks] == [("1", "checked"), ("2", "waiting")]


def test_a_cost_that_is_not_known_is_unknown_and_never_zero() -> None:
    assert CostSummary.of([{}]).words == CostSummary.of([]).words == "unknown"
    usage = {"cost_usd": 1.5, "input_tokens": 900, "output_tokens": 100}
    assert CostSummary.of([usage]).words == "$1.50, 1,000 tokens"
    assert CostSummary.of([usage, {}]).words == "at least $1.50, 1,000 tokens, 1 attempt unknown"
    assert CostSummary.of([{"input_tokens": 5}]).words == "5 tokens"
    report = build_report(history(attempt(1)), None, project="shop")
    assert "$0" not in to_markdown(report) + to_html(report)
    assert "cost: unknown" in to_markdown(report)


def test_the_timeline_places_attempts_and_waits_in_percent_of_the_run() -> None:
    limited = attempt(1, "1", "limited", started_at=100.0, ended_at=150.0)
    after = attempt(2, "1", started_at=250.0, ended_at=300.0)
    (entry,) = build_report(history(limited, after, ended_at=300.0), None, project="shop").tasks
    assert [(a.start, a.width, a.wait) for a in entry.attempts] == [(0, 25, 50), (75, 25, 0)]


def test_every_outcome_has_words() -> None:
    assert set(OUTCOMES) == set(IterationOutcome)


def test_a_run_without_attempts_or_tasks_has_a_report() -> None:
    report = build_report(history(reason=None), None, project="shop")
    assert "not ended" in to_markdown(report)
    assert "not ended" in to_html(report)


def test_durations_are_written_for_people() -> None:
    assert [span(seconds) for seconds in (0.04, 9.4, 59.6, 61, 3600, 86_400)] == [
        *("0.0s", "9.4s", "1m 00s", "1m 01s", "1h 00m", "24h 00m")
    ]


def hostile_report(text: str = HOSTILE) -> RunReport:
    check = CheckRecord(
        command=text,
        passed=False,
        exit_code=None,
        output_tail=text,
        tests=ReportedTests(failed=(text,)),
    )
    records = [
        attempt(
            number,
            id,
            outcome,
            title=text,
            agent=text,
            why=text,
            ending=AgentEnding(EndingKind.CRASHED, text),
            checks=(check,),
            changed_files=(ChangedFile(path=text, added=1, removed=1), ChangedFile(path=text)),
            check_files=(text,),
            lost_tests=(text,),
            denials=(text,),
            would_denials=(text,),
            commit=text,
            ref=text,
            log=text,
            usage={text: text, "cost_usd": text},
        )
        for number, (id, outcome) in enumerate((("1", "quality_failed"), (text, "completed"), ("", "gated")), 1)
    ]
    run = RunRecord(
        run_id="run-1",
        methodology=text,
        agents=(text,),
        started_at=0.0,
        exit_reason=ExitReason.ERROR,
        exit_message=text,
        baseline=(check,),
    )
    question = Question(id=text, text=text, options=(text,))
    tasks = [
        Task(id="1", title=text, status="blocked", last_failure=text),
        Task(id=text, title=text, status="waiting", questions=(question,), commit_sha=text),
        Task(id="3", title=text),
    ]
    report = build_report(RunHistory(run, tuple(records)), tasks, project=text)
    with_patches = [replace(entry, diff=f"@@ {text}\n+{text}"[:16_000], diff_cut=True) for entry in report.tasks]
    return replace(report, tasks=tuple(with_patches))


def test_no_field_of_a_report_can_become_markup_in_the_page() -> None:
    text = to_html(hostile_report())
    page = Page(text)
    harmless = Page(to_html(hostile_report(HARMLESS)))
    allowed = {"html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "p", "h1"}
    allowed |= {"h2", "h3", "h4", "div", "span", "ul", "ol", "li", "dl", "dt", "dd", "b", "i", "em", "code", "pre"}
    assert {tag for tag, _ in page.tags} <= allowed | {"details", "summary"}
    names = {"class", "id", "style", "title", "role", "aria-label", "aria-labelledby", "aria-hidden", "open"}
    names |= {"lang", "charset", "name", "content", "http-equiv", "tabindex"}
    assert {name for _, attributes in page.tags for name in attributes} <= names

    def structure(page: Page) -> list[tuple[str, str | None]]:
        # Backticks make code of what is between them, and nothing else may add an element.
        return [(tag, attributes.get("class")) for tag, attributes in page.tags if tag != "code"]

    assert structure(page) == structure(harmless)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "alert(1)" in page.text
    assert "49" not in page.text.replace("{{ 7*7 }}", "")


def test_no_field_of_a_report_can_become_markup_in_markdown() -> None:
    text = to_markdown(hostile_report())
    assert all(char.isprintable() or char == "\n" for char in text)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    kinds = {child.type for token in tokens for child in [token, *(token.children or ())]}
    assert kinds.isdisjoint({"html_block", "html_inline", "link_open", "image"})
    harmless = MarkdownIt("commonmark").enable("table").parse(to_markdown(hostile_report(HARMLESS)))
    for kind in ("heading_open", "td_open", "tr_open", "fence"):
        assert [token.type for token in tokens].count(kind) == [token.type for token in harmless].count(kind), kind


def test_json_of_a_hostile_report_is_json_without_control_characters() -> None:
    text = safe_json(report_json(hostile_report()))
    assert all(char.isprintable() or char == "\n" for char in text)
    assert json.loads(text)["project"] == HOSTILE


def test_large_output_is_cut_from_its_beginning() -> None:
    report = hostile_report("`x` <b>" * 200_000)
    assert len(to_html(report)) < 600_000
    assert len(to_markdown(report)) < 900_000
    assert block("a" * 1_000_000 + "\nend").endswith("\nend")
    assert len(line("\x1b[31m" * 300_000)) <= 500


def test_colours_of_a_check_are_removed_and_other_control_characters_are_visible() -> None:
    assert block("\x1b[1;31mFAILED\x1b[0m a\r\n\x1b]8;;http://x\x1b\\b\x07") == "FAILED a\nb\\x07"


def test_a_very_long_markdown_report_leaves_out_the_output_first() -> None:
    check = CheckRecord(command="make", passed=False, output_tail="needle " * 300)
    many = [attempt(number, str(number), checks=(check,)) for number in range(1, 700)]
    text = to_markdown(build_report(history(*many), None, project="shop"))
    assert len(text) <= 900_100
    assert "needle" not in text


def test_the_page_loads_nothing() -> None:
    text = to_html(build_report(history(attempt(1)), None, project="shop"))
    assert re.findall(r"https?://|url\(|@import|\bsrc=|\bhref=|<script", text) == []
    assert "default-src 'none'" in text


def test_saved_reports_are_three_files_and_a_link_is_not_followed(tmp_path: Path) -> None:
    report = hostile_report()
    directory = save_report(tmp_path, report)
    assert sorted(os.listdir(directory)) == ["report.html", "report.json", "report.md"]
    assert json.loads((directory / "report.json").read_text())["run"]["run_id"] == "run-1"
    (tmp_path / "elsewhere").mkdir()
    os.rename(tmp_path / "reports", tmp_path / "old")
    (tmp_path / "reports").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="symbolic link"):
        save_report(tmp_path, report)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_saved_reports_are_what_is_printed(tmp_path: Path) -> None:
    report = hostile_report()
    directory = save_report(tmp_path, report)
    texts = (to_markdown(report), safe_json(report_json(report)) + "\n", to_html(report))
    names = ("report.md", "report.json", "report.html")
    assert [(directory / name).read_bytes() for name in names] == [
        text.encode("utf-8", "backslashreplace") for text in texts
    ]


def test_the_text_of_a_long_report_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    attempts = [attempt(number, str(number % 60), denials=("d" * 100,) * 30) for number in range(1, 301)]
    report = build_report(history(*attempts), [], project="shop")
    save_report(tmp_path, report)  # what is imported and compiled is not of this report
    tracemalloc.start()
    try:
        directory = save_report(tmp_path, report)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (directory / "report.json").stat().st_size + 1024 * 1024


def test_the_report_of_a_run_is_written_into_the_state_and_a_failure_is_a_warning(loop: LoopProject) -> None:
    loop.tasks("1", status="blocked", last_failure="no key")
    with loop.open() as app:
        place = app.workplace
        History.of(place.state, place.record).begin(history().run)
        directory = write_reports(place, "run-1")
        assert directory == place.state / "reports/run-1"
        assert "samuel run reset 1" in (directory / "report.md").read_text()
        assert loop.reports == []
        assert write_reports(place, "run-2") is None
        (directory / "report.md").unlink()
        (directory / "report.md").mkdir()
        assert write_reports(place, "run-1") is None
    warnings = [report.text.partition(":")[0] for report in loop.reports if isinstance(report, LoopWarning)]
    assert warnings == ["the report of run run-2 was not written", "the report of run run-1 was not written"]


def test_the_sample_report_of_the_documentation_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    import report_sample

    current = re.sub(r"Samuel [0-9][^ ]*\.", "Samuel VERSION.", (DOCS / "sample-report.html").read_text())
    assert re.sub(r"Samuel [0-9][^ ]*\.", "Samuel VERSION.", report_sample.sample_page()) == current
    sys.modules.pop("report_sample")
    counts = msgspec.to_builtins(report_sample.sample_report())["counts"]
    assert (counts["proven"], counts["checked"]) == (6, 4)


TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1\nAssertionError: 1 == 2'


def test_the_output_of_a_failure_keeps_its_lines() -> None:
    why = f"`make test` ended with exit code 2\n{TRACEBACK}"
    records = attempt(1, "1", "quality_failed", why=why)
    report = build_report(history(records), [task("1", status="blocked", last_failure=why)], project="shop")
    assert TRACEBACK in Page(to_html(report)).text
    text = to_markdown(report)
    assert "(blocked): \\`make test\\` ended with exit code 2\n" in text
    assert "\n".join(f"    {line}" for line in TRACEBACK.split("\n")) in text


def test_the_diff_of_a_task_is_folded_in_the_page_and_a_block_in_markdown() -> None:
    files = (ChangedFile(path="a.py", added=1, removed=1),)
    report = build_report(history(attempt(1, "1", changed_files=files)), [task("1")], project="shop")
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-<b>old</b>\n+new `x`"
    report = replace(report, tasks=(replace(report.tasks[0], id="a b", diff=diff, diff_cut=True),))
    page = to_html(report)
    assert '<summary>diff</summary><pre class="patch" tabindex="0">--- a/a.py\n+++ b/a.py\n' in page
    assert '<span class="minus">-&lt;b&gt;old&lt;/b&gt;</span>\n<span class="plus">+new `x`</span></pre>' in page
    assert diff in Page(page).text
    text = to_markdown(report)
    assert f"```diff\n{diff}\n```\n" in text
    assert "samuel run show 'a b' --diff" in text
    assert "samuel run show 'a b' --diff" in Page(page).text

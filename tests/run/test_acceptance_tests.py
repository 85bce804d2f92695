"""Acceptance tests: an agent writes them before the work, they are locked, and the work is judged by them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from samuel.attempt.stop import Stop
from samuel.history.attempt_record import AttemptRecord
from samuel.history.history import History
from samuel.history.run import Run
from samuel.tasks.changes import answer, reset
from samuel.tasks.question import DROP_TESTS, KEEP_TESTS
from samuel.tasks.task import Task

from .conftest import LoopProject

CHECK = f'quality_checks = ["{sys.executable} -m pytest -q -p no:cacheprovider"]'
TWO_AGENTS = 'agents = ["mine", "other"]'
WORDS = "def plural(word):\n    return word + 's'\n"
TEST = "from words import plural\n\n\ndef test_plural():\n    assert plural('cat') == 'cats'\n"
FIXED = "def plural(word):\n    return word + ('es' if word.endswith('x') else 's')\n"
ACCEPTANCE = """\
from words import plural


def test_fox():
    assert plural('fox') == 'foxes'


def test_wax():
    assert plural('wax') == 'waxes'
"""
CLAIM = 'samuel run done "$SAMUEL_TASK_ID"\n'
HARD_CODED = "def plural(word):\n    return {'fox': 'foxes'}.get(word, word + 's')\n"


def write(path: str, text: str) -> str:
    return f"mkdir -p $(dirname {path})\ncat > {path} <<'END'\n{text}END\n"


AUTHOR = write("tests/test_accept_1.py", ACCEPTANCE)
WORKER = write("words.py", FIXED)


@pytest.fixture
def shop(loop: LoopProject) -> LoopProject:
    (loop.root / "words.py").write_text(WORDS)
    (loop.root / "tests").mkdir()
    (loop.root / "tests/conftest.py").write_text("import sys\nsys.path.insert(0, '.')\n")
    (loop.root / "tests/test_words.py").write_text(TEST)
    (loop.root / "other.sh").write_text("#!/bin/sh\n")
    configure(loop)
    loop.store.replace_all([Task(id="1", title="Fix the plural of words that end in x")])
    for command in (["add", "-A"], ["commit", "-q", "-m", "shop"]):
        subprocess.run(["git", *command], cwd=loop.root, check=True)
    return loop


def configure(loop: LoopProject, more: str = "") -> None:
    """Two agents: `mine` works, and `other` writes the acceptance tests."""
    loop.configure(f'{CHECK}\nacceptance = "agent"\n{more}')
    text = (loop.root / "samuel.toml").read_text()
    (loop.root / "samuel.toml").write_text(text.replace('agent = "mine"', TWO_AGENTS))


def agents(loop: LoopProject, author: str, worker: str, claim: str = CLAIM) -> None:
    for name, script in (("other", author), ("agent", worker + claim)):
        note = f'echo "$SAMUEL_MODE $SAMUEL_TASK_ID $SAMUEL_ATTEMPT" >> "$SAMUEL_PROJECT_ROOT/seen-{name}.md"\n'
        loop.agent(note + f'cp "$1" seen-prompt-{name}.md\n' + script, name)


def run_loop(loop: LoopProject, iterations: int = 6) -> Run:
    with loop.open() as app:
        return app.loop(Stop()).run(iterations, ["mine", "other"])


def attempts(loop: LoopProject, run: Run) -> list[AttemptRecord]:
    with loop.open() as app:
        state = loop.root / ".samuel/run"
        return list(History.of(state, app.user.record(state)).load(run.run_id).attempts)


def worked(
    loop: LoopProject, author: str = AUTHOR, worker: str = WORKER, claim: str = CLAIM
) -> list[AttemptRecord]:
    agents(loop, author, worker, claim)
    return attempts(loop, run_loop(loop))


def grade(loop: LoopProject) -> str:
    return loop.store.load()[0].grade


def summary(records: list[AttemptRecord]) -> list[tuple[str, str, str]]:
    return [(record.mode, record.agent, str(record.outcome)) for record in records]


def test_work_that_passes_the_acceptance_tests_is_proven_by_them(shop: LoopProject) -> None:
    first, second = worked(shop)
    assert summary([first, second]) == [
        ("acceptance", "other", "incomplete"),
        ("implementation", "mine", "completed"),
    ]
    assert grade(shop) == "proven"
    assert second.evidence is not None
    assert second.evidence.rests_on.startswith("2 acceptance tests that failed before pass now: ")
    assert second.acceptance is not None
    assert (second.acceptance.author, second.acceptance.hidden) == ("other", 0)
    assert second.acceptance.files == ("tests/test_accept_1.py",)
    assert (shop.root / "seen-other.md").read_text() == "acceptance 1 1\n"
    assert (shop.root / "tests/test_accept_1.py").read_text() == ACCEPTANCE


def test_worker_is_told_which_tests_are_locked_and_how_to_dispute_them(shop: LoopProject) -> None:
    worked(shop)
    prompt = (shop.root / "seen-prompt-agent.md").read_text()
    assert "they must pass: tests/test_accept_1.py" in prompt
    assert "run dispute" in prompt
    assert "Write new test files only" in (shop.root / "seen-prompt-other.md").read_text()


@pytest.mark.parametrize(
    ("author", "why"),
    [
        ("true\n", "no file was written"),
        ("exit 3\n", "exit code 3"),
        ("kill -9 $$\n", "exit code 137"),
        (WORKER + AUTHOR, "files of the project were changed: `words.py`"),
        (AUTHOR + write("extra.py", "x = 1\n"), "not tests: `extra.py`"),
        (AUTHOR + write("pytest.ini", "[pytest]\naddopts = -p no:x\n"), "not tests: `pytest.ini`"),
        (write("tests/test_accept_1.py", TEST), "they pass before any work is done"),
        (
            write("tests/test_accept_1.py", ACCEPTANCE + "\n\ndef test_cat():\n    assert True\n"),
            "they pass before",
        ),
        (write("tests/test_accept_1.py", "def test_broken():\n    1 / 0\n"), "neither by an assertion nor"),
        (write("tests/test_accept_1.py", "def test_broken(:\n"), "neither by an assertion nor"),
        (write("tests/notes.txt", "nothing\n"), "no check ran them"),
        ("ln -s test_words.py tests/test_accept_1.py\n", "not all are plain files"),
        (
            write("tests/test_more.py", ACCEPTANCE) + "rm tests/test_words.py\n",
            "were changed: `tests/test_words.py`",
        ),
    ],
)
def test_author_that_breaks_the_rules_is_asked_once_more_and_the_work_goes_on_without(
    shop: LoopProject, author: str, why: str
) -> None:
    before = sorted(path.name for path in (shop.root / "tests").iterdir())
    records = worked(shop, author)
    assert [record.mode for record in records[:2]] == ["acceptance", "acceptance"]
    assert [why in record.why or record.why for record in records[:2]] == [True, True]
    assert [record.mode for record in records[2:]] == ["implementation"] * len(records[2:])
    assert (shop.root / "seen-other.md").read_text() == "acceptance 1 1\nacceptance 1 2\n"
    assert "What was written last time is not used: " in (shop.root / "seen-prompt-other.md").read_text()
    last = records[-1]
    assert last.outcome == "completed"
    assert last.acceptance is not None
    assert why in last.acceptance.why
    assert grade(shop) == "checked"
    left = sorted(path.name for path in (shop.root / "tests").iterdir() if path.name != "__pycache__")
    assert left == before


def test_author_that_does_better_the_second_time_is_taken(shop: LoopProject) -> None:
    records = worked(shop, f'if [ "$SAMUEL_ATTEMPT" = 2 ]; then\n{AUTHOR}fi\n')
    assert [record.mode for record in records] == ["acceptance", "acceptance", "implementation"]
    assert grade(shop) == "proven"


def test_missing_name_in_acceptance_tests_is_red_and_proves_the_work(shop: LoopProject) -> None:
    tests = "from words import singular\n\n\ndef test_singular():\n    assert singular('cats') == 'cat'\n"
    work = WORDS + "\n\ndef singular(word):\n    return word[:-1]\n"
    records = worked(shop, write("tests/test_singular.py", tests), write("words.py", work))
    assert summary(records)[-1] == ("implementation", "mine", "completed")
    assert grade(shop) == "proven"


EMPTY_MODULE = write("helper.py", "") + write(
    "tests/test_helper.py", "import helper\n\n\ndef test_it():\n    assert helper\n"
)
MADE_UP = write("helper.py", "def help():\n    return 1\n") + write(
    "tests/test_helper.py", "from helper import help\n\n\ndef test_it():\n    assert help() == 1\n"
)


@pytest.mark.parametrize("work", [EMPTY_MODULE, MADE_UP, "echo '# done' >> words.py\n"])
def test_work_that_only_passes_tests_of_its_own_is_not_completed(shop: LoopProject, work: str) -> None:
    records = worked(shop, worker=work)
    assert {str(record.outcome) for record in records[1:]} == {"quality_failed"}
    assert "test_fox" in records[1].why
    assert shop.statuses() == {"1": "blocked"}


def test_hard_coded_answers_pass_only_the_tests_that_their_author_could_see(shop: LoopProject) -> None:
    configure(shop, "acceptance_visible = false\n")
    copy = 'cp tests/test_accept_1.py "seen-tests.md"\n'
    records = worked(shop, worker=copy + write("words.py", HARD_CODED))
    assert "test_wax" not in (shop.root / "seen-tests.md").read_text()
    assert "test_fox" in (shop.root / "seen-tests.md").read_text()
    assert "1 more of them" in (shop.root / "seen-prompt-agent.md").read_text()
    assert {str(record.outcome) for record in records[1:]} == {"quality_failed"}
    assert records[1].why == (
        "acceptance tests of the task fail, some of which you cannot see: tests.test_accept_1::test_wax"
    )
    hidden = [check for check in records[1].checks if check.corner == "acceptance"]
    assert [check.output_tail for check in hidden] == [""]
    logs = (shop.root / ".samuel/run/logs").rglob("*")
    assert not any("waxes" in path.read_text() for path in logs if path.is_file())
    assert shop.statuses() == {"1": "blocked"}


def test_hidden_tests_are_added_when_the_task_completes(shop: LoopProject) -> None:
    configure(shop, "acceptance_visible = false\ncommit = true\n")
    records = worked(shop)
    assert grade(shop) == "proven"
    assert records[-1].acceptance is not None
    assert records[-1].acceptance.hidden == 1
    assert records[-1].evidence is not None
    assert len(records[-1].evidence.fail_to_pass) == 2
    assert (shop.root / "tests/test_accept_1.py").read_text() == ACCEPTANCE
    landed = subprocess.run(
        ["git", "show", "HEAD:tests/test_accept_1.py"], cwd=shop.root, capture_output=True, text=True, check=True
    )
    assert landed.stdout == ACCEPTANCE


LOCKED = "tests/test_accept_1.py"
SOFT = "def test_fox():\n    assert True\n\n\ndef test_wax():\n    assert True\n"


@pytest.mark.parametrize(
    "cheat",
    [
        write(LOCKED, SOFT),
        f"rm {LOCKED}\n",
        f"mkdir tests/old && mv {LOCKED} tests/old/notes.txt\n",
        f"rm {LOCKED} && mkdir {LOCKED} && touch {LOCKED}/x\n",
        f"rm {LOCKED} && ln -s test_words.py {LOCKED}\n",
        f"git update-index --add --assume-unchanged {LOCKED} 2>/dev/null || true\n" + write(LOCKED, SOFT),
        write(LOCKED, SOFT) + "git add -A && git -c user.name=a -c user.email=a@b commit -qm cheat\n",
        write("pytest.ini", f"[pytest]\naddopts = --ignore={LOCKED}\n"),
        write("tests/conftest.py", "import sys\nsys.path.insert(0, '.')\ncollect_ignore = ['test_accept_1.py']\n"),
    ],
)
def test_worker_that_changes_the_locked_tests_is_judged_by_what_they_were(shop: LoopProject, cheat: str) -> None:
    shop.store.replace_all(
        [Task(id="1", title="Fix the plural of words that end in x", files_to_modify=("tests/", "pytest.ini"))]
    )
    records = worked(shop, worker="echo '# done' >> words.py\n" + cheat)
    assert {str(record.outcome) for record in records[1:]} == {"quality_failed"}
    assert shop.statuses() == {"1": "blocked"}


@pytest.mark.parametrize("cheat", [write(LOCKED, SOFT), f"rm {LOCKED}\n", f"rm {LOCKED} && mkdir {LOCKED}\n"])
def test_honest_work_beside_a_changed_locked_test_completes_with_the_locked_one(
    shop: LoopProject, cheat: str
) -> None:
    worked(shop, worker=WORKER + cheat)
    assert grade(shop) == "proven"
    assert (shop.root / LOCKED).read_text() == ACCEPTANCE


@pytest.mark.parametrize("kind", ["docs", "chore", "refactor"])
def test_docs_chores_and_refactorings_get_no_acceptance_tests(shop: LoopProject, kind: str) -> None:
    shop.store.replace_all([Task(id="1", title="Change words", kind=kind)])
    records = worked(shop)
    assert [record.mode for record in records] == ["implementation"]
    assert records[0].acceptance is None


def test_line_of_a_task_beats_the_setting(shop: LoopProject) -> None:
    shop.store.replace_all([Task(id="1", title="Fix the plural", acceptance_tests="none")])
    assert {record.mode for record in worked(shop)} == {"implementation"}


def test_author_cannot_claim_skip_or_add_tasks(shop: LoopProject) -> None:
    author = "".join(
        f"samuel {command} 2>> seen-errors.md && exit 9\n"
        for command in ("run done 1", "run skip 1 --reason x", "run ask why", "run enqueue more", "run dispute no")
    )
    records = worked(shop, author + AUTHOR)
    assert summary(records)[0] == ("acceptance", "other", "incomplete")
    assert "while its acceptance tests are written" in (shop.root / "seen-errors.md").read_text()
    assert [task.id for task in shop.store.load()] == ["1"]
    assert grade(shop) == "proven"


def test_dispute_parks_the_task_and_a_claim_in_that_turn_does_not_count(shop: LoopProject) -> None:
    dispute = 'samuel run dispute "wax has no plural"\nsamuel run done 1 || true\n'
    records = worked(shop, worker=WORKER + dispute, claim="")
    assert summary(records)[1] == ("implementation", "mine", "asked")
    (task,) = shop.store.load()
    assert task.status == "waiting"
    (question,) = task.open_questions
    assert question.text == "are the acceptance tests of this task right? wax has no plural"
    assert question.options == (KEEP_TESTS, DROP_TESTS)


@pytest.mark.parametrize(
    ("choice", "outcome", "mark"), [("1", "quality_failed", ""), ("2", "completed", "checked")]
)
def test_person_keeps_or_drops_disputed_tests(shop: LoopProject, choice: str, outcome: str, mark: str) -> None:
    first = (
        "if [ -e seen-disputed.md ]; then\n" + CLAIM + "else\ntouch seen-disputed.md\nsamuel run dispute why\nfi\n"
    )
    work = write("words.py", HARD_CODED)
    worked(shop, worker=work + first, claim="")
    shop.store.change(lambda tasks: answer(tasks, "q1", text=choice))
    records = attempts(shop, run_loop(shop, 2))
    assert str(records[-1].outcome) == outcome
    assert grade(shop) == mark
    if mark:
        assert records[-1].acceptance is not None
        assert records[-1].acceptance.why == "a person dropped them"
        assert not (shop.root / LOCKED).exists()


def test_dispute_without_acceptance_tests_is_refused(shop: LoopProject) -> None:
    shop.store.replace_all([Task(id="1", title="Fix the plural", acceptance_tests="none")])
    worked(shop, worker=WORKER + "samuel run dispute why 2> seen-error.md || true\n")
    assert "task `1` has no acceptance tests" in (shop.root / "seen-error.md").read_text()


def test_tests_are_written_anew_when_the_task_says_something_else(shop: LoopProject) -> None:
    worked(shop, worker="echo '# no' >> words.py\n", claim="")
    title = "Fix the plural of words that end in x or s"
    shop.store.replace_all([Task(id="1", title=title)])
    assert [record.mode for record in attempts(shop, run_loop(shop, 1))] == ["acceptance"]


def test_cost_of_the_author_is_counted(shop: LoopProject) -> None:
    usage = 'echo \'{"type": "result", "total_cost_usd": 2, "usage": {"input_tokens": 10}}\'\n'
    agents(shop, AUTHOR + usage, WORKER)
    text = (shop.root / "samuel.toml").read_text()
    (shop.root / "samuel.toml").write_text(text.replace("[agents.other]\n", '[agents.other]\nstream = "claude"\n'))
    run = run_loop(shop)
    assert run.task_usage["1"]["cost_usd"] == 2


def test_a_run_without_checks_goes_on_without_acceptance_tests_and_says_so(shop: LoopProject) -> None:
    text = (shop.root / "samuel.toml").read_text()
    (shop.root / "samuel.toml").write_text(text.replace(CHECK, ""))
    (record,) = worked(shop)
    assert record.acceptance is not None
    assert record.acceptance.why.startswith("`quality_checks` is empty")


@pytest.mark.parametrize(("work", "mark"), [(WORKER, "proven"), (write("words.py", HARD_CODED), "")])
def test_evidence_in_place_is_judged_by_hidden_tests_as_well(shop: LoopProject, work: str, mark: str) -> None:
    configure(shop, 'acceptance_visible = false\nevidence = "in place"\n')
    worked(shop, worker=work)
    assert grade(shop) == mark
    if mark:
        assert (shop.root / LOCKED).read_text() == ACCEPTANCE


def test_file_that_other_work_put_in_the_place_of_a_locked_one_is_not_overwritten(shop: LoopProject) -> None:
    worked(shop, worker="echo '# no' >> words.py\n", claim="")
    other = "def test_other():\n    assert True\n"
    (shop.root / LOCKED).write_text(other)
    for command in (["add", "-A"], ["commit", "-q", "-m", "other work"]):
        subprocess.run(["git", *command], cwd=shop.root, check=True)
    shop.store.change(lambda tasks: reset(tasks, "1"))
    records = worked(shop)
    assert records[-1].acceptance is not None
    assert records[-1].acceptance.why == f"`{LOCKED}` is another file of the project by now"
    assert (shop.root / LOCKED).read_text() == other


def test_report_says_which_acceptance_tests_there_were(shop: LoopProject) -> None:
    agents(shop, "true\n", WORKER)
    directory = shop.root / ".samuel/run/reports" / run_loop(shop).run_id
    report = (directory / "report.md").read_text()
    assert r"**Acceptance tests:** none\: no file was written" in report
    assert "no acceptance tests: no file was written" in report
    assert "Acceptance tests: none: no file" in (directory / "report.html").read_text()


def test_hidden_tests_of_one_task_are_old_ones_for_the_author_of_the_next(shop: LoopProject) -> None:
    configure(shop, "acceptance_visible = false\n")
    shop.store.replace_all([Task(id=id, title=f"Add the words of {id}") for id in "12"])
    tests = "".join(
        f"def test_{name}():\n    assert __import__('w$SAMUEL_TASK_ID').word() == 1\n\n\n"
        for name in ("one", "two")
    )
    author = f'cat > "tests/test_accept_$SAMUEL_TASK_ID.py" <<END\n{tests}END\n'
    records = worked(shop, author, 'printf "def word():\\n    return 1\\n" > "w$SAMUEL_TASK_ID.py"\n')
    assert [(record.task_id, record.mode) for record in records] == [
        ("1", "acceptance"),
        ("1", "implementation"),
        ("2", "acceptance"),
        ("2", "implementation"),
    ]
    assert [task.grade for task in shop.store.load()] == ["proven", "proven"]

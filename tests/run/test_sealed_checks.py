"""Sealed checks: programs outside of the project, which an agent did not write and in a sandbox cannot read."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import samuel
from samuel.history.attempt_record import AttemptRecord, EvidenceRecord
from samuel.history.history import History
from samuel.history.notices import CheckEnded, LoopWarning
from samuel.history.run import Run
from samuel.tasks.task import Task

from .conftest import INSTALLED, LoopProject

CHECK = f'quality_checks = ["{INSTALLED} -m unittest discover -q -s tests -t ."]'
WORDS = "def plural(word):\n    return word + 's'\n"
TEST = """\
import unittest

from words import plural


class PluralTest(unittest.TestCase):
    def test_cat(self):
        self.assertEqual(plural("cat"), "cats")
"""
HONEST = "def plural(word):\n    return word + ('es' if word.endswith('x') else 's')\n"
HARD_CODED = "def plural(word):\n    return {'fox': 'foxes'}.get(word, word + 's')\n"
MADE_UP = WORDS + "\n\ndef plural_of_x(word):\n    return 'foxes'\n"
FOX_TEST = TEST + '\n    def test_fox(self):\n        self.assertEqual(plural("fox"), "foxes")\n'
MADE_UP_TEST = FOX_TEST.replace("import plural", "import plural, plural_of_x").replace(
    'plural("fox"', 'plural_of_x("fox"'
)
SEALED = """\
#!{python}
import os, sys
sys.path.insert(0, os.getcwd())
SECRET = "wax and tax"
from words import plural
if os.environ["SAMUEL_TASK_ID"] == "1" and plural("wax") != "waxes":
    print("the output names", SECRET)
    with open(os.environ["SAMUEL_MESSAGE_FILE"], "w") as file:
        file.write("words in -x get -es")
    sys.exit(1)
"""
CLAIM = 'samuel run done "$SAMUEL_TASK_ID"\n'


def write(path: str, text: str) -> str:
    return f"cat > {path} <<'END'\n{text}END\n"


@pytest.fixture
def acceptance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the sealed check."""
    directory = tmp_path_factory.mktemp("acceptance")
    seal(directory / "run", SEALED.format(python=INSTALLED))
    return directory


def seal(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def words(loop: LoopProject, acceptance: Path) -> LoopProject:
    (loop.root / "words.py").write_text(WORDS)
    (loop.root / "tests").mkdir()
    (loop.root / "tests/__init__.py").touch()
    (loop.root / "tests/test_words.py").write_text(TEST)
    configure(loop, acceptance)
    for command in (["add", "-A"], ["commit", "-q", "-m", "words"]):
        subprocess.run(["git", *command], cwd=loop.root, check=True)
    loop.store.replace_all([Task(id="1", title="Fix the plural of words in -x")])
    return loop


def configure(loop: LoopProject, acceptance: Path, *more: str) -> None:
    relative = os.path.relpath(acceptance / "run", loop.root)
    loop.configure("\n".join((CHECK, f'sealed_checks = ["{relative}"]', *more)))


def attempts(loop: LoopProject, run: Run) -> tuple[AttemptRecord, ...]:
    with loop.open() as app:
        state = loop.root / ".samuel/run"
        return History.of(state, app.user.record(state)).load(run.run_id).attempts


def judged(
    loop: LoopProject, *steps: str, iterations: int = 1
) -> tuple[list[str], str, tuple[AttemptRecord, ...]]:
    loop.agent("".join(steps) + CLAIM)
    records = attempts(loop, loop.run(iterations))
    return [record.outcome for record in records], loop.store.load()[0].grade, records


def evidence_of(record: AttemptRecord) -> EvidenceRecord:
    assert record.evidence is not None
    return record.evidence


def corners(record: AttemptRecord) -> dict[str, bool]:
    return {check.corner: check.passed for check in record.checks if check.corner.startswith("sealed")}


def test_sealed_check_that_was_red_before_proves_work_without_a_test(words: LoopProject) -> None:
    outcomes, grade, (record,) = judged(words, write("words.py", HONEST))
    assert (outcomes, grade) == (["completed"], "proven")
    assert corners(record) == {"sealed": True, "sealed before": False}
    assert "`run (sealed)` failed before the work and passes with it" in evidence_of(record).rests_on


def test_report_says_that_nothing_was_sealed_on_the_host(words: LoopProject) -> None:
    _, _, (record,) = judged(words, write("words.py", HONEST))
    assert evidence_of(record).sealed.startswith("no (the agent works without a sandbox")
    (page,) = (words.root / ".samuel/run").glob("**/report.md")
    assert "sealed\\: no" in page.read_text()


@pytest.mark.parametrize(
    ("source", "test"), [(HARD_CODED, FOX_TEST), (MADE_UP, MADE_UP_TEST)], ids=["hard-coded", "made-up function"]
)
def test_work_that_fits_only_its_own_test_is_refused(words: LoopProject, source: str, test: str) -> None:
    cheat = (write("words.py", source), write("tests/test_words.py", test))
    outcomes, grade, (record,) = judged(words, *cheat)
    assert (outcomes, grade) == (["quality_failed"], "")
    assert record.why == "the sealed check `run` ended with exit code 1: words in -x get -es"
    words.configure(CHECK)  # without a sealed check the same work is proven: its tests are its own
    words.store.replace_all([Task(id="1", title="Fix the plural of words in -x")])
    _, grade, _ = judged(words, *cheat)
    assert grade.startswith("proven")


def test_agent_reads_name_and_message_and_neither_output_nor_path(words: LoopProject, acceptance: Path) -> None:
    words.agent(f'cp "$1" "seen-$SAMUEL_ITERATION.md"\n{write("words.py", HARD_CODED)}{CLAIM}')
    words.run(2)
    prompt = (words.root / "seen-2.md").read_text()
    assert "the sealed check `run` ended with exit code 1: words in -x get -es" in prompt
    state_files = [file for file in (words.root / ".samuel/run").rglob("*") if file.is_file()]
    assert state_files
    for file in state_files:
        content = file.read_bytes()
        assert b"wax" not in content, file
        assert str(acceptance).encode() not in content, file


def test_output_of_a_sealed_check_is_kept_for_a_person(words: LoopProject) -> None:
    judged(words, write("words.py", HARD_CODED))
    (log,) = words.project.user.record(words.root / ".samuel/run").glob("sealed/*.log")
    assert "the output names wax and tax" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0
    warnings = [report.text for report in words.reports if isinstance(report, LoopWarning)]
    assert [text for text in warnings if str(log) in text] == [
        f"the sealed check `run` ended with exit code 1; its output is in `{log}`, not in the report"
    ], "once, though it ran twice"


def test_sealed_check_that_is_green_before_proves_nothing_and_says_so(
    words: LoopProject, acceptance: Path
) -> None:
    seal(acceptance / "run", "#!/bin/sh\nexit 0\n")
    words.store.replace_all([Task(id="1", title="Fix the plural", kind="refactor")])
    outcomes, grade, (record,) = judged(words, write("words.py", HONEST))
    assert (outcomes, grade) == (["completed"], "checked")
    assert "`run (sealed)` passes before the work as well, so it proves nothing" in evidence_of(record).rests_on


def test_sealed_check_runs_for_claims_alone_and_not_in_the_baseline(words: LoopProject) -> None:
    words.agent("echo '# more' >> words.py\n")
    words.run(1)
    assert not [report for report in words.reports if isinstance(report, CheckEnded) and report.command == "run"]


def test_sealed_check_that_times_out_refuses_the_claim(words: LoopProject, acceptance: Path) -> None:
    seal(acceptance / "run", "#!/bin/sh\nsleep 600\n")
    configure(words, acceptance, "[methodology.ralph.hooks.'quality.check']", 'timeout = "3s"')
    outcomes, _, (record,) = judged(words, write("words.py", HONEST))
    assert outcomes == ["quality_failed"]
    assert record.why == "the sealed check `run` was killed after 3s"


def test_sealed_check_that_times_out_before_the_work_proves_nothing(words: LoopProject, acceptance: Path) -> None:
    seal(acceptance / "run", "#!/bin/sh\ngrep -q endswith words.py || sleep 600\n")
    configure(words, acceptance, "[methodology.ralph.hooks.'quality.check']", 'timeout = "3s"')
    words.store.replace_all([Task(id="1", title="Fix the plural", kind="refactor")])
    assert judged(words, write("words.py", HONEST))[:2] == (["completed"], "checked")


def test_flaky_sealed_check_counts_as_passed_and_never_as_proof(words: LoopProject, acceptance: Path) -> None:
    seal(acceptance / "run", f"#!/bin/sh\ntest -e {acceptance}/ran || {{ touch {acceptance}/ran; exit 1; }}\n")
    words.store.replace_all([Task(id="1", title="Fix the plural", kind="refactor")])
    outcomes, grade, (record,) = judged(words, write("words.py", HONEST))
    assert (outcomes, grade) == (["completed"], "checked")
    assert [check.flaky for check in record.checks if check.corner == "sealed"] == [True]


def test_sealed_check_that_vanishes_ends_the_run(words: LoopProject, acceptance: Path) -> None:
    words.agent(f"rm -rf {acceptance}\n{write('words.py', HONEST)}{CLAIM}")
    run = words.run(3)
    assert run.exit_reason == "error"
    assert "the sealed check `run` is gone" in run.exit_message
    assert words.statuses() == {"1": "pending"}


def test_proof_off_runs_sealed_checks_on_the_work_alone(words: LoopProject, acceptance: Path) -> None:
    configure(words, acceptance, 'proof = "off"')
    outcomes, grade, (record,) = judged(words, write("words.py", HONEST))
    assert (outcomes, grade, corners(record)) == (["completed"], "checked", {"sealed": True})


def test_work_without_other_checks_is_judged_by_sealed_checks(words: LoopProject, acceptance: Path) -> None:
    words.configure(f'sealed_checks = ["{acceptance}/run"]')
    assert judged(words, write("words.py", HARD_CODED))[0] == ["quality_failed"]
    assert judged(words, write("words.py", HONEST))[:2] == (["completed"], "proven")


class TestSandbox:
    @pytest.fixture
    def confined(self, words: LoopProject, acceptance: Path) -> LoopProject:
        if shutil.which("bwrap") is None:
            pytest.skip("bubblewrap is not installed")
        words.project.user.cache.mkdir(exist_ok=True)
        readable = (Path(samuel.__file__).parents[2], words.project.user.cache)
        volumes = ", ".join(f'"{path}:{path}:ro"' for path in readable)
        configure(words, acceptance, f'sandbox = {{ kind = "bwrap", volumes = [{volumes}] }}')
        return words

    @pytest.fixture
    def acceptance(self) -> Iterator[Path]:
        """Not below /tmp, of which a sandbox shows nothing anyway."""
        directory = Path("/var/lib") if os.geteuid() == 0 else Path(pwd.getpwuid(os.getuid()).pw_dir)
        place = directory / f"samuel-acceptance-{os.getpid()}-{time.monotonic_ns()}"
        place.mkdir()
        seal(place / "run", SEALED.format(python=INSTALLED))
        yield place
        shutil.rmtree(place)

    def test_agent_cannot_read_the_check_that_proves_its_work(
        self, confined: LoopProject, acceptance: Path
    ) -> None:
        look = f"cat {acceptance}/run > looked.txt 2>&1 || echo unreadable >> looked.txt\n"
        look += f"ls {acceptance} >> looked.txt || true\n"
        outcomes, grade, (record,) = judged(confined, look, write("words.py", HONEST))
        assert (outcomes, grade) == (["completed"], "proven")
        listing = (confined.root / "looked.txt").read_text()
        assert "unreadable" in listing
        assert "wax" not in listing
        assert "run\n" not in listing
        assert evidence_of(record).sealed == "yes"

    def test_agent_cannot_write_the_check(self, confined: LoopProject, acceptance: Path) -> None:
        before = (acceptance / "run").read_text()
        disarm = f"printf '#!/bin/sh\\n' > {acceptance}/run; rm -rf {acceptance} || true\n"
        assert judged(confined, disarm, write("words.py", HARD_CODED))[0] == ["quality_failed"]
        assert (acceptance / "run").read_text() == before

    def test_other_checks_run_code_of_the_agent_and_cannot_read_it_either(
        self, confined: LoopProject, acceptance: Path
    ) -> None:
        spy = f"import pathlib\nraise SystemExit(pathlib.Path('{acceptance}/run').read_text())\n"
        _, _, (record,) = judged(confined, write("tests/test_spy.py", spy), write("words.py", HARD_CODED))
        assert "wax" not in record.why
        assert "wax" not in "".join(check.output_tail for check in record.checks)

    def test_what_judged_code_copies_out_of_the_check_is_not_found_by_the_next_agent(
        self, confined: LoopProject, acceptance: Path
    ) -> None:
        copy = f"    pathlib.Path('stolen.txt').write_text(open('{acceptance}/run').read())\n"
        thief = f"import pathlib\ntry:\n{copy}except OSError:\n    pass\n{HARD_CODED}"
        rooms = confined.project.user.record(confined.root / ".samuel/run")
        look = f"cat {rooms}/room/*/stolen.txt {rooms}/sealed/* > looked.txt 2>&1 || true\n"
        judged(confined, look, write("words.py", thief), iterations=2)
        assert list(rooms.glob("room/*/stolen.txt")), "the check was not copied, so this test shows nothing"
        assert "wax" not in (confined.root / "looked.txt").read_text()


LOOP = """
import sys
from samuel.app import App, Overrides
from samuel.attempt.stop import Stop

with App(".", overrides=Overrides(trust_everything=True)) as app:
    print(app.loop(Stop()).run(5, ["mine"]).exit_reason)
"""


@pytest.mark.parametrize("corner", ["on the attempt", "on the verified tree"])
def test_run_that_is_killed_in_a_sealed_check_resumes_with_the_same_grade(
    words: LoopProject, acceptance: Path, corner: str
) -> None:
    condition = "grep -q endswith words.py" if corner == "on the attempt" else "! grep -q endswith words.py"
    wait = f"if [ ! -e {acceptance}/release ] && {condition}; then touch {acceptance}/here; sleep 600; fi\n"
    seal(acceptance / "run", f"#!/bin/sh\n{wait}grep -q endswith words.py\n")
    words.agent(write("words.py", HONEST) + CLAIM)
    words.installed_samuel()
    command = [sys.executable, "-P", "-c", LOOP]
    with subprocess.Popen(command, cwd=words.root, start_new_session=True, stdout=subprocess.DEVNULL) as killed:
        limit = time.monotonic() + 120
        while not (acceptance / "here").exists():
            assert time.monotonic() < limit
            assert killed.poll() is None
            time.sleep(0.05)
        os.kill(killed.pid, signal.SIGKILL)
    (acceptance / "release").touch()
    finished = subprocess.run(command, cwd=words.root, capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "queue_empty"
    (task,) = words.store.load()
    assert (task.status, task.grade, task.attempts) == ("completed", "proven", 0)

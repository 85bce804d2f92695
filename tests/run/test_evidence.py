"""Nothing an agent or a check does to the task list counts, but for what it may say; killed or not."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.length import sample

import samuel
from samuel.attempt.stop import Stop
from samuel.history.notices import IterationSettled, LoopWarning
from samuel.history.run_file import RunFile
from samuel.tasks.rights import asker
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .conftest import GOOD, INSTALLED, LoopProject

PRD = ".samuel/run/prd.toon"
CLAIM = 'echo x > "work-$SAMUEL_TASK_ID.txt"; samuel run done "$SAMUEL_TASK_ID"\n'
WITHOUT_VARIABLES = "env -u SAMUEL_RUN_ID -u SAMUEL_STEP -u SAMUEL_TASK_ID -u SAMUEL_MODE"
SAMUEL = f"{sys.executable} -P -m samuel"
LOOP = """
import sys
from samuel.app import App, Overrides
from samuel.history.notices import LoopWarning
from samuel.attempt.stop import Stop

def watch(report):
    if isinstance(report, LoopWarning):
        print(report.text)

with App(".", overrides=Overrides(trust_everything=True), watch=watch) as app:
    print(app.loop(Stop()).run(int(sys.argv[1]), ["mine"]).exit_reason)
"""


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def warnings(loop: LoopProject) -> str:
    return "\n".join(report.text for report in loop.reports if isinstance(report, LoopWarning))


def record(loop: LoopProject) -> Path:
    return loop.project.user.record(loop.root / ".samuel/run")


@pytest.fixture(autouse=True)
def same_user(loop: LoopProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `samuel` of a test has the state directory of the loop."""
    monkeypatch.setenv("HOME", str(loop.project.user.home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)


@pytest.fixture(params=["host", "bwrap"])
def place(loop: LoopProject, request: pytest.FixtureRequest) -> LoopProject:
    """A loop on the host, and one whose agent and checks are in a sandbox."""
    if request.param == "bwrap":
        # Hidden where they are below /tmp: the home, there to read as a home is, and the Samuel that checks start.
        # And the compiled Python, without which each of them would compile all that it imports.
        readable = (loop.project.user.home, Path(samuel.__file__).parents[2], loop.project.user.cache)
        loop.project.user.cache.mkdir(exist_ok=True)
        volumes = ", ".join(f'"{path}:{path}:ro"' for path in readable)
        loop.settings = f'sandbox = {{ kind = "bwrap", volumes = [{volumes}] }}'
    return loop


def in_both_places(*rows: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each row on the host and in the sandbox; in the short form, every second one and every third one."""
    return [
        *(("host", *row) for row in sample(rows, every=2)),
        *(("bwrap", *row) for row in sample(rows, every=3)),
    ]


def checked_by(loop: LoopProject, command: str) -> None:
    (loop.root / "check.sh").write_text(f"{command}\nexit 0\n")
    # In place: in a clean room a check does not even find the task list.
    settings = f'{loop.settings}\nevidence = "in place"'
    loop.configure(f'{settings}\nquality_checks = ["sh check.sh > check-said.txt 2>&1"]')


class TestChecks:
    @pytest.mark.parametrize(
        ("place", "command"),
        in_both_places(
            (f"{SAMUEL} run done 2; {SAMUEL} run done 3",),
            (f"{WITHOUT_VARIABLES} {SAMUEL} run done 2; {WITHOUT_VARIABLES} {SAMUEL} run done 3",),
            (f"setsid {WITHOUT_VARIABLES} {SAMUEL} run done 2 & wait",),
            (f"sed -i s/pending/completed/ {PRD}",),
            (f"sed -i -e '/^  .2/d' -e '/^  .3/d' -e 's/tasks.3./tasks[1]/' {PRD}",),
            (f"{SAMUEL} run skip 2 --reason no; {SAMUEL} run block 3 --reason no",),
        ),
        indirect=["place"],
    )
    def test_a_check_completes_skips_and_removes_nothing(self, place: LoopProject, command: str) -> None:
        checked_by(place, command)
        place.tasks("1", "2", "3")
        place.agent(CLAIM)
        run = place.run(1)
        assert (run.exit_reason, outcomes(place)) == ("max_iterations", ["completed"])
        assert place.statuses() == {"1": "completed", "2": "pending", "3": "pending"}

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("place", "command"),
        in_both_places(
            (f"{SAMUEL} run done 1",),
            (f"{WITHOUT_VARIABLES} {SAMUEL} run done 1",),
            (f"sed -i s/false/true/ {PRD}",),
        ),
        indirect=["place"],
    )
    def test_a_check_claims_nothing(self, place: LoopProject, command: str) -> None:
        checked_by(place, command)
        place.tasks("1")
        place.agent("echo x > work.txt\n")
        place.run(1)
        assert outcomes(place) == ["incomplete"]
        assert place.statuses() == {"1": "pending"}

    @pytest.mark.slow
    def test_a_check_adds_nothing_and_is_told_why(self, place: LoopProject) -> None:
        checked_by(place, f"{SAMUEL} run enqueue more")
        place.tasks("1")
        place.agent(CLAIM)
        assert place.run().exit_reason == "queue_empty"
        assert place.statuses() == {"1": "completed"}
        check_output = (place.root / "check-said.txt").read_text()
        assert "this is a check of the run `run-" in check_output
        assert "which cannot add a task" in check_output

    def test_changes_of_a_check_to_the_tasks_are_named_in_a_warning(self, loop: LoopProject) -> None:
        checked_by(loop, f"sed -i s/pending/completed/ {PRD}")
        loop.tasks("1", "2")
        loop.agent(CLAIM)
        loop.run(1)
        assert (
            "a check changed more of the task list than it may; put back: task `2`: status was set to completed"
            in warnings(loop)
        )


class TestCommits:
    @pytest.mark.slow
    def test_a_filter_that_the_agent_set_up_completes_nothing(self, loop: LoopProject) -> None:
        loop.configure('commit = true\nquality_checks = ["true"]')
        loop.tasks("1", "2", "3")
        drop = f"{WITHOUT_VARIABLES} {SAMUEL} run done 3 > /dev/null 2>&1"
        loop.agent(
            f"echo 'sed -i s/pending/completed/ {PRD}; {drop}; touch ran; cat' > filter.sh\n"
            "git config filter.f.clean 'sh filter.sh'; echo '*.txt filter=f' > .gitattributes\n" + CLAIM
        )
        loop.run(1)
        assert (loop.root / "ran").exists()
        assert outcomes(loop) == ["completed"]
        assert loop.statuses() == {"1": "completed", "2": "pending", "3": "pending"}
        assert "a filter or a hook of the commit changed more of the task list than it may" in warnings(loop)


class TestOtherMethodologies:
    """They share the project, and an agent of one has nothing to say about the tasks of another."""

    @pytest.fixture
    def other(self, place: LoopProject) -> TaskStore:
        place.configure(place.settings, '[methodology.docs]\nagent = "other"\n')
        config = place.root / "samuel.toml"
        config.write_text(f'default_methodology = "docs"\n{config.read_text()}')
        directories = [place.root / ".samuel/run" / name for name in ("ralph", "docs")]
        own, other = (TaskStore(state, place.project.user.record(state)) for state in directories)
        own.replace_all([Task(id="1", title="a")])
        other.replace_all([Task(id="7", title="b"), Task(id="8", title="c")])
        return other

    @contextmanager
    def at_work(self, loop: LoopProject) -> Iterator[None]:
        """Meanwhile an agent of `ralph` works."""
        loop.agent("touch began; while [ ! -e go ]; do sleep 0.05; done\n" + CLAIM)
        start = LOOP.replace("Overrides(", 'Overrides(methodology="ralph", ')
        with subprocess.Popen(
            [sys.executable, "-c", start, "1"], cwd=loop.root, stdout=subprocess.PIPE, text=True
        ) as process:
            while not (loop.root / "began").exists():
                assert process.poll() is None
                time.sleep(0.05)
            try:
                yield
            finally:
                (loop.root / "go").touch()
            assert process.communicate()[0] == "queue_empty\n"

    def run(self, loop: LoopProject) -> None:
        with loop.open(methodology="ralph") as app:
            assert app.loop(Stop()).run(1, ["mine"]).exit_reason == "queue_empty"

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("place", "command"),
        in_both_places(
            ("sed -i s/pending/completed/ .samuel/run/docs/prd.toon",),
            ("rm .samuel/run/docs/prd.toon",),
            ("rm -r .samuel/run/docs; mkdir decoy; ln -s ../../decoy .samuel/run/docs",),
            (f"{WITHOUT_VARIABLES} {SAMUEL} run done 7",),
            (f"SAMUEL_METHODOLOGY=docs SAMUEL_TASK_ID=7 {SAMUEL} run done 7",),
        ),
        indirect=["place"],
    )
    def test_an_agent_cannot_change_the_tasks_of_another_methodology(
        self, place: LoopProject, other: TaskStore, command: str
    ) -> None:
        before = other.load()
        place.agent(f"{command} > said.txt 2>&1 || true\n" + CLAIM)
        self.run(place)
        assert other.load() == before
        assert other.seal is None

    @pytest.mark.slow
    def test_a_user_may_change_the_tasks_of_another_methodology_meanwhile(
        self, loop: LoopProject, other: TaskStore
    ) -> None:
        with self.at_work(loop):
            subprocess.run([*SAMUEL.split(), "run", "done", "7"], cwd=loop.root, check=True)
        assert [task.status for task in other.load()] == ["completed", "pending"]

    @pytest.mark.slow
    def test_a_run_of_another_methodology_that_starts_meanwhile_keeps_its_changes(
        self, loop: LoopProject, other: TaskStore
    ) -> None:
        loop.agent(CLAIM, "other")
        with self.at_work(loop), loop.open(methodology="docs") as app:
            assert app.loop(Stop()).run(9, ["other"]).exit_reason == "queue_empty"
        assert [task.status for task in other.load()] == ["completed", "completed"]


class TestAgents:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("place", "edit", "named"),
        in_both_places(
            (f"sed -i -e '/^  .2/d' -e '/^  .3/d' -e 's/tasks.3./tasks[1]/' {PRD}", "task `2` was removed"),
            (f"sed -i s/pending/skipped/ {PRD}", "task `2`: status was set to skipped"),
            (f"sed -i s/pending/completed/ {PRD}", "task `3`: status was set to completed"),
            (f"sed -i 's/Task 2/Nothing/' {PRD}", "task `2`: title was changed"),
        ),
        indirect=["place"],
    )
    def test_changes_to_the_rows_of_other_tasks_are_undone_and_named(
        self, place: LoopProject, edit: str, named: str
    ) -> None:
        place.configure(place.settings)
        place.tasks("1", "2", "3")
        place.agent(CLAIM + edit + "\n")
        run = place.run(1)
        assert (run.exit_reason, outcomes(place)) == ("max_iterations", ["completed"])
        assert place.statuses() == {"1": "completed", "2": "pending", "3": "pending"}
        assert [task.title for task in place.store.load()] == ["Task 1", "Task 2", "Task 3"]
        assert named in warnings(place)

    @pytest.mark.slow
    @pytest.mark.parametrize("wrapped", ["", "setsid ", "unshare -Urpf ", "unshare -Urpf --mount-proc "])
    @pytest.mark.sampled(every=2)
    def test_other_tasks_are_not_completed_by_dropping_the_variables(
        self, loop: LoopProject, wrapped: str
    ) -> None:
        if wrapped and subprocess.run([*wrapped.split(), "true"], capture_output=True, check=False).returncode:
            pytest.skip(f"`{wrapped}` does not work here")
        loop.installed_samuel()  # it finds out about its caller
        loop.tasks("1", "2")
        loop.agent(f"{wrapped}{WITHOUT_VARIABLES} samuel run done 2 > said.txt 2>&1 || true\n" + CLAIM)
        loop.run(1)
        assert loop.statuses() == {"1": "completed", "2": "pending"}
        assert "which cannot claim task `2`" in (loop.root / "said.txt").read_text()

    @pytest.mark.slow
    def test_an_agent_cannot_reset_the_attempts_of_its_task(self, loop: LoopProject) -> None:
        loop.configure(
            'quality_checks = ["test ! -f work-1.txt"]\nmax_task_attempts = 3\nmax_consecutive_failures = 9'
        )
        loop.tasks("1")
        loop.agent(f"sed -i -E 's/,false,[0-9]+,/,false,0,/' {PRD}\n" + CLAIM)
        assert loop.run(7).exit_reason == "tasks_blocked"
        assert loop.statuses() == {"1": "blocked"}
        assert outcomes(loop) == ["quality_failed"] * 3

    def test_its_own_task_marked_completed_is_a_claim_that_the_checks_decide(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["! grep -q wrong work 2> /dev/null"]\nmax_consecutive_failures = 9')
        loop.tasks("1")
        work = 'if [ "$SAMUEL_ATTEMPT" = 2 ]; then echo good > work; else echo wrong > work; fi'
        loop.agent(f"sed -i s/in_progress/completed/ {PRD}; {work}\n")
        loop.run(2)
        assert outcomes(loop) == ["quality_failed", "completed"]

    def test_a_task_file_that_is_broken_is_restored(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        loop.agent(f"echo nonsense > {PRD}\n")
        loop.run(1)
        assert outcomes(loop) == ["aborted"]
        assert loop.statuses() == {"1": "pending", "2": "pending"}
        assert loop.store.load()[0].attempts == 1
        assert "`prd.toon` cannot be read" in loop.store.load()[0].last_failure
        assert (loop.root / ".samuel/run/aside/prd.toon.1").read_text() == "nonsense\n"

    @pytest.mark.parametrize("removal", ["git clean -qfdx", f"rm {PRD}", "rm -rf .samuel/run", "rm -rf .samuel"])
    @pytest.mark.parametrize("is_first", [True, False])
    def test_an_agent_that_removes_the_task_list_is_judged_by_its_work(
        self, loop: LoopProject, removal: str, is_first: bool
    ) -> None:
        """Whether it removes it before it claims its task, or after."""
        loop.tasks("1", "2", extra={"points": 3})
        prd = loop.root / PRD
        prd.write_text("# by hand\n" + prd.read_text())
        work = f"echo work > work-$SAMUEL_TASK_ID; git add work*; {INSTALLED} -m samuel run done $SAMUEL_TASK_ID\n"
        loop.agent(f"{removal}\n{work}" if is_first else f"{work}{removal}\n")
        (loop.root / ".gitignore").write_text("/.samuel/\n")
        subprocess.run(["git", "add", "-A"], cwd=loop.root, check=True)
        loop.run(2)
        assert loop.statuses() == {"1": "completed", "2": "completed"}
        assert prd.read_text().startswith("# by hand\n")
        assert is_first or "the agent removed the task list, as `git clean -x` does; it is" in warnings(loop)
        assert "iteration 1 · task 1" in loop.progress()

    def test_removing_the_task_list_is_no_claim(self, loop: LoopProject) -> None:
        loop.tasks("1")
        loop.agent(f"echo work > work; rm {PRD}\n")
        loop.run(1)
        assert outcomes(loop) == ["incomplete"]
        assert loop.statuses() == {"1": "pending"}

    def test_the_task_file_of_the_agent_is_kept_in_the_aside_directory(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        loop.agent(CLAIM + f"sed -i 's/Task 2/A better title/' {PRD}\n")
        loop.run(1)
        assert "A better title" in (loop.root / ".samuel/run/aside/prd.toon.1").read_text()

    def test_comments_and_unknown_columns_survive_a_rebuild_of_the_task_file(self, loop: LoopProject) -> None:
        loop.tasks("1", "2", extra={"points": 3})
        prd = loop.root / PRD
        prd.write_text("# by hand\n" + prd.read_text())
        loop.agent(CLAIM + f"sed -i s/pending/skipped/ {PRD}\n")
        loop.run(1)
        assert prd.read_text().startswith("# by hand\n")
        assert [task.extra for task in loop.store.load()] == [{"points": 3}] * 2


class TestPeople:
    """From another terminal, while an agent is at work."""

    AGENT = "touch seen-begun; while [ ! -f seen-go ]; do sleep 0.02; done\n"

    @pytest.fixture(autouse=True)
    def _programs(self, fast_samuel: Path) -> None:
        self.samuel = fast_samuel / "samuel"

    def during(self, loop: LoopProject, *commands: str, agent: str = CLAIM) -> str:
        """What the loop warned of and how it ended, with these commands said while its first agent worked."""
        loop.agent(self.AGENT + agent)
        words = "".join(f"{self.samuel} {command} >> said.txt 2>&1; " for command in commands)
        script = f"while [ ! -f seen-begun ]; do sleep 0.02; done; {words}touch seen-go"
        with subprocess.Popen(["sh", "-c", script], cwd=loop.root) as person:
            ran = subprocess.run([sys.executable, "-c", LOOP, "1"], cwd=loop.root, capture_output=True, text=True)
            person.wait()
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    @pytest.mark.slow
    def test_commands_of_a_user_count_while_an_agent_works(self, loop: LoopProject) -> None:
        loop.tasks("1", "2", "3", "4", "5")
        loop.store.change(
            lambda tasks: [replace(task, status="blocked") if task.id == "5" else task for task in tasks]
        )
        out = self.during(
            loop,
            "run done 2",
            "run skip 3 --reason late",
            "run block 4 --reason later",
            "run reset 5",
            "run enqueue Six",
        )
        assert loop.statuses() == {
            "1": "completed",
            "2": "completed",
            "3": "skipped",
            "4": "blocked",
            "5": "pending",
            "6": "pending",
        }
        assert out == "max_iterations\n"
        assert loop.store.load()[5].source == "user"

    @pytest.mark.slow
    def test_new_tasks_of_a_user_and_of_the_agent_have_different_ids(self, loop: LoopProject) -> None:
        loop.tasks("1")
        self.during(loop, "run enqueue Mine", agent='samuel run enqueue "Yours"\n' + CLAIM)
        assert [(task.id, task.source) for task in loop.store.load()] == [
            ("1", "prd"),
            ("2", "user"),
            ("3", "agent"),
        ]

    @pytest.mark.slow
    def test_done_for_the_task_at_hand_is_a_claim_that_the_checks_decide(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f y"]')
        loop.tasks("1")
        self.during(loop, "run done 1", agent="echo x > y\n")
        assert (
            "task `1` is claimed; it counts when the quality checks pass" in (loop.root / "said.txt").read_text()
        )
        assert loop.statuses() == {"1": "pending"}
        loop.configure('quality_checks = ["true"]')
        for name in ("seen-begun", "seen-go"):
            (loop.root / name).unlink(missing_ok=True)
        self.during(loop, "run done 1", agent="echo x > y\n")
        assert loop.statuses() == {"1": "completed"}

    @pytest.mark.slow
    def test_forged_changes_are_named_also_if_a_user_changed_the_tasks_meanwhile(self, loop: LoopProject) -> None:
        loop.tasks("1", "2", "3")
        self.AGENT = f"sed -i 's/Task 2/Nothing/' {PRD}\n{TestPeople.AGENT}"
        out = self.during(loop, "run done 3")
        assert loop.statuses() == {"1": "completed", "2": "pending", "3": "completed"}
        assert "put back: task `2`: title was changed" in out


class TestKilled:
    AGENT = "{edit}\ntouch begun; sleep 60 & wait\n"

    def killed(self, loop: LoopProject, edit: str) -> None:
        """A run whose agent did this and then was killed together with it."""
        loop.agent(self.AGENT.format(edit=edit))
        process = subprocess.Popen([sys.executable, "-c", LOOP, "5"], cwd=loop.root)
        deadline = time.monotonic() + 60
        while not (loop.root / "begun").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        loop.agent(GOOD)

    @pytest.mark.slow
    def test_a_forged_completion_does_not_survive_a_kill_of_the_run(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f work-1.txt"]')
        loop.tasks("1", "2", "3")
        self.killed(loop, f"sed -i s/pending/completed/ {PRD}")
        assert loop.statuses()["2"] == "completed"
        loop.run(1)
        assert loop.statuses() == {"1": "pending", "2": "pending", "3": "pending"}
        assert "the agent of the killed run changed more of the task list than it may" in warnings(loop)

    @pytest.mark.slow
    def test_rows_that_the_agent_of_a_killed_run_removed_come_back(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        self.killed(loop, f"rm {PRD}")
        assert loop.run().exit_reason == "queue_empty"
        assert loop.statuses() == {"1": "completed", "2": "completed"}

    @pytest.mark.slow
    def test_a_forged_settlement_is_not_applied(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f work-1.txt"]')
        loop.tasks("1")
        forge = (
            "import json,pathlib; p=pathlib.Path('.samuel/run/run.json'); r=json.loads(p.read_text()); "
            "s={'outcome':'completed','failed':False,'task_id':'1','row':{'status':'completed'}}; "
            "r['active']['1']['result']={'settlement': s}; "
            "p.write_text(json.dumps(r))"
        )
        self.killed(loop, f'{sys.executable} -c "{forge}"')
        loop.run(1)
        assert outcomes(loop) == ["quality_failed"]
        assert loop.statuses() == {"1": "pending"}
        assert "`run.json` is not what run run-" in warnings(loop)

    @pytest.mark.slow
    def test_a_run_without_a_record_is_not_resumed_and_loses_no_task(self, loop: LoopProject) -> None:
        loop.configure('quality_checks = ["test ! -f work-1.txt"]')
        loop.tasks("1", "2")
        self.killed(loop, "")
        before = RunFile(loop.root / ".samuel/run").load()
        assert before is not None
        (record(loop) / "run.json").unlink()
        (record(loop) / "tasks.json").unlink()
        settlement = {"outcome": "completed", "failed": False, "task_id": "1", "row": {"status": "completed"}}
        file = loop.root / ".samuel/run/run.json"
        saved = json.loads(file.read_text())
        saved["active"]["1"]["result"] = {"settlement": settlement}
        file.write_text(json.dumps(saved))
        run = loop.run(1)
        assert run.run_id != before.run_id
        assert loop.statuses() == {"1": "pending", "2": "pending"}
        assert loop.store.load()[0].attempts == 1
        assert (
            f"run {before.run_id} has no record in the user's state directory, so it is not resumed"
            in warnings(loop)
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("content", ["", "{}", "[1]", "\xff"])
    @pytest.mark.sampled(every=2)
    def test_a_corrupt_record_counts_as_no_record(self, loop: LoopProject, content: str) -> None:
        loop.tasks("1", "2")
        self.killed(loop, "")
        for name in ("run.json", "tasks.json"):
            (record(loop) / name).write_text(content)
        assert loop.run().exit_reason == "queue_empty"
        assert loop.statuses() == {"1": "completed", "2": "completed"}

    @pytest.mark.slow
    @pytest.mark.parametrize("what", ["rm run.json", "echo nonsense > run.json", "rm run.json; mkdir run.json"])
    @pytest.mark.sampled(every=2)
    def test_a_run_whose_run_json_is_lost_is_resumed_from_its_record(self, loop: LoopProject, what: str) -> None:
        loop.tasks("1", "2")
        self.killed(loop, f"(cd .samuel/run; {what})")
        (recorded,) = json.loads((record(loop) / "run.json").read_text())["run_id"].split()
        run = loop.run()
        assert (run.run_id, run.exit_reason) == (recorded, "queue_empty")

    @pytest.mark.slow
    def test_a_user_may_change_tasks_before_a_killed_run_is_resumed(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        self.killed(loop, f"sed -i s/pending/skipped/ {PRD}")
        sealed = TaskStore(loop.root / ".samuel/run", record(loop))
        who = asker({}, sealed.seal)
        sealed.change(lambda tasks: who.done(tasks, "1", at="now", commit=""), trusted=who.trusted)
        loop.run(1)
        assert loop.statuses() == {"1": "completed", "2": "completed"}
        assert loop.store.load()[0].iteration == 1

    @pytest.mark.slow
    def test_run_init_force_forgets_the_record_of_the_last_run(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        self.killed(loop, "")
        TaskStore(loop.root / ".samuel/run", record(loop)).replace_all([])
        assert TaskStore(loop.root / ".samuel/run", record(loop)).seal is None


def test_a_read_only_home_is_a_warning_and_the_loop_works(loop: LoopProject) -> None:
    loop.tasks("1", "2")
    runs = loop.project.user.state / "runs"
    runs.parent.mkdir(parents=True, exist_ok=True)
    runs.write_text("in the way")
    loop.agent(CLAIM + f"sed -i s/pending/completed/ {PRD}\n")
    loop.run(1)
    assert loop.statuses() == {"1": "completed", "2": "pending"}
    assert "there is no record of this run, so it cannot be resumed: " in warnings(loop)

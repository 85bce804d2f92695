"""What a run shows comes from the loop: no handler that is replaced or taken out changes it."""

from __future__ import annotations

import json
import re

import pytest

from samuel.events import names

from .conftest import CONFIG, GOOD, steady

AGENT = """\
#!/bin/sh
[ "$1" = hook ] && { echo agent.invoke; exit; }
echo x >> work-1
echo '{"exit_code": 0, "stdout": "", "stderr": "", "claimed": true, "usage": {"cost_usd": 0.5}}'
"""
PILOT = CONFIG + "[methodology.ralph.pilot]\nenabled = true\n"
FINDS = """\
if [ "$SAMUEL_MODE" = discovery ]; then samuel run enqueue "Three" > /dev/null; else
{}fi
"""


def without_defaults(*but: str) -> str:
    return "".join(f'[hooks."{event}"]\nhandlers = []\n' for event in names.LOOP if event not in but)


@pytest.mark.slow
def test_headers_counts_and_the_end_are_shown_without_any_built_in(samuel, workshop, put):
    put(".samuel/hooks/robot", AGENT, 0o755)
    put(".samuel/hooks/says", prompt_hook("Do it."), 0o755)
    workshop.configure(
        CONFIG
        + without_defaults("agent.invoke", "before:agent.invoke")
        + '[hooks."agent.invoke"]\nhandlers = ["robot"]\n[hooks."before:agent.invoke"]\nhandlers = ["says"]\n'
    )
    ran = samuel("run", "start", "--yes")
    assert (ran.code, steady(ran.out), ran.err) == (
        0,
        "2 tasks to do, 0 done, at most 25 iterations\n"
        "iteration 1/25: 1 One\n"
        "  agent: exit code 0, $0.50\n"
        "  completed (unverified): no checks are configured; 1 of 2 tasks completed\n"
        "iteration 2/25: 2 Two\n"
        "  agent: exit code 0, $0.50\n"
        "  completed (unverified): no checks are configured; 2 of 2 tasks completed\n"
        "ended: queue_empty after 2 iterations; 2 completed (2 unverified), $1.00\n"
        "  report: .samuel/run/reports/RUN/report.html\n",
        "warning: `quality_checks` will not run: no handler runs on `quality.check`\n",
    )
    assert not (workshop.root / ".samuel/run/summary.md").exists()


def prompt_hook(text: str) -> str:
    return f'#!/bin/sh\n[ "$1" = hook ] && echo before:agent.invoke || echo \'{{"prompt": "{text}"}}\'\n'


def test_an_iteration_that_is_stopped_before_its_gate_has_a_header(samuel, workshop, put):
    put(".samuel/hooks/no", "#!/bin/sh\n[ $1 = hook ] && echo before:iteration || exit 4\n", 0o755)
    workshop.configure(CONFIG + '[hooks."before:iteration"]\nstrict = true\n')
    out = samuel("run", "start", "--yes", "--iterations", "2").out
    assert re.findall("^iteration .*", out, re.MULTILINE) == ["iteration 1/2: 1 One", "iteration 2/2: 1 One"]


@pytest.mark.slow
def test_a_discovery_has_a_header(samuel, workshop):
    workshop.configure(PILOT)
    workshop.agent(FINDS.format(GOOD))
    out = samuel("run", "start", "--yes", "--iterations", "2").out
    assert re.findall("^iteration .*", out, re.MULTILINE) == [
        "iteration 1/2: looking for tasks",
        "iteration 2/2: 1 One",
    ]


def test_a_gate_that_looks_for_tasks_outside_of_pilot_mode_is_shown(samuel, workshop, put):
    gate = '#!/bin/sh\n[ $1 = hook ] && echo iteration.gate || echo \'{"continue": true, "mode": "discovery"}\'\n'
    put(".samuel/hooks/gate", gate, 0o755)
    assert (
        "iteration 1/1: 1 One\n  looking for tasks\n" in samuel("run", "start", "--yes", "--iterations", "1").out
    )


def test_an_iteration_that_its_gate_ends_has_a_header_and_its_reason_is_kept(samuel, workshop, put):
    gate = '#!/bin/sh\n[ $1 = hook ] && echo iteration.gate || echo \'{"continue": false, "reason": "friday"}\'\n'
    put(".samuel/hooks/gate", gate, 0o755)
    ran = samuel("run", "start", "--yes")
    assert "iteration 1/25: 1 One\n  gated: friday\nended: gate_stop after 0 iterations; 2 pending\n" in ran.out
    assert "[loop.ended] gate_stop: friday\n" in (workshop.root / ".samuel/run/progress.md").read_text()


class TestReplacements:
    """A run whose agent or gate was taken over says so: once, on the screen, in progress.md and in --json."""

    TEXT = "only the last handler of `agent.invoke` runs: `robot` replaces `default`"
    SAME_ORDER = "`robot` replaces `default` on `agent.invoke`: both were given order 100. "

    @pytest.fixture(autouse=True)
    def _robot(self, workshop, put):
        put(".samuel/hooks/robot", AGENT, 0o755)

    def test_a_replaced_handler_is_named_once_on_the_screen_and_in_progress_md(self, samuel, workshop):
        out = samuel("run", "start", "--yes").out
        assert steady(out).startswith(
            f"2 tasks to do, 0 done, at most 25 iterations\n  warning: {self.TEXT}\n"
            "  check `test ! -f wrong`: ok (0.0s)\nbaseline: the checks pass\niteration 1/25"
        )
        assert out.count(self.TEXT) == 1
        assert (workshop.root / ".samuel/run/progress.md").read_text().count(f"[hooks.warning] {self.TEXT}\n") == 1

    def test_a_replaced_handler_is_a_warning_of_the_json_result(self, samuel, workshop):
        assert samuel("run", "start", "--yes", "--json").json["warnings"] == [self.TEXT]

    def test_a_handler_with_the_order_of_a_built_in_is_named_as_its_replacement(self, samuel, workshop):
        workshop.configure(CONFIG + '[hooks."agent.invoke".order]\n"robot" = 100\n')
        (warning,) = samuel("run", "start", "--yes", "--json").json["warnings"]
        assert warning.startswith(self.SAME_ORDER)


@pytest.mark.slow
def test_the_json_result_of_a_run_has_the_warnings_of_its_hooks(samuel, workshop, put):
    put(".samuel/hooks/sick", "#!/bin/sh\n[ $1 = hook ] && echo context.extra || exit 3\n", 0o755)
    warnings = samuel("run", "start", "--yes", "--json").json["warnings"]
    assert warnings == ["context.extra plugin=sick hook=sick crashed: exit code 3"]


@pytest.mark.slow
def test_a_strict_after_iteration_that_fails_makes_the_exit_code_1_and_the_run_goes_on(samuel, workshop, put):
    put(".samuel/hooks/audit", "#!/bin/sh\n[ $1 = hook ] && echo after:iteration || exit 9\n", 0o755)
    assert samuel("run", "start", "--yes", "--iterations", "1").code == 0
    (workshop.root / "work-1").unlink()  # else the second run says that the work tree is dirty
    workshop.store.replace_all([task for task in workshop.store.load() if task.status == "pending"])
    workshop.configure(CONFIG + '[hooks."after:iteration"]\nstrict = true\n')
    ran = samuel("run", "start", "--yes")
    assert (ran.code, ran.err) == (1, "warning: after:iteration: `audit` crashed: exit code 9\n")
    assert workshop.statuses == ["completed"]


@pytest.mark.slow
def test_without_its_repository_a_run_ends_with_an_error(samuel, workshop, git):
    git(workshop.root, "init", "-q")
    workshop.agent(GOOD + "rm -rf .git\n")
    ran = samuel("run", "start", "--yes")
    assert ran.code == 1
    assert steady(ran.out).endswith(
        "  aborted: the git repository `PROJECT/.git` cannot be used: it is not there any more\n"
        "ended: error after 1 iteration; 2 pending\n"
        "  report: .samuel/run/reports/RUN/report.html\n"
    )
    assert ran.err.splitlines()[-2:] == [
        "error: the git repository `PROJECT/.git` cannot be used: it is not there any more",
        "restore it before the next run: without it, changes cannot be detected",
    ]
    git(workshop.root, "init", "-q")
    answer = samuel("run", "start", "--yes", "--json").json
    assert (answer["data"]["exit_reason"], answer["error"]["message"].startswith("the git repository ")) == (
        "error",
        True,
    )


def test_without_a_handler_of_agent_invoke_no_run_starts(samuel, workshop):
    workshop.configure(CONFIG + '[hooks."agent.invoke"]\nhandlers = []\n')
    ran = samuel("run", "start", "--yes")
    assert (ran.code, ran.out, ran.err) == (
        1,
        "",
        "error: no handler runs on `agent.invoke`: no agent would be started\n"
        "`samuel hooks explain agent.invoke` shows why\n",
    )
    fields = json.dumps({"agent": "mine", "prompt": "x"})
    ran = samuel("hooks", "fire", "agent.invoke", "--really", "--payload", fields)
    assert (ran.code, ran.json["ok"], ran.json["warnings"]) == (
        1,
        False,
        ["no handler runs on `agent.invoke`; `samuel hooks explain agent.invoke` shows why"],
    )


def test_without_a_handler_that_makes_the_prompt_no_run_starts(samuel, workshop):
    workshop.configure(CONFIG + '[hooks."before:agent.invoke"]\nhandlers = []\n')
    ran = samuel("run", "start", "--yes")
    assert (ran.code, ran.err.splitlines()[0]) == (
        1,
        "error: no handler runs on `before:agent.invoke`: there would be no prompt",
    )


def test_quality_checks_without_a_handler_are_a_warning(samuel, workshop):
    workshop.configure(CONFIG + '[hooks."quality.check"]\nhandlers = []\n')
    ran = samuel("run", "start", "--yes", "--iterations", "1")
    assert "warning: `quality_checks` will not run: no handler runs on `quality.check`\n" in ran.err


def test_commits_without_a_name_to_commit_with_are_refused_before_the_run(samuel, workshop, git):
    git(workshop.root, "init", "-q")
    git(workshop.root, "config", "user.useConfigOnly", "true")
    workshop.configure(CONFIG.replace("[methodology.ralph]\n", "[methodology.ralph]\ncommit = true\n"))
    ran = samuel("run", "start", "--yes")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-2:] == [
        "error: `commit = true` needs a name and an e-mail address that git can commit with",
        "`git config user.name NAME` and `git config user.email ADDRESS` set them; without `commit` and `branch` "
        "in samuel.toml nothing is committed",
    ]


def test_run_pilot_prints_a_profile(samuel, workshop):
    workshop.agent(FINDS.format(GOOD))
    out = samuel("run", "pilot", "--yes", "--iterations", "1", "--profile").out
    end = out.split("ended: ")[1].splitlines()
    assert (end[1].startswith("  report: "), end[2].startswith("EVENT")) == (True, True)


def test_a_dry_run_that_stops_names_its_task(samuel, workshop, put):
    put(".samuel/hooks/no", "#!/bin/sh\n[ $1 = hook ] && echo context.extra || exit 4\n", 0o755)
    workshop.configure(CONFIG + '[hooks."context.extra"]\nstrict = true\n')
    data = samuel("run", "start", "--yes", "--dry-run", "--json").json["data"]
    assert (data["task"], data["stopped"].startswith("aborted: ")) == ("1", True)


@pytest.mark.slow
def test_a_limit_that_was_reached_with_nothing_but_failures_is_not_ok(samuel, workshop):
    workshop.agent("exit 3\n")
    ran = samuel("run", "start", "--yes", "--iterations", "1")
    assert (ran.code, "ended: max_iterations after 1 iteration; 2 pending\n" in ran.out) == (1, True)
    workshop.agent(f"if [ $SAMUEL_TASK_ID = 2 ]; then exit 3; fi\n{GOOD}")
    ran = samuel("run", "start", "--yes", "--iterations", "2")
    assert (ran.code, "ended: max_iterations after 2 iterations; 1 completed, 1 pending\n" in ran.out) == (0, True)


@pytest.mark.parametrize(("command", "status"), [("skip", "skipped"), ("block", "blocked")])
def test_a_task_that_its_agent_skips_or_blocks_has_a_line_with_the_reason(samuel, workshop, command, status):
    workshop.agent(f'samuel run {command} "$SAMUEL_TASK_ID" --reason "nobody needs it" > /dev/null\n')
    assert samuel("trust", "--yes").code == 0

    screen = samuel("run", "start", "--iterations", "1").out

    assert f"  {status} by the agent: nobody needs it\n" in screen
    table = samuel("run", "show", "1").out
    assert "incomplete" not in table
    assert re.search(rf"  1  {status} +\S+ +unknown  nobody needs it\n", table), table
    assert f"{status} by the agent" in samuel("run", "report", "--markdown").out

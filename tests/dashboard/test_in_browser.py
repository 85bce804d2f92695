"""The page of a run in a real browser: it follows the run, its buttons work, and nothing in it becomes markup."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.cli.run.conftest import CONFIG, Workshop
from tests.conftest import py_guard
from tests.dashboard.browser import Browser, Page
from tests.dashboard.server_process import REAL, DashboardProcess
from tests.dashboard.test_access import status_of

from samuel.tasks.task import Task

pytestmark = pytest.mark.slow

RUNS = "document.title='ran'"
HOSTILE = f"</details><script>{RUNS}</script><img src=x onerror={RUNS}>\x1b[31m\u202e{{{{7*7}}}}"
# Task 2 asks; each attempt waits until the test lets it go on.
AGENT = """\
echo "<img src=x onerror=document.title='ran'> working"
touch "begun-$SAMUEL_TASK_ID"
while [ ! -f "../go-$SAMUEL_TASK_ID" ] && [ ! -f ../go ]; do sleep 0.05; done
if [ "$SAMUEL_TASK_ID" = 2 ] && [ ! -f ../asked ]; then
  touch ../asked
  samuel run ask "Which one? <b>x</b>" --option "first <i>" --option second
  exit 0
fi
echo x > "work-$SAMUEL_TASK_ID <b>.txt"
samuel run done "$SAMUEL_TASK_ID" > /dev/null
"""
GUARDED_AGENT = """\
call='{"ability_id": "Bash", "tool_input": {"command": "rm -rf <b>all</b>"}}'
echo "$call" | samuel emit PreAbilityCall > /dev/null || true
"""
COMMITTING = CONFIG.replace("[agents.mine]", "commit = true\n\n[agents.mine]")


def counts_of(workshop: Workshop) -> dict[str, int]:
    counts: dict[str, int] = json.loads(status_of(workshop))["data"]["counts"]
    return counts


def open_run(browser: Browser, server: DashboardProcess, width: int = 1280) -> Page:
    page = browser.page(server.address, width)
    page.click(".card a")
    page.wait("document.querySelector('[data-run]') && document.body.dataset.connection === 'there'")
    return page


def shows(page: Page, **counts: int) -> None:
    """The page comes to show these counts, and no others."""
    text = json.dumps(dict(sorted(counts.items())))
    page.wait(
        "JSON.stringify(Object.fromEntries([...document.querySelectorAll('[data-count]')]"
        ".map(e => [e.dataset.count, Number(e.textContent)]).sort())) === "
        f"JSON.stringify({text})"
    )


@pytest.fixture
def started(workshop: Workshop, servers: list[DashboardProcess]) -> DashboardProcess:
    servers.append(DashboardProcess(workshop.root))
    return servers[0]


@pytest.fixture
def let(tmp_path: Path):  # type: ignore[no-untyped-def]
    return lambda name: (tmp_path / name).touch()


@pytest.mark.parametrize("width", [360, 1280, 2200])
def test_a_run_is_watched_to_its_end_and_its_question_answered(
    browser: Browser, started: DashboardProcess, workshop: Workshop, let, width: int, tmp_path: Path
) -> None:
    workshop.configure(COMMITTING)
    for name, value in (("user.name", "Me"), ("user.email", "me@localhost")):
        subprocess.run(["git", "config", name, value], cwd=workshop.root, check=True)
    workshop.agent(AGENT)
    workshop.store.replace_all(
        [Task(id="1", title=HOSTILE), Task(id="2", title="Two"), Task(id="3", title="Three")]
    )
    run = workshop.start("--yes")
    try:
        workshop.wait_for("begun-1")
        page = open_run(browser, started, width)
        shows(page, in_progress=1, pending=2)
        page.wait("document.querySelector('[data-attempt]').innerText.includes('working')")
        let("go-1")
        workshop.wait_for("begun-2")
        shows(page, completed=1, in_progress=1, pending=1)
        let("go-2")
        workshop.wait_for("begun-3")
        shows(page, completed=1, waiting=1, in_progress=1)
        assert page.counts() == counts_of(workshop)
        # What a person types stays while the page changes.
        page.type("[data-question] input[type=text]", "a third <one>")
        let("go-3")
        shows(page, completed=2, waiting=1)
        assert page.evaluate("document.querySelector('[data-question] input[type=text]').value") == "a third <one>"
        page.click("[data-question] .answer button")
        page.wait("document.getElementById('notice').textContent.includes('is answered: a third <one>')")
        page.wait("!document.querySelector('[data-question]')")
    finally:
        let("go")
        run.wait(60)
        run.communicate()
    with workshop.start("--yes") as again:
        again.communicate(timeout=120)
    page.wait("document.querySelector('[data-phase=ended]')")
    shows(page, completed=3)
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(tmp_path / "run.png", whole=True)
    page.type("[data-task='3'] form[action$='/reject'] input[type=text]", "not <so>")
    page.click("[data-task='3'] form[action$='/reject'] button")
    shows(page, completed=2, pending=1)
    page.click("[data-task='1'] .body a")
    page.wait("document.querySelector('.patch')")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('.patch').textContent.includes('+x')")
    assert page.evaluate("document.title") != "ran"
    assert page.evaluate("document.querySelectorAll('img, main script').length") == 0


def test_pause_stop_skip_and_retry_are_buttons(
    browser: Browser, started: DashboardProcess, workshop: Workshop, let
) -> None:
    workshop.agent(AGENT)
    run = workshop.start("--yes")
    try:
        workshop.wait_for("begun-1")
        page = open_run(browser, started)
        page.click("form[action$='/pause'] button")
        page.wait("document.querySelector('form[action$=\"/resume\"]')")
        assert json.loads(status_of(workshop))["data"]["paused"]
        let("go-1")
        page.wait("document.querySelector('[data-phase=paused]')")
        shows(page, completed=1, pending=1)
        page.click("[data-task='2'] summary")
        page.type("[data-task='2'] form[action$='/skip'] input[type=text]", "not today")
        page.click("[data-task='2'] form[action$='/skip'] button")
        shows(page, completed=1, skipped=1)
        page.click("[data-task='2'] form[action$='/retry'] button")
        shows(page, completed=1, pending=1)
        page.type("header form[action$='/say'] input[type=text]", "use <b>the</b> library")
        page.click("header form[action$='/say'] button")
        page.wait("document.querySelector('header').innerText.includes('use <b>the</b> library')")
        page.click("form[action$='/resume'] button")
        workshop.wait_for("begun-2")
        page.click("form[action$='/stop'] button")  # it asks first
        page.wait("document.querySelector('.sure')")
        page.click("form[action$='/stop'] button")
        page.wait("document.getElementById('notice').textContent.includes('ends when')")
    finally:
        let("go")
        run.wait(120)
        run.communicate()
    page.wait("document.querySelector('[data-phase=ended]')")
    page.wait("document.querySelector('header').innerText.includes('interrupted')")


def test_a_page_finds_a_killed_server_and_a_killed_run_again(
    browser: Browser, started: DashboardProcess, servers: list[DashboardProcess], workshop: Workshop, let
) -> None:
    workshop.agent(AGENT)
    run = workshop.start("--yes", start_new_session=True)
    workshop.wait_for("begun-1")
    page = open_run(browser, started)
    page.wait("document.querySelector('[data-attempt]')")
    started.process.kill()
    page.wait("document.body.dataset.connection === 'lost'")
    assert "no connection since" in page.evaluate("document.getElementById('connection').textContent")
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    started.stop()
    servers.append(DashboardProcess(workshop.root, started.port))
    page.wait("document.body.dataset.connection === 'there'")
    page.wait("document.querySelector('[data-phase=\"cut off\"]')")
    assert "there was no connection from" in page.evaluate("document.getElementById('notice').textContent")
    let("go")
    with workshop.start("--yes") as again:
        again.communicate(timeout=120)
    page.wait("document.querySelector('[data-phase=ended]')")
    assert page.counts() == counts_of(workshop)
    (workshop.root / ".samuel/run/run.json").unlink()
    subprocess.run([*REAL, "run", "reset", "1"], cwd=workshop.root, check=True, capture_output=True)
    with workshop.start("--yes") as another:
        another.communicate(timeout=120)
    page.wait("document.getElementById('notice').textContent.includes('a new run began')")


def test_the_page_says_which_hook_denied_and_why(
    browser: Browser, started: DashboardProcess, workshop: Workshop, let
) -> None:
    let("go")
    workshop.agent(GUARDED_AGENT + AGENT)
    hook = workshop.root / ".samuel/hooks/mondays.py"
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text(py_guard("return {'decision': 'deny', 'reason': 'not on <b>Mondays</b>'}"))
    with workshop.start("--yes", "--accept-unguarded", "--iterations", "1") as run:
        output = run.communicate(timeout=120)
    page = open_run(browser, started)
    page.wait("document.querySelector('[data-verdict=denied]')")
    text = page.evaluate("document.querySelector('[data-verdict=denied]').innerText")
    assert "rm -rf <b>all</b>" in text, output
    assert "mondays" in text
    assert "not on <b>Mondays</b>" in text
    page.click("a[href$='/journal']")
    page.wait("document.body.innerText.includes('not on <b>Mondays</b>')")


def test_a_page_of_another_origin_can_do_nothing_in_a_browser_that_is_known(
    browser: Browser, started: DashboardProcess, workshop: Workshop, let, tmp_path: Path
) -> None:
    let("go")
    with workshop.start("--yes", "--iterations", "1") as run:
        run.communicate(timeout=120)
    page = open_run(browser, started)
    path = page.evaluate("location.pathname")
    other = DashboardProcess(workshop.root)  # another port of this host is the same site to a browser
    try:
        other_page = browser.page(f"http://127.0.0.1:{other.port}/nothing")
        other_page.call("Page.setBypassCSP", enabled=True)
        other_page.go(f"http://127.0.0.1:{other.port}/")
        target = f"http://{started.host}{path}/pause"
        other_page.evaluate(
            f"fetch({json.dumps(target)}, {{method: 'POST', mode: 'no-cors', credentials: 'include'}})"
            ".catch(() => 0)"
        )
        frame = f"http://{started.host}{path}"
        other_page.evaluate(f"document.body.innerHTML = '<iframe src={frame}></iframe>'")
        reads = f"fetch({json.dumps(frame)}, {{credentials: 'include'}}).then(a => a.text(), () => 'nothing')"
        assert other_page.evaluate(reads) == "nothing"
        other_page.evaluate(
            f"document.body.innerHTML = '<form method=post action={target}></form>', document.forms[0].submit()"
        )
        other_page.wait("document.body.innerText.includes('a page of another origin asks')")
    finally:
        other.stop()
    assert not json.loads(status_of(workshop))["data"]["paused"]


def test_ten_pages_of_one_browser_are_all_alive(
    browser: Browser, started: DashboardProcess, workshop: Workshop, let
) -> None:
    """A browser opens six connections to a host at most."""
    let("go")
    with workshop.start("--yes", "--iterations", "1") as run:
        run.communicate(timeout=120)
    first = open_run(browser, started)
    address = first.evaluate("location.href")
    pages = [first, *(browser.page(address) for _ in range(9))]
    for page in pages:
        page.wait("document.body.dataset.connection === 'there'")
    with workshop.start("--yes") as run:
        run.communicate(timeout=120)
    for page in pages:
        shows(page, completed=2)

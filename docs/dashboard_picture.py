"""Draws docs/dashboard.png: the page of a real run in Chromium.

    python docs/dashboard_picture.py         draw it again

It needs `chromium` (on Debian: `apt-get install chromium`). The agent is a shell script: the first
tasks are done, one asks a question, and the picture is taken while another one is worked on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.dashboard.browser import PROGRAM, browsing  # noqa: E402
from tests.dashboard.server_process import REAL, DashboardProcess  # noqa: E402

from samuel.tasks.store import TaskStore  # noqa: E402
from samuel.tasks.task import Task  # noqa: E402

PICTURE = ROOT / "docs" / "dashboard.png"
TITLES = (
    "Read prices from the CSV file",
    "Add items to the cart",
    "Keep carts between visits",
    "Round totals to cents",
    "Apply coupons",
    "Show the cart as JSON",
)
SETTINGS = """\
[methodology.ralph]
agent = "shop-agent"
pause = "0s"
quality_checks = ["test -f README.md"]

[agents.shop-agent]
command = ["./agent.sh"]
prompt = "stdin"
"""
AGENT = """\
#!/bin/sh
if [ "$SAMUEL_TASK_ID" = 3 ]; then
  samuel run ask "Which database holds the carts?" --option sqlite --option postgres > /dev/null
  exit 0
fi
echo "edits shop/task_$SAMUEL_TASK_ID.py"
if [ "$SAMUEL_TASK_ID" = 5 ]; then sleep 600; fi
sleep 1
mkdir -p shop
echo "DONE = True" > "shop/task_$SAMUEL_TASK_ID.py"
samuel run done "$SAMUEL_TASK_ID" > /dev/null
"""


def main() -> int:
    if PROGRAM is None:
        print("there is no Chromium; install it, on Debian with `apt-get install chromium`")
        return 1
    with tempfile.TemporaryDirectory() as directory:
        home, project = Path(directory, "home"), Path(directory, "shop")
        home.mkdir()
        os.environ |= {"HOME": str(home), "XDG_STATE_HOME": f"{home}/state", "XDG_CACHE_HOME": f"{home}/cache"}
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        _write(project)
        run = subprocess.Popen([*REAL, "run", "start", "--yes"], cwd=project, stdout=subprocess.DEVNULL)
        server = DashboardProcess(project)
        try:
            with browsing(home / "profile") as browser:
                page = browser.page(server.address, 1040, 1000)
                page.wait("document.querySelector('.card a')")
                page.click(".card a")
                page.wait("document.querySelector('[data-attempt]')?.innerText.includes('task_5.py')")
                page.wait("document.querySelectorAll('.timeline .lane').length > 4")
                page.screenshot(PICTURE)
        finally:
            server.stop()
            run.terminate()
            run.terminate()
            run.wait()
    return 0


def _write(project: Path) -> None:
    (project / ".samuel/run").mkdir(parents=True)
    (project / "samuel.toml").write_text(SETTINGS)
    (project / "README.md").write_text("# Shop\n")
    agent = project / "agent.sh"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    tasks = [Task(id=str(number), title=title) for number, title in enumerate(TITLES, start=1)]
    TaskStore(project / ".samuel/run").replace_all(tasks)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
    (project / ".git/info/exclude").write_text("agent.sh\nsamuel.toml\n.samuel/\nREADME.md\n")


if __name__ == "__main__":
    sys.exit(main())

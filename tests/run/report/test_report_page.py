"""The report in a real browser: it renders without a script, and is not wider than the screen it is read on."""

from __future__ import annotations

import html
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.run.report.test_report import hostile_report, to_html

SAMPLE = Path(__file__).parents[3] / "docs/sample-report.html"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage"),
)
# The page is put into a frame of a given width, since a window cannot be as narrow as a phone.
FRAME = """<!doctype html><body><iframe id="page" style="border:0" width="{width}" height="800" srcdoc="{page}">
</iframe><p id="result"></p><script>
const frame = document.getElementById("page");
const measure = () => {{
  const page = frame.contentDocument;
  for (const details of page.querySelectorAll("details")) details.open = true;
  const root = page.documentElement;
  const rows = [...page.querySelectorAll("h1, .lane, .card")].filter(row => row.offsetHeight > 0).length;
  const width = `width ${{root.scrollWidth}} of ${{root.clientWidth}}`;
  document.getElementById("result").textContent = `${{width}}, ${{rows}} rows, title ${{page.title.length > 0}}`;
}};
frame.addEventListener("load", measure);
</script></body>"""

needs_browser = pytest.mark.skipif(BROWSER is None, reason="NOT TESTED: there is no Chromium on this machine")


def measured(page: str, width: int, tmp_path: Path) -> str:
    """What a browser says about the page in a frame of this width."""
    wrapper = tmp_path / "frame.html"
    wrapper.write_text(FRAME.format(width=width, page=html.escape(page)), encoding="utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    argv = [str(BROWSER), *OPTIONS, profile, "--virtual-time-budget=10000", "--dump-dom", wrapper.as_uri()]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.rpartition('<p id="result">')[2].partition("</p>")[0]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("width", [360, 1280])
def test_the_sample_report_fits_the_screen(tmp_path: Path, width: int) -> None:
    rows = 1 + 3 + 6 + 14  # the headline, what waits, what to look at, and a lane for each task and for the axis
    assert measured(SAMPLE.read_text(), width, tmp_path) == f"width {width} of {width}, {rows} rows, title true"


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("text", ["x" * 5000, "\u202e" + "<b>" * 500, "`" * 999])
@pytest.mark.sampled(every=2)
def test_a_report_with_endless_words_fits_the_screen_of_a_phone(tmp_path: Path, text: str) -> None:
    assert measured(to_html(hostile_report(text)), 360, tmp_path).startswith("width 360 of 360, ")

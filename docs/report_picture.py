"""Draws docs/report.png: the top of docs/sample-report.html, as Chromium shows it.

    python docs/report_picture.py         draw it again

It needs `chromium` (on Debian: `apt-get install chromium`). Draw it when docs/sample-report.html looks different.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
PAGE = DOCS / "sample-report.html"
PICTURE = DOCS / "report.png"
SIZE = "1040,1110"  # in pixels of the page: what waits for a person, and the beginning of the timeline
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        print("there is no Chromium; install it, on Debian with `apt-get install chromium`")
        return 1
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                *(program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage"),
                *(f"--user-data-dir={profile}", f"--window-size={SIZE}", f"--screenshot={PICTURE}"),
                PAGE.as_uri(),
            ],
            check=True,
            timeout=120,
            stderr=subprocess.DEVNULL,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Handlers of installed distributions, in a real environment with a real distribution in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import samuel
from samuel.testing import SamuelProject

MODULE = """
import pathlib, samuel
pathlib.Path({canary!r}).touch()

@samuel.hook("context.extra")
def facts(event):
    return {{"extras": [{{"name": "acme.md", "content": event.plugin.name}}], "data": {{"Installed": True}}}}

@samuel.hook("TurnEnd")
def other(event):
    return None
"""
SCRIPT = """
import json, sys
import samuel
from samuel.sources.distributions import look_up, trust_name

if "agree" in sys.argv:
    with samuel.open(".") as app:
        listed = look_up(app.config.distributions)
        app.trust.agree([(trust_name(one.name), one.digest, one.text.encode()) for one in listed], at="", root="")
with samuel.open(".") as app:
    found = [[one.name, one.event, one.origin.label, str(one.status), one.reason] for one in app.handlers]
    fired = app.fire("context.extra", task={})
    print(json.dumps({
        "found": [one for one in found if one[0] != "default"],
        "calls": [[call.handler.name, str(call.outcome), call.message] for call in fired.calls],
        "result": dict(fired.result),
        "context": dict(fired.context),
    }))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The site-packages of an environment that has this Samuel, and the distribution `acme-hooks`."""
    venv.create(tmp_path / "venv", symlinks=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    ours = [sysconfig.get_path("purelib"), str(Path(samuel.__file__).parents[1])]
    (site / "samuel-of-the-tests.pth").write_text("\n".join(ours))
    (site / "acme_hooks.py").write_text(MODULE.format(canary=str(tmp_path / "canary")))
    write_metadata(site, "1.0")
    return site


def write_metadata(site: Path, version: str) -> None:
    info = site / "acme_hooks-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-hooks\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("[samuel.hooks]\nmain = acme_hooks\n")


@pytest.fixture
def run(samuel_project: SamuelProject, tmp_path: Path, site: Path) -> Callable[..., Any]:
    def run(*arguments: str) -> Any:
        done = subprocess.run(
            [tmp_path / "venv/bin/python", "-P", "-c", SCRIPT, *arguments],
            cwd=samuel_project.root,
            env={"PATH": os.environ["PATH"], "HOME": str(samuel_project.user.home)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.mark.slow
def test_a_listed_distribution_runs_once_trusted_and_is_refused_after_a_change(
    samuel_project: SamuelProject,
    tmp_path: Path,
    site: Path,
    run: Callable[..., Any],
    sh: Callable[[str, str], str],
) -> None:
    samuel_project.hook("mine", sh("context.extra", """echo '{"extras": [{"name": "mine.md", "content": ""}]}'"""))
    canary = tmp_path / "canary"

    # installed, but samuel.toml does not list it
    assert [row[0] for row in run()["found"]] == ["mine"]
    assert not canary.exists()

    # listed, but not agreed to: samuel.toml may have come with a clone
    samuel_project.config('distributions = ["acme-hooks"]')
    output = run()
    (listed,) = [row for row in output["found"] if row[0] == "acme-hooks"]
    assert listed[2:4] == ["distribution", "untrusted"]
    assert "samuel trust" in listed[4]
    assert not canary.exists()

    # agreed: it runs before the project's own, which has the last word
    output = run("agree")
    assert ["acme-hooks:facts", "context.extra"] in [row[:2] for row in output["found"]]
    assert ["acme-hooks:other", "TurnEnd"] in [row[:2] for row in output["found"]]
    assert [call[:2] for call in output["calls"]] == [["acme-hooks:facts", "ok"], ["mine", "ok"]]
    assert output["result"]["extras"][0] == {"name": "acme.md", "content": "acme-hooks"}
    assert output["context"]["Plugins"] == {"acme-hooks": {"Installed": True}}
    assert canary.exists()

    # another version is another thing to agree to; its handlers keep their places, and are refused there
    canary.unlink()
    write_metadata(site, "2.0")
    output = run()
    assert [row[1:4] for row in output["found"] if row[0].startswith("acme")] == [
        ["context.extra", "distribution", "untrusted"],
        ["TurnEnd", "distribution", "untrusted"],
    ]
    assert not canary.exists()


@pytest.mark.slow
def test_a_distribution_that_cannot_be_loaded_is_listed_as_broken(
    samuel_project: SamuelProject, site: Path, run: Callable[..., Any]
) -> None:
    samuel_project.config('distributions = ["acme-hooks"]')
    (site / "acme_hooks.py").write_text("raise RuntimeError('at import')\n")
    (broken,) = run("agree")["found"]
    assert broken[3] == "broken"
    assert "at import" in broken[4]


def test_the_interpreter_is_the_one_that_runs_samuel(tmp_path: Path, site: Path, run: Callable[..., Any]) -> None:
    """A worker sees what is installed beside Samuel: otherwise the first test would prove nothing."""
    done = subprocess.run([tmp_path / "venv/bin/python", "-c", "import acme_hooks"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([sys.executable, "-c", "import acme_hooks"], capture_output=True).returncode != 0

"""The documentation is true: every page can be followed, and the generated ones are current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from msgspec.structs import fields

from samuel.base.paths import PLUGIN_DIRS
from samuel.clients.table import AGENTS
from samuel.config import Personal, model
from samuel.confine.walls import walls
from samuel.confine.walls.places import PROTECTED
from samuel.history.run import Run, Settlement
from samuel.hooks.capability import ENV, EXEC, LOADER_NAMES, LOADER_PREFIXES, NETWORK, READ, WRITE
from samuel.hooks.handler import HandlerStatus, Origin, Outcome, Role
from samuel.plugins.lock import LockedPlugin
from samuel.plugins.model import FILE
from samuel.process.environment import PASSED
from samuel.routing.abilities.execution.call import CallStatus
from samuel.shipped.knowledge_trigger.rules import Trigger
from samuel.shipped.policy_guard.rules import NAMES
from samuel.shipped.session_stop_build_check.rules import Build
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.tasks.task import COLUMNS, STATUSES

from .story import BASE_IMAGE, INSTALLED, PAGES, ROOT, Machine, RunIds, difference, needs, rewritten

DOCS = ROOT / "docs"
TABLES = (
    *(model.Config, model.EventSettings, model.HandlerRef, model.Limits, model.Methodology),
    *(model.AgentSettings, model.SandboxSettings, model.Pilot, model.PluginSettings, Personal),
)


@pytest.fixture
def machine(
    page: Path,
    fast_samuel: Path,
    with_compiled_python: Callable[[Path], None],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> Iterator[Machine]:
    """A scratch computer, if this one has what the page needs."""
    text = page.read_text()
    # A page that kills Samuel needs the process that it was told of.
    machine = Machine(tmp_path, INSTALLED if "\n$ kill " in text else fast_samuel)
    with_compiled_python(machine.home / ".cache")
    parts = needs(text)
    if "bwrap" in parts:
        strength = walls.strength()
        if strength.kind != walls.BWRAP or strength.gaps:
            cannot(strength.why or "; ".join(strength.gaps))
    if "podman" in parts:
        # Through a file: without root's rights, that computer has images of its own.
        base = request.getfixturevalue("busybox_image")
        subprocess.run(["podman", "save", f"--output={tmp_path}/base.tar", base], check=True, capture_output=True)
        machine.run("podman", "load", "--input=../../../base.tar")
        machine.run("podman", "tag", base, BASE_IMAGE)
    yield machine
    if "podman" in parts:
        built = machine.run("podman", "images", "--quiet", "--filter=reference=localhost/samuel-docs-*").split()
        machine.run("podman", "rmi", "--force", BASE_IMAGE, *built)


def cannot(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {why}")
    pytest.skip(f"NOT TESTED: {why}")


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_followed(page: Path, machine: Machine) -> None:
    name = str(page.relative_to(ROOT))
    before = page.read_text()
    after = rewritten(before, machine)
    if after != before and "Traceback" in before and sys.version_info >= (3, 13):
        pytest.skip("NOT TESTED: this Python marks more of a traceback's lines than the page shows")
    if after != before:
        pytest.fail(
            f"{difference(name, before, after)}\n\n"
            f"if this is what it should show: `python tests/docs/story.py {name}` writes it into the page",
            pytrace=False,
        )


def test_a_page_that_calls_one_run_by_two_ids_is_found() -> None:
    ids = RunIds()
    assert ids.agree("run run-1a1e68a947f755b1c32000001 began\n", "run run-2b2f68a947f755b1c32000002 began\n")
    assert ids.agree("RUN run-1a1e68a947f\n", "RUN run-2b2f68a947f\n")
    assert not ids.agree("last run-1a1e700000055b1c32000001\n", "last run-2b2f68a947f755b1c32000002\n")
    assert ids.in_page("run-2b2f68a947f755b1c32000002, run-2b2f68a947f") == (
        "run-1a1e68a947f755b1c32000001, run-1a1e68a947f"
    )


def test_the_generated_pages_are_current() -> None:
    done = subprocess.run([sys.executable, str(DOCS / "generate.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    html = (tmp_path / "site/index.html").read_text()
    fetched = re.findall(
        r'<(?:script|img|iframe)[^>]*\bsrc="(https?:[^"]*)|<link[^>]*stylesheet[^>]*href="(https?:[^"]*)', html
    )
    assert fetched == [], "the site loads something from the network"
    files = [file for file in (tmp_path / "site").rglob("*") if file.is_file()]
    kinds = {".html", ".css", ".js", ".map", ".svg", ".png", ".json", ".xml", ".gz"}
    assert [str(file) for file in files if file.suffix not in kinds] == [], "a source file is in the site"


@pytest.mark.parametrize("page", sorted(file.name for file in ROOT.glob("*.md")))
def test_links_in_the_pages_of_the_repository_lead_to_files(page: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text()):
        assert (ROOT / target).exists(), target


def test_every_key_of_samuel_toml_is_on_its_page() -> None:
    page = (DOCS / "reference/config.md").read_text()
    keys = {field.name for table in TABLES for field in fields(table)}
    options = {"take_environment"}  # on the command line alone
    for key in keys - {"file", "line", "order_lines", "name", "config"} - options:
        spelled = "serve.idle" if key == "serve_idle" else key  # the only key of its table
        assert re.search(rf"`(\w+\.)?{spelled}`|{spelled}\.|\[{spelled}\]", page), key


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("reference/outcomes.md", [outcome.value for outcome in Outcome]),
        ("reference/outcomes.md", [status.value for status in HandlerStatus]),
        ("authoring.md", sorted({*PASSED} - {"__CF_USER_TEXT_ENCODING"})),
        ("how-to/guard-a-call.md", [role.value for role in Role]),
        (
            "how-to/order-handlers.md",
            [origin.label for origin in Origin if origin is not Origin.EMBEDDER],
        ),
        ("reference/files.md", [*COLUMNS, *STATUSES]),
        ("reference/files.md", [*Run.__struct_fields__, *Settlement.__struct_fields__]),
        ("reference/capabilities.md", [READ, WRITE, EXEC, NETWORK, ENV, *LOADER_NAMES, *LOADER_PREFIXES]),
        ("reference/capabilities.md", list(PROTECTED)),
        (
            "reference/plugin-files.md",
            [*LockedPlugin.__struct_fields__, FILE, *(f"{place}/" for place in PLUGIN_DIRS)],
        ),
        ("reference/abilities.md", [status.value for status in CallStatus]),
        (
            "how-to/guard-by-policy.md",
            ["decision", "reason", *NAMES, "environment", "path", "program", "arguments", "paths"],
        ),
        ("how-to/build-check-at-session-stop.md", list(Build.__struct_fields__)),
        ("how-to/documents-by-intent.md", list(Trigger.__struct_fields__)),
        ("how-to/use-your-agent.md", [*AGENTS, *(name for agent in AGENTS.values() for name in agent.env)]),
    ],
    ids=[
        *("outcomes", "statuses", "environment", "roles", "origins", "tasks", "run"),
        *("capabilities", "never written", "lock", "calls", "rules", "builds", "intents", "agents"),
    ],
)
def test_every_name_is_documented(page: str, words: list[str]) -> None:
    text = (DOCS / page).read_text()
    for word in words:
        assert f"`{word}`" in text, word


@pytest.mark.parametrize("name", SHIPPED_HOOKS)
def test_every_shipped_hook_has_a_page_that_enables_it(name: str) -> None:
    pages = [page for page in (DOCS / "how-to").glob("*.md") if page.name != "troubleshoot-session-hooks.md"]
    assert [page for page in pages if f"samuel hooks enable {name}" in page.read_text()]


def test_the_table_of_agents_has_the_versions_they_were_checked_with() -> None:
    page = (DOCS / "how-to/use-your-agent.md").read_text()
    for name, agent in AGENTS.items():
        version = re.escape(
            agent.checked or ("as documented, not checked" if agent.version else "ships with Samuel")
        )
        assert re.search(rf"^\| `{name}` \| [^|]+ \| {agent.prompt} \| {version} \| ", page, re.MULTILINE), name

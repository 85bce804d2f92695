"""Nothing in the repository refers to a document that is not in it."""

from __future__ import annotations

import re
import subprocess

import pytest

from .story import ROOT

THIS_FILE = "tests/docs/test_references.py"
LICENSE = "LICENSE"  # "the authors", in capitals

# Names of papers and of their parts that exist outside of the repository, in the ways that texts refer to them.
ABSENT_DOCUMENTS = {
    "a request for discussion": r"\bRFD\b|(?<![a-z])rfd[_-]?\w*\d",
    "a paper called REPO": r"\bREPO(?:'s|\b(?![_=]))",
    "a paper called PLUGIN": r"\bPLUGIN(?:'s| (?:has|asks|says|writes|wants)|, phase)\b|\b(?:of|by) PLUGIN\b",
    "a paper called CONCEPT": r"\bCONCEPT(?:'s|\b)",
    "a paper called AUTHORS": r"\bAUTHORS(?:'s|\b)",
    "papers called seeds": r"\b[Tt]he seeds?(?:'s|\b)|\bseeds (?:ask|say|want)|_seed/|_is_the_seeds",
    "sections of a design paper": r"\bdesign (?:section|paper)|\bsection \d+(?:\.\d+)* of the (?:design|concept)",
}


def tracked_text_files() -> dict[str, str]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    contents = {}
    for name in filter(None, names.split("\0")):
        file = ROOT / name
        if name not in (THIS_FILE, LICENSE) and file.is_file():
            data = file.read_bytes()
            if b"\0" not in data:
                contents[name] = data.decode("utf-8", "replace")
    return contents


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return tracked_text_files()


@pytest.mark.slow
@pytest.mark.parametrize("document", ABSENT_DOCUMENTS)
def test_no_file_refers_to_a_document_that_is_not_in_the_repository(files: dict[str, str], document: str) -> None:
    pattern = re.compile(ABSENT_DOCUMENTS[document])
    references = [
        f"{name}:{number}: {line.strip()}"
        for name, text in files.items()
        for number, line in enumerate((f"{name}", *text.splitlines()))
        if pattern.search(line)
    ]
    assert references == [], f"{document}: say the fact itself instead"


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("a request for discussion", "as RFD 0004 asks"),
        ("a request for discussion", "tests/engine/test_rfd_phase7.py"),
        ("a paper called REPO", "REPO's registration"),
        ("a paper called PLUGIN", "by PLUGIN's protocol"),
        ("a paper called PLUGIN", "the array itself, as PLUGIN has it"),
        ("papers called seeds", "what the seeds ask"),
        ("sections of a design paper", "the table of design section 2"),
    ],
)
def test_the_patterns_recognise_such_references(document: str, text: str) -> None:
    assert re.search(ABSENT_DOCUMENTS[document], text)

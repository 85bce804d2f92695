"""What a PRD says besides its tasks reaches the prompt, within its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.prompts.background import FILE, background, parts, save, save_sources
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import import_tasks, open_source

PRD = """\
---
owner: us
---
# Shop

Sell things. <!-- inline comments stay -->

<!-- a note
to myself -->

Goals
-----
- Fast checkout

## Non-goals
### Payments
No credit cards.

### Empty

## Tasks
Do them in order.

### 1 Cart
A cart.

### 2 Till
- [ ] 2.1 Receipts

## Constraints
```sh
# not a heading
```
"""
PROSE = """\
# Shop

Sell things. <!-- inline comments stay -->

## Goals
- Fast checkout

## Non-goals
### Payments
No credit cards.

## Tasks
Do them in order.

## Constraints
```sh
# not a heading
```"""


def prose_of(prd: Path) -> str:
    return import_tasks(open_source(prd.name, prd.parent, bytes)[0]).imported.prose


@pytest.fixture
def prd(tmp_path: Path) -> Path:
    file = tmp_path / "docs/prd.md"
    file.parent.mkdir()
    file.write_text(PRD)
    return file


def test_the_prose_of_a_prd_is_its_text_outside_of_the_tasks(prd: Path) -> None:
    assert prose_of(prd) == PROSE


def test_a_prd_of_nothing_but_tasks_has_no_prose(prd: Path) -> None:
    prd.write_text("# Shop\n\n## Tasks\n\n### 1 Cart\nA cart.\n")
    assert prose_of(prd) == ""


def test_the_prose_of_a_prd_whose_tasks_are_in_a_file_of_their_own_is_all_of_it(prd: Path) -> None:
    prd.write_text("# Shop\n\n- be kind\n")
    prd.with_name("tasks-prd.md").write_text("Intro.\n\n- [ ] 1 Cart\n")
    assert prose_of(prd) == "# Shop\n\n- be kind"


def test_the_background_names_the_prd_and_has_headings_below_those_of_the_prompt(
    tmp_path: Path, prd: Path
) -> None:
    save(tmp_path, tmp_path, prd, "# Shop\n\nSell.\n\n##### Deep\nx\n\n```\n# code\n```")
    assert (tmp_path / FILE).read_text().startswith("docs/prd.md\n\n# Shop\n")
    assert background(tmp_path, 1000) == (
        "From `docs/prd.md`:\n\n### Shop\n\nSell.\n\n###### Deep\nx\n\n```\n# code\n```"
    )


def test_a_long_background_ends_after_a_paragraph_and_says_where_the_rest_is(tmp_path: Path, prd: Path) -> None:
    save(tmp_path, tmp_path, prd, "One.\n\nTwo ü.\n\n" + "three " * 100)
    text = background(tmp_path, 120)
    assert text == "The beginning of `docs/prd.md`; read the file for the rest:\n\nOne.\n\nTwo ü."
    for budget in range(80, 700, 7):
        assert len(background(tmp_path, budget).encode()) <= budget


def test_code_that_is_cut_is_closed(tmp_path: Path, prd: Path) -> None:
    save(tmp_path, tmp_path, prd, "Text.\n```\n" + "code\n" * 100 + "```\n")
    assert background(tmp_path, 150).endswith("\ncode\n```")


def test_a_prd_without_prose_removes_the_background_of_the_last_one(tmp_path: Path, prd: Path) -> None:
    save(tmp_path, tmp_path, prd, "Text.")
    save(tmp_path, tmp_path, prd, "")
    assert (list(tmp_path.glob(FILE)), background(tmp_path, 1000)) == ([], "")


@pytest.mark.parametrize("make", [lambda file: file.mkdir(), lambda file: file.write_bytes(b"x" * 10_000_000)])
def test_a_background_that_an_agent_spoiled_is_left_out(tmp_path: Path, make) -> None:
    make(tmp_path / FILE)
    assert background(tmp_path, 1000) == ""


def test_documents_beside_the_tasks_share_the_budget_with_the_text(tmp_path: Path) -> None:
    change = tmp_path / "openspec/changes/prices"
    change.mkdir(parents=True)
    (change / "tasks.md").write_text("Words of the tasks.\n\n- [ ] 1.1 Store\n")
    (change / "proposal.md").write_text("# Why\nShort.\n")
    (change / "design.md").write_text("# Design\n\n" + "A long paragraph about it.\n\n" * 400)
    save_sources(tmp_path, tmp_path, import_tasks(open_source("openspec/changes/prices", tmp_path, bytes)[0]))
    text, documents = parts(tmp_path, 2000)
    assert text == "From `openspec/changes/prices/tasks.md`:\n\nWords of the tasks."
    assert [document["Name"] for document in documents] == ["proposal.md", "design.md"]
    proposal, design = (document["Text"] for document in documents)
    assert proposal == "From `openspec/changes/prices/proposal.md`:\n\n### Why\nShort."
    assert design.startswith(
        "The beginning of `openspec/changes/prices/design.md`; read the file for the rest:\n\n"
    )
    size = len(text.encode()) + sum(len(document["Text"].encode()) for document in documents)
    assert 1500 < size <= 2000
    save_sources(tmp_path, tmp_path, import_tasks(TaskSource(b"- [ ] 1 One\n")))
    assert parts(tmp_path, 2000) == ("", [])

"""One example of each format, with every optional field, written for these tests."""

from __future__ import annotations

import json
from pathlib import Path

STORIES = """\
# Shop

Sell things.

## User Stories

### US-001: Store prices
As a seller, I want prices to stay.

**Priority:** P1
**Acceptance Criteria:**
- [ ] a price is a whole number of cents
- [ ] negative prices are refused
      with a message

### US-002: Show totals (depends on US-001)
- [x] the total is below the list

Test strategy: unit tests for empty and full carts

### Story 8: Print receipts
After: US-001, US-002
"""

OPENSPEC = {
    "openspec/changes/add-prices/tasks.md": """\
## 1. Storage

- [x] 1.1 Add a table
  - [x] 1.1.1 with an index
- [ ] 1.2 Read prices (depends on 1.1)

## 2. Checks
Some words about them.

- [ ] Run them all
""",
    "openspec/changes/add-prices/proposal.md": "# Why\nPrices are lost.\n",
    "openspec/changes/add-prices/design.md": "# Design\nOne table.\n",
    "openspec/changes/add-prices/specs/prices/spec.md": "## ADDED Requirements\n",
}

SPEC_KIT = {
    "specs/001-prices/tasks.md": """\
# Tasks: Prices

## Format: `[ID] [P?] [Story] Description`

- **[P]**: can run in parallel

## Phase 1: Setup (Shared Infrastructure)

- [x] T001 Create the project
- [ ] T002 [P] Configure the linter in pyproject.toml

## Phase 2: Foundational (Blocking Prerequisites)

- [ ] T003 Store money in src/money.py

**Checkpoint**: ready

## Phase 3: User Story 1 - Prices (Priority: P1) MVP

**Goal**: prices stay

**Independent Test**: store one, restart, read it

### Tests for User Story 1

- [ ] T004 [P] [US1] Test prices in tests/test_prices.py

### Implementation for User Story 1

- [ ] T005 [US1] Store prices in src/prices.py (depends on T004)

## Phase 4: User Story 2 - Totals (Priority: P3)

- [ ] T006 [US2] Show totals

## Phase 5: Polish & Cross-Cutting Concerns

- [ ] T007 [P] Write the docs

## Dependencies & Execution Order

- **Setup (Phase 1)**: no dependencies

## Implementation Strategy

1. Complete Phase 1
""",
    "specs/001-prices/plan.md": "# Plan\nPython.\n",
    "specs/001-prices/spec.md": "# Spec\nPrices stay.\n",
}

PRD_JSON = json.dumps(
    {
        "project": "Shop",
        "branchName": "ralph/prices",
        "description": "Prices that stay",
        "verificationCommands": {"typecheck": "make types", "test": "make test"},
        "userStories": [
            {
                "id": "US-002",
                "title": "Show totals",
                "description": "As a buyer, ...",
                "acceptanceCriteria": ["the total is right", "Typecheck passes"],
                "priority": 2,
                "passes": False,
                "notes": "ask about taxes",
                "dependsOn": ["US-001"],
            },
            {"id": "US-001", "title": "Store prices", "priority": 1, "passes": True, "notes": ""},
        ],
    },
    indent=2,
)

TASK_MASTER = {
    ".taskmaster/tasks/tasks.json": json.dumps(
        {
            "master": {
                "tasks": [
                    {
                        "id": 1,
                        "title": "Store prices",
                        "description": "In cents.",
                        "details": "One table.",
                        "testStrategy": "Unit tests.",
                        "status": "in-progress",
                        "dependencies": [],
                        "priority": "high",
                        "complexity": 7,
                        "subtasks": [
                            {"id": 1, "title": "Add a table", "status": "done", "dependencies": []},
                            {"id": 2, "title": "Read it", "dependencies": [1], "acceptanceCriteria": "it reads"},
                            {"id": 3, "title": "Write it", "status": "pending", "dependencies": ["1.2", "1"]},
                        ],
                    },
                    {"id": "2", "title": "Show totals", "status": "pending", "dependencies": [1, "1.3", 99]},
                    {"id": 3, "title": "Old idea", "status": "cancelled", "dependencies": [], "priority": "low"},
                    {"id": 4, "title": "Later", "status": "deferred", "dependencies": []},
                ],
                "metadata": {"created": "2026-01-01T00:00:00Z"},
            },
            "receipts": {"tasks": [{"id": 1, "title": "Print them", "status": "pending"}], "metadata": {}},
        },
        indent=2,
    ),
    ".taskmaster/state.json": '{"currentTag": "master"}',
}

_BEADS: list[dict[str, object]] = [
    {"id": "bd-1", "title": "Prices", "status": "open", "priority": 1, "issue_type": "epic", "_type": "issue"},
    {
        "id": "bd-2",
        "title": "Store prices",
        "description": "In cents.",
        "design": "One table.",
        "acceptance_criteria": "- [ ] they stay\n- [ ] no floats",
        "notes": "ask about taxes",
        "status": "in_progress",
        "priority": 0,
        "issue_type": "task",
        "dependencies": [
            {"issue_id": "bd-2", "depends_on_id": "bd-1", "type": "parent-child"},
            {"issue_id": "bd-2", "depends_on_id": "bd-3", "type": "blocks"},
            {"issue_id": "bd-2", "depends_on_id": "bd-4", "type": "related"},
            {"issue_id": "bd-2", "depends_on_id": "bd-77", "type": "blocks"},
        ],
    },
    {
        "id": "bd-3",
        "title": "Choose a database",
        "status": "closed",
        "priority": 2,
        "closed_at": "2026-01-02T00:00:00Z",
        "issue_type": "task",
        "dependencies": [{"issue_id": "bd-3", "depends_on_id": "bd-2", "type": "blocks"}],
    },
    {"id": "bd-4", "title": "Some day", "status": "deferred", "priority": 4, "issue_type": "chore"},
    {"id": "bd-5", "title": "Gone", "status": "tombstone", "priority": 2, "issue_type": "task"},
    {"id": "bd-6", "title": "Rules", "status": "pinned", "priority": 2, "issue_type": "task"},
    {"id": "bd-7", "title": "Shape", "status": "open", "priority": 2, "issue_type": "task", "is_template": True},
    {"id": "bd-8", "title": "Hello", "status": "open", "priority": 2, "issue_type": "message"},
    {"_type": "memory", "key": "k", "value": "v"},
]
BEADS = "".join(f"{json.dumps(issue)}\n" for issue in _BEADS)

GITHUB = json.dumps(
    [
        {
            "number": 12,
            "title": "Crash on empty input",
            "body": "It crashes.\r\n\r\n- [ ] a test\r\n\r\nDepends on #11, #10 and #9\r\n`after #5`",
            "labels": [{"name": "bug"}, {"name": "priority: high"}],
            "milestone": {"title": "1.0"},
            "state": "OPEN",
            "url": "https://github.com/a/b/issues/12",
            "blockedBy": [{"number": 8}],
            "parent": {"number": 7},
        },
        {"number": 10, "title": "Read input", "body": "", "labels": [{"name": "P0"}], "state": "CLOSED"},
        {
            "number": 7,
            "title": "Input",
            "body": None,
            "labels": [],
            "state": "OPEN",
            "subIssues": [{"number": 12}],
        },
    ],
    indent=1,
)

BMAD = {
    "out/planning-artifacts/epics.md": """\
---
stepsCompleted: []
---
# Shop - Epic Breakdown

## Requirements Inventory
### Functional Requirements
FR1: prices stay

## Epic List
### Epic 1: Prices
In short.

## Epic 1: Prices

Prices stay.

### Story 1.1: Store prices

As a seller,
I want prices to stay,
So that I can sleep.

**Acceptance Criteria:**

**Given** a price
**When** it is stored
**Then** it stays
**And** it is in cents

**Given** a negative price

**Then** it is refused

### Story 1.2: Show totals

As a buyer, I want totals.
""",
    "out/planning-artifacts/architecture.md": "# Architecture\nOne table.\n",
    "out/implementation-artifacts/sprint-status.yaml": """\
# STATUS DEFINITIONS: see the docs
generated: 05-06-2026 21:30
story_location: "out/implementation-artifacts"

development_status:
  epic-1: in-progress
  1-1-store-prices: done   # reviewed
  1-2-show-totals: ready-for-dev
  1-3-print-receipts: backlog
  epic-1-retrospective: optional
""",
    "out/implementation-artifacts/1-2-show-totals.md": """\
# Story 1.2: Show totals

Status: ready-for-dev

## Story

As a buyer,
I want totals.

## Acceptance Criteria

1. the total is right
2. it is below the list

## Tasks / Subtasks

- [ ] Task 1 (AC: 1)
  - [ ] Subtask 1.1

## Dev Notes

- use cents

## Dev Agent Record
""",
}


def put(root: Path, files: dict[str, str]) -> Path:
    """Write an example; the path of its first file."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return root / next(iter(files))

"""A knowledge base with questions and the topic that each of them is about, also for the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from samuel.files import yaml
from samuel.routing.knowledge.model import KnowledgeBase
from samuel.routing.knowledge.reading import read_base

FILE = Path(__file__).parent / "labelled" / "public_office.yaml"


class Labelled(NamedTuple):
    base: KnowledgeBase
    prompts: tuple[tuple[str, str], ...]
    """What is asked, and the topic that it is about."""
    unrelated: tuple[str, ...]


def labelled(root: Path) -> Labelled:
    """The base, written below `root`. The documents of a topic lie in the directory of its name."""
    labelled_file = yaml.load(FILE.read_bytes(), FILE.name).mapping()
    indexes = [_write_files(root, topic) for topic in labelled_file["topics"]]
    _write(root / "ROUTING.md", f"---\nroute_indexes: {json.dumps(indexes)}\n---\n")
    prompts = tuple((entry["text"], entry["wants"]) for entry in labelled_file["prompts"])
    return Labelled(read_base(root), prompts, tuple(labelled_file["unrelated"]))


def _write_files(root: Path, labelled_file: dict[str, Any]) -> dict[str, str]:
    topic, file = labelled_file["topic"], f"routes/{labelled_file['topic']}.yaml"
    routes = []
    for entry in labelled_file["routes"]:
        document = f"{topic}/{entry['doc']}.md"
        _write(root / document, f"# {entry['doc']}\n")
        routes.append({"when_to_use": entry["when"], "related_docs": [{"path": document}]})
    _write(root / file, json.dumps({"routes": routes}))
    return {
        "scope": labelled_file["scope"],
        "topic": topic,
        "summary": labelled_file["summary"],
        "route_file": file,
    }


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

"""A knowledge base with questions and the topic that each of them is about, also for the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from samuel.files import yaml
from samuel.knowledge.indexes import read_base
from samuel.knowledge.model import KnowledgeBase

FILE = Path(__file__).parent / "labelled" / "public_office.yaml"


class Labelled(NamedTuple):
    base: KnowledgeBase
    prompts: tuple[tuple[str, str], ...]
    """What is asked, and the topic that it is about."""
    unrelated: tuple[str, ...]


def labelled(root: Path) -> Labelled:
    """The base, written below `root`. The documents of a topic lie in the directory of its name."""
    said = yaml.load(FILE.read_bytes(), FILE.name).mapping()
    indexes = [_written(root, topic) for topic in said["topics"]]
    _write(root / "ROUTING.md", f"---\nroute_indexes: {json.dumps(indexes)}\n---\n")
    prompts = tuple((one["text"], one["wants"]) for one in said["prompts"])
    return Labelled(read_base(root), prompts, tuple(said["unrelated"]))


def _written(root: Path, said: dict[str, Any]) -> dict[str, str]:
    topic, file = said["topic"], f"routes/{said['topic']}.yaml"
    routes = []
    for one in said["routes"]:
        document = f"{topic}/{one['doc']}.md"
        _write(root / document, f"# {one['doc']}\n")
        routes.append({"when_to_use": one["when"], "related_docs": [{"path": document}]})
    _write(root / file, json.dumps({"routes": routes}))
    return {"scope": said["scope"], "topic": topic, "summary": said["summary"], "route_file": file}


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

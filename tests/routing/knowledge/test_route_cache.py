"""What is kept of a knowledge base gives the same answers, and is noticed to be old."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.files import file_cache
from samuel.routing.knowledge.reading import read_base
from samuel.routing.knowledge.route import KnowledgeRouting, route
from samuel.version import __version__

Write = Callable[[dict[str, str]], Path]

FILES = {
    "ROUTING.md": """
        ---
        route_indexes:
          - {scope: kitchen, topic: bread, summary: Baking bread in the oven, route_file: routes/bread.yaml}
          - {scope: kitchen, topic: soup, summary: Cooking vegetables for long, route_file: routes/soup.yaml}
        ---
        """,
    "routes/bread.yaml": "routes: [{when_to_use: The dough does not rise, related_docs: [{path: docs/dough.md}]}]",
    "routes/soup.yaml": "routes: [{when_to_use: It is too salty, related_docs: [{path: docs/salt.md}]}]",
    "docs/dough.md": "# Dough",
    "docs/salt.md": "# Salt",
}


@pytest.fixture
def root(write: Write) -> Path:
    return write(FILES)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def ask(root: Path, cache: Path | None, text: str = "my dough does not rise") -> KnowledgeRouting:
    return route(read_base(root), text=text, cache=cache)


def paths_for(root: Path, cache: Path | None, text: str = "my dough does not rise") -> list[str]:
    return [document.path for document in ask(root, cache, text).documents]


def test_the_answer_is_the_same_with_a_cache_and_without(root: Path, cache: Path) -> None:
    for text in ("my dough does not rise", "too salty", "what is the capital of France?"):
        assert ask(root, cache, text) == ask(root, cache, text) == ask(root, None, text)
    assert paths_for(root, cache) == ["docs/dough.md"]


def test_a_cached_route_file_is_not_read_again(root: Path, cache: Path) -> None:
    """What was kept is changed behind its back: only who does not read the file itself is fooled."""
    assert paths_for(root, cache) == ["docs/dough.md"]
    (root / "docs/other.md").write_text("# Other")
    (cached,) = (cache / "knowledge").glob("*.msgpack")
    data = file_cache.load(cached, bytes, __version__)
    assert data
    file_cache.save(cached, data.replace(b"docs/dough.md", b"docs/other.md"), bytes, __version__)
    assert paths_for(root, cache) == ["docs/other.md"]
    (root / "routes/soup.yaml").write_text(FILES["routes/soup.yaml"])
    assert paths_for(root, cache) == ["docs/other.md"], "another file makes no difference"
    (root / "routes/bread.yaml").write_text(FILES["routes/bread.yaml"])
    assert paths_for(root, cache) == ["docs/dough.md"]


def test_a_changed_route_file_is_read_again(root: Path, cache: Path) -> None:
    assert paths_for(root, cache) == ["docs/dough.md"]
    file = root / "routes/bread.yaml"
    was = file.stat()
    file.write_text(FILES["routes/bread.yaml"].replace("dough.md", "salt.md").replace("dough", "yeast"))
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert paths_for(root, cache) == []
    assert paths_for(root, cache, "the yeast does not rise") == ["docs/salt.md"]


def test_a_changed_list_of_topics_is_noticed_despite_the_cache(root: Path, cache: Path) -> None:
    assert paths_for(root, cache, "baking in the oven") == ["docs/dough.md"]
    file = root / "ROUTING.md"
    file.write_text(file.read_text().replace("Baking bread in the oven", "Everything from flour"))
    assert paths_for(root, cache, "baking in the oven") == []
    assert paths_for(root, cache, "everything made from flour") == ["docs/dough.md"]


def test_a_missing_or_broken_route_file_is_reported_and_read_when_it_comes_back(root: Path, cache: Path) -> None:
    file = root / "routes/bread.yaml"
    assert paths_for(root, cache) == ["docs/dough.md"]
    cached = file.read_text()
    file.unlink()
    assert any("there is no such file" in note for note in ask(root, cache).reported)
    file.write_text("routes: [")
    assert any("bread.yaml" in note for note in ask(root, cache).reported)
    assert ask(root, cache).reported == ask(root, None).reported
    file.write_text(cached)
    assert paths_for(root, cache) == ["docs/dough.md"]


def test_a_cached_route_file_that_is_now_behind_a_link_is_refused(root: Path, cache: Path, tmp_path: Path) -> None:
    assert paths_for(root, cache) == ["docs/dough.md"]
    (root / "routes").rename(tmp_path / "elsewhere")
    (root / "routes").symlink_to(tmp_path / "elsewhere")
    assert paths_for(root, cache) == []
    assert ask(root, cache).reported == ask(root, None).reported


def test_a_damaged_route_cache_does_not_change_the_answer(root: Path, cache: Path) -> None:
    before = ask(root, cache)
    for file in (cache / "knowledge").iterdir():
        file.write_bytes(b"damaged")
    assert ask(root, cache) == before
    shutil.rmtree(cache)
    cache.write_text("")
    assert ask(root, cache) == before


def test_two_knowledge_bases_do_not_share_a_cache(root: Path, cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(root, other)
    (other / "routes/bread.yaml").write_text(FILES["routes/bread.yaml"].replace("dough.md", "salt.md"))
    for _ in range(2):
        assert paths_for(root, cache) == ["docs/dough.md"]
        assert paths_for(other, cache) == ["docs/salt.md"]

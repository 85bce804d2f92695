"""An index of short texts in SQLite's full-text search (FTS5), in memory or cached in a file.

SQLite finds the documents that share words with a text and ranks them: BM25, over Porter's stems. `confidence.py`
decides how sure each of them is, from the stems that are stored of every document.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from samuel.routing.relevance.confidence import FLOOR, Match, Phrases, confidence
from samuel.routing.relevance.english import EVERYDAY_WORDS, LINKS, OFF_TOPIC_WORDS, SYNONYMS
from samuel.routing.relevance.question import EnglishWords, IndexedStem, TextQuery, Vocabulary, understand
from samuel.routing.relevance.split_words import words

POOL = 64
"""Documents whose confidence is computed: the best by BM25."""

# Documents that BM25 ranks, about: words are added to the query, the rarest first, until they have so many. A word
# that thousands of documents have finds nothing that a rarer one does not find.
_RANKED = 2_500

_FORMAT = f"3 sqlite {sqlite3.sqlite_version}"  # which decides the stems
_TOKENS = "tokenize = 'porter unicode61'"
_AT_ONCE = 900  # values in one query: older versions of SQLite take no more than 999
_FIELD, _PHRASE = "\x1f", "\n"


class IndexedText(NamedTuple):
    id: str
    fields: Mapping[str, str]
    """Text by the name of its field. A line is a phrase: keywords are best given one a line."""


class Hit(NamedTuple):
    id: str
    score: float
    """How sure it is that the text asks for this document, from 0 to 1."""
    matched: Mapping[str, tuple[str, ...]]
    """The words of the text that the document has, by the field where each weighs most."""


def admit_all(id: str) -> bool:
    return True


class TextIndex:
    """Documents, searchable until it is closed: in memory, or cached in a file.

    `weights` names their fields and gives the weight of a word in each, up to 1. `answers_questions` says whether
    a question such as `what is a migration` can ask for one of them: it can for documents, not for things to do.

    What `file` holds is used if it was made with this stamp, which must change when the documents do; otherwise a
    new index is written there. A damaged file is replaced, and a file that cannot be written only costs time.
    """

    def __init__(
        self,
        documents: Callable[[], Iterable[IndexedText]],
        weights: Mapping[str, float],
        *,
        answers_questions: bool = False,
        file: Path | None = None,
        stamp: str = "",
    ) -> None:
        self._weights = weights
        self._answers_questions = answers_questions
        self._rebuild: Callable[[], sqlite3.Connection] | None = lambda: _built(file, documents, weights, stamp)
        try:
            self._database = _opened(file, weights, stamp) if file else self._rebuild()
        except sqlite3.Error:
            self._database = self._rebuild()

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def search(
        self, text: str, limit: int = 10, *, floor: float = FLOOR, admits: Callable[[str], bool] = admit_all
    ) -> list[Hit]:
        """The documents that a text asks for, the surest first and then by id; none below `floor`."""
        try:
            return self._search(text, limit, floor, admits)
        except sqlite3.DatabaseError:
            if self._rebuild is None:
                raise
            self._database.close()
            self._database, self._rebuild = self._rebuild(), None
            return self._search(text, limit, floor, admits)

    def _search(self, text: str, limit: int, floor: float, admits: Callable[[str], bool]) -> list[Hit]:
        documents = int(_about(self._database)["documents"])
        vocabulary = Vocabulary(
            documents, self._answers_questions, english(), self._stem_words, self._find_stems, self._find_words
        )
        question = understand(text, vocabulary)
        hits = []
        for id, fields in self._pool(question, admits):
            matches = (confidence(sentence, fields, self._weights) for sentence in question.sentences)
            best = max(matches, key=lambda match: match.score)
            if best.words and best.score >= floor:
                hits.append(Hit(id, best.score, _by_field(best)))
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _pool(
        self, question: TextQuery, admits: Callable[[str], bool]
    ) -> Iterator[tuple[str, dict[str, Phrases]]]:
        """The best documents by BM25, of those that may be found."""
        chosen = _rare_enough(question)
        if not chosen:
            return
        marks = ", ".join("?" * len(self._weights))
        ranked = self._database.execute(
            "SELECT id, stems FROM documents JOIN texts ON texts.doc = documents.rowid WHERE documents MATCH ?"
            f" ORDER BY bm25(documents, {marks}), texts.doc",
            (" OR ".join(f'"{word}"' for word in chosen), *self._weights.values()),
        )
        left = POOL
        for id, stems in ranked:
            if admits(id):
                yield id, dict(zip(self._weights, map(_phrases, stems.split(_FIELD)), strict=True))
                left -= 1
            if not left:
                return

    def _stem_words(self, words: Iterable[str]) -> dict[str, str]:
        return _stems(self._database, words)

    def _find_stems(self, stems: Iterable[str]) -> dict[str, IndexedStem]:
        rows = self._rows("SELECT stem, documents, word FROM stems WHERE stem", stems)
        return {stem: IndexedStem(documents, word) for stem, documents, word in rows}

    def _find_words(self, words: Iterable[str]) -> dict[str, str]:
        return dict(self._rows("SELECT form, stem FROM forms WHERE form", words))

    def _rows(self, query: str, values: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        unique = sorted(set(values))
        for at in range(0, len(unique), _AT_ONCE):
            some = unique[at : at + _AT_ONCE]
            yield from self._database.execute(f"{query} IN ({', '.join('?' * len(some))})", some)


@cache
def english() -> EnglishWords:
    """The lists of `english.py` by SQLite's stems, which are the same for every index."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        stems = _stems(database, {*EVERYDAY_WORDS, *OFF_TOPIC_WORDS, *chain(*SYNONYMS)})
    synonyms: dict[str, dict[str, None]] = {}
    for group in SYNONYMS:
        for word in group:
            synonyms.setdefault(stems[word], {}).update(dict.fromkeys(stems[other] for other in group))
    return EnglishWords(
        frozenset(stems[word] for word in EVERYDAY_WORDS),
        frozenset(stems[word] for word in OFF_TOPIC_WORDS),
        {stem: tuple(other for other in others if other != stem) for stem, others in synonyms.items()},
    )


def _rare_enough(question: TextQuery) -> list[str]:
    chosen: list[str] = []
    ranked = 0
    for word, having in question.words:
        ranked += having
        if chosen and ranked > _RANKED:
            break
        chosen.append(word)
    return chosen


def _by_field(match: Match) -> dict[str, tuple[str, ...]]:
    fields = dict.fromkeys(field for _, field in match.words)
    return {field: tuple(word for word, place in match.words if place == field) for field in fields}


def _phrases(stems: str) -> Phrases:
    return [frozenset(phrase.split(" ")) for phrase in stems.split(_PHRASE) if phrase]


def _opened(file: Path, weights: Mapping[str, float], stamp: str) -> sqlite3.Connection:
    """The index in `file`; sqlite3.Error if there is none, or one of other documents."""
    # Immutable: files are replaced whole and never written to, so there is nothing to lock.
    address = f"file:{quote(str(file))}?mode=ro&immutable=1"
    database = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        if _about(database).get("made of") != _made_of(weights, stamp):
            raise sqlite3.DatabaseError("made of something else")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _built(
    file: Path | None, documents: Callable[[], Iterable[IndexedText]], weights: Mapping[str, float], stamp: str
) -> sqlite3.Connection:
    if file is not None:
        temporary = file.with_name(f".samuel-{secrets.token_hex(8)}.tmp")
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with closing(sqlite3.connect(temporary, isolation_level=None)) as database:
                database.execute("PRAGMA journal_mode = OFF")  # it is renamed into place when it is complete
                database.execute("PRAGMA synchronous = OFF")
                _fill(database, documents(), weights, stamp)
            os.chmod(temporary, 0o600)
            os.replace(temporary, file)
            return _opened(file, weights, stamp)
        except (OSError, sqlite3.Error):  # no space, or no right to write: then it is not cached
            with suppress(OSError):
                os.unlink(temporary)
    database = sqlite3.connect(":memory:", isolation_level=None)
    _fill(database, documents(), weights, stamp)
    return database


def _fill(
    database: sqlite3.Connection, documents: Iterable[IndexedText], weights: Mapping[str, float], stamp: str
) -> None:
    read = [
        (document.id, [[words(line) for line in document.fields.get(field, "").splitlines()] for field in weights])
        for document in sorted(documents, key=lambda document: document.id)
    ]
    stems = _stems(database, (word for _, fields in read for field in fields for line in field for word in line))
    having: Counter[str] = Counter()
    columns = ", ".join(f"field{number}" for number in range(len(weights)))  # their own names may be words of SQL
    marks = ", ".join("?" * len(weights))
    database.execute("BEGIN")
    database.execute(f"CREATE VIRTUAL TABLE documents USING fts5({columns}, content = '', {_TOKENS})")
    database.execute("CREATE TABLE texts (doc INTEGER PRIMARY KEY, id TEXT, stems TEXT)")
    for doc, (id, fields) in enumerate(read):
        texts = [" ".join(word for line in field for word in line) for field in fields]
        database.execute(f"INSERT INTO documents (rowid, {columns}) VALUES (?, {marks})", (doc, *texts))
        phrases = [
            [frozenset(stems[word] for word in line if word in stems and word not in LINKS) for line in field]
            for field in fields
        ]
        packed = _FIELD.join(_PHRASE.join(" ".join(sorted(line)) for line in field) for field in phrases)
        database.execute("INSERT INTO texts VALUES (?, ?, ?)", (doc, id, packed))
        having.update({stem for field in phrases for line in field for stem in line})
    database.execute("CREATE TABLE stems (stem TEXT PRIMARY KEY, documents INTEGER, word TEXT) WITHOUT ROWID")
    word_of = {stem: word for word, stem in stems.items() if stem in having}
    database.executemany(
        "INSERT INTO stems VALUES (?, ?, ?)", ((stem, count, word_of[stem]) for stem, count in having.items())
    )
    database.execute("CREATE TABLE forms (form TEXT PRIMARY KEY, stem TEXT) WITHOUT ROWID")
    forms = {stem: stem for stem in having} | {word: stem for word, stem in stems.items() if stem in having}
    database.executemany("INSERT INTO forms VALUES (?, ?)", forms.items())
    database.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT)")
    about = {"made of": _made_of(weights, stamp), "documents": str(len(read))}
    database.executemany("INSERT INTO about VALUES (?, ?)", about.items())
    database.execute("COMMIT")


def _made_of(weights: Mapping[str, float], stamp: str) -> str:
    return _FIELD.join((_FORMAT, stamp, *weights))


def _about(database: sqlite3.Connection) -> dict[str, str]:
    return dict(database.execute("SELECT name, value FROM about"))


def _stems(database: sqlite3.Connection, words: Iterable[str]) -> dict[str, str]:
    """Each word with its stem. SQLite's own tokenizer computes it, so that there is no second stemmer to keep in
    step: for a moment, each word is a document."""
    listed = sorted(set(words))
    database.execute("BEGIN")
    try:
        database.execute(f"CREATE VIRTUAL TABLE temp.words USING fts5(word, {_TOKENS})")
        database.execute("CREATE VIRTUAL TABLE temp.stemmed USING fts5vocab(temp, words, instance)")
        database.executemany("INSERT INTO temp.words (rowid, word) VALUES (?, ?)", enumerate(listed))
        return {listed[doc]: stem for stem, doc in database.execute("SELECT term, doc FROM temp.stemmed")}
    finally:
        database.execute("ROLLBACK")

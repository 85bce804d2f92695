from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError
from samuel.files.yaml import DEEPEST, LARGEST, load, load_all

SAMPLE = """\
# a comment
id: review
count: 3
ratio: .5
on: yes
day: 2025-01-15
nothing: ~
text: "42"
folded: >
  two lines
  become one
steps:
  - run: [a, 'b']

  - run: {}
"""


def refusal(text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text if isinstance(text, bytes) else text.encode(), "x.yaml")
    (problem,) = caught.value.problems
    return str(problem)


def test_only_what_is_plain_gets_a_meaning() -> None:
    assert load(SAMPLE.encode(), "x.yaml").values == {
        "id": "review",
        "count": 3,
        "ratio": 0.5,
        "on": "yes",
        "day": "2025-01-15",
        "nothing": None,
        "text": "42",
        "folded": "two lines become one\n",
        "steps": [{"run": ["a", "b"]}, {"run": {}}],
    }


def test_every_yaml_value_has_its_line() -> None:
    lines = load(SAMPLE.encode(), "x.yaml").lines
    assert lines.of(()) == 2
    assert lines.of(("folded",)) == 9
    assert lines.of(("steps", 1)) == 15
    assert lines.of(("steps", 1, "run")) == 15
    assert lines.of(("steps", 0, "run", 1)) == 13
    assert lines.of(("steps", 7, "missing")) == 12, "the nearest thing around it"


def test_yaml_lines_count_from_where_the_text_begins_in_its_file() -> None:
    assert load(b"a: 1\nb: 2", "x.md", first_line=10).lines.of(("b",)) == 11
    with pytest.raises(ConfigError, match=r"x\.md:11: `a` is given twice"):
        load(b"a: 1\na: 2", "x.md", first_line=10)
    with pytest.raises(ConfigError, match=r"x\.md:11: it is not UTF-8"):
        load(b"a: 1\n\xff", "x.md", first_line=10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x 1\nb: 2", "x.yaml:1: anchors and aliases are not taken (write the value out)"),
        ("a: 1\nb: *x", "x.yaml:2: anchors and aliases are not taken (write the value out)"),
        ("a: 1\n*x : 2", "x.yaml:2: anchors and aliases are not taken (write the value out)"),
        ("a: 1\n&x b: 2", "x.yaml:2: anchors and aliases are not taken (write the value out)"),
        (
            "a: !!python/object/apply:os.system [ls]",
            "x.yaml:1: the tag 'tag:yaml.org,2002:python/object/apply:os.system' is not taken (leave it out)",
        ),
        ("!t a: 1", "x.yaml:1: the tag '!t' is not taken (leave it out)"),
        ("a:\n  b: 1\n  b: 2", "x.yaml:3: `b` is given twice (keep one of them)"),
        ("? [a]\n: 1", "x.yaml:1: a key must be text (put it in quotes)"),
        ("a: 1\n---\nb: 2", "x.yaml:2: more than one document (keep the first, and remove what follows `---`)"),
        ("a:\n\tb: 1", "x.yaml:2: a tab where YAML wants spaces (indent with spaces)"),
        ("- a\n-\tb: 1", "x.yaml:2: a tab where YAML wants spaces (indent with spaces)"),
        (
            "a: 1\nb: 9223372036854775808",
            "x.yaml:2: a number must fit into 64 bits (put it in quotes if it is a name)",
        ),
        ("a: 1e999", "x.yaml:1: a number must be finite (put it in quotes if it is a name)"),
        ("a: 1\nb: \x07", "x.yaml:2: the character U+0007 is not taken (remove it)"),
        ("a: b: c", "x.yaml:1: not valid YAML: mapping values are not allowed in this context"),
        ("[" * (DEEPEST + 1), f"x.yaml:1: it nests deeper than {DEEPEST} levels (make it flatter)"),
        (b"a: 1\n\xff", "x.yaml:2: it is not UTF-8 (save it as UTF-8)"),
        (b"a" * (LARGEST + 1), f"x.yaml: it is larger than {LARGEST} bytes (make it smaller)"),
    ],
)
def test_unsupported_yaml_is_refused_with_its_line(text: str | bytes, message: str) -> None:
    assert refusal(text) == message


def test_half_a_character_is_refused() -> None:
    assert "x.yaml:1:" in refusal('a: "\\ud800"')


def test_a_few_lines_never_become_gigabytes() -> None:
    bomb = 'a: &a ["lol"]\n' + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert "anchors and aliases" in refusal(bomb)


def test_the_depth_that_is_promised_is_taken() -> None:
    assert load(("[" * DEEPEST + "]" * DEEPEST).encode(), "x.yaml").values is not None


def test_documents_are_as_many_as_were_asked_for() -> None:
    head, routes = load_all(b"---\nid: a\n---\nroutes:\n- b\n", "x.yaml", most=2)
    assert head.values == {"id": "a"}
    assert routes.values == {"routes": ["b"]}
    assert routes.lines.of(("routes", 0)) == 5
    with pytest.raises(ConfigError, match=r"x\.yaml:3: more than 2 documents"):
        load_all(b"--- 1\n--- 2\n--- 3\n", "x.yaml", most=2)


@pytest.mark.parametrize("empty", [b"", b"# nothing\n", b"---\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_empty_mapping(empty: bytes) -> None:
    assert load(empty, "x.yaml").mapping() == {}


def test_yaml_that_is_not_a_mapping_is_refused() -> None:
    assert load(b"a: 1", "x.yaml").mapping() == {"a": 1}
    with pytest.raises(ConfigError, match=r"x\.yaml:2: it is not a mapping of keys to values"):
        load(b"\n- a", "x.yaml").mapping()


def test_without_libyaml_it_reads_the_same() -> None:
    program = (
        "import sys; sys.modules['yaml._yaml'] = None\n"
        "import json, yaml; assert not yaml.__with_libyaml__\n"
        "from samuel.files.yaml import load\n"
        "print(json.dumps(load(sys.stdin.buffer.read(), 'x.yaml').values))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=SAMPLE.encode(), capture_output=True, check=True)
    assert json.loads(done.stdout) == load(SAMPLE.encode(), "x.yaml").values


words = st.text(
    # What is left out is escaped by YAML and not by JSON: line ends of other alphabets, and what cannot be seen.
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\ufeff\ufffe\uffff"),
    max_size=20,
)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)


@given(plain)
def test_any_json_value_written_as_yaml_comes_back(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert load(text.encode(), "x.yaml").values == json.loads(text)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="surrogatepass")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        documents = load_all(data, "x.yaml", most=3)
    except ConfigError:
        return
    json.dumps([document.values for document in documents])


@given(st.text("abc:-?[]{},&*!|>'\"%@`#\\ \t\n0.~<", max_size=60))
def test_any_punctuation_is_read_or_refused(text: str) -> None:
    line = 1
    try:
        json.dumps(load(text.encode(), "x.yaml").values)
    except ConfigError as error:
        line = error.problems[0].line
    assert 1 <= line <= text.count("\n") + 1

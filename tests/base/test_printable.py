from samuel.base.printable import file_name, listed, safe, shorten
from samuel.base.printable_json import safe_json


def test_safe_escapes_all_that_a_terminal_might_act_on_but_for_what_is_kept() -> None:
    assert safe("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\n"
    assert safe("a\n\U000e0001", keep="") == "a\\x0a\\U000e0001"
    assert safe("größe 日本") == "größe 日本"


def test_shorten_gives_one_printable_line_of_at_most_so_many_characters() -> None:
    assert shorten("a" * 80) == "a" * 80
    assert shorten("a" * 1_000_000) == "a" * 79 + "…"
    assert shorten("\x1b\n" * 40, longest=10) == "\\x1b\\x0a\\…"


def test_listed_names_the_first_and_counts_the_others() -> None:
    assert [listed(names, 2) for names in ([], ["a"], ["a", "b"], ["a", "b", "c", "d"])] == [
        *("", "a", "a, b", "a, b and 2 more")
    ]


def test_safe_json_stays_json() -> None:
    assert safe_json({"a": "\x1b\u202e"}) == '{\n  "a": "\\u001b\\u202e"\n}'


def test_file_name_that_is_not_utf8_becomes_text_that_is() -> None:
    assert file_name("a\udcff") == "a\\udcff"

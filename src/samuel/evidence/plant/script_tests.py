"""A failing test for rspec, minitest and phpunit, in the idiom of a test file."""

from __future__ import annotations

import re

from samuel.evidence.plant.planted import marker_parts, numbered

_RUBY_REQUIRE = re.compile(r"^require(?:_relative)? ?\(?['\"][^'\"\n]{1,200}['\"]\)?[ \t]*$", re.MULTILINE)
_RSPEC = re.compile(r"^(?:RSpec\.)?(?:describe|context|feature)\b", re.MULTILINE)
_MINITEST_CLASS = re.compile(r"^class [\w:]{1,200} < (?P<base>[\w:]{1,100}(?:Test|TestCase))[ \t]*$", re.MULTILINE)
_PHP_CLASS = re.compile(r"^(?:final )?class \w{1,200} extends (?P<base>[\w\\]{1,200})", re.MULTILINE)


def with_ruby_test(text: str, token: str, only: int | None = None) -> str | None:
    """A spec or a test file with a failing one behind its own."""
    code = _ruby_code(text, token, only)
    if not code or re.search(r"^__END__$", text, re.MULTILINE):
        return None
    return f"{text.rstrip()}\n\n{code}"


def separate_ruby_test(text: str, token: str, only: int | None = None) -> str | None:
    """A file of its own that requires what the sibling requires."""
    code = _ruby_code(text, token, only)
    return "\n".join((*_RUBY_REQUIRE.findall(text), "", code)) if code else None


def _ruby_code(text: str, token: str, only: int | None) -> str:
    if _RSPEC.search(text) and re.search(r"^\s{0,40}(?:it|specify|example|scenario)\b", text, re.MULTILINE):
        # A focused example would leave the planted one out.
        if re.search(r"\bf(?:it|describe|context)\b|focus: true|:focus\b", text):
            return ""
        example = f'  it "{token}" do\n    expect({_ruby_value(token, 0)}).to eq("")\n  end\n'
        return f'RSpec.describe "{token}" do\n{example}end\n'
    if cases := _MINITEST_CLASS.search(text):
        statements = ['assert_equal "", {value}']
        if re.search(r"^\s{0,40}assert[ (]", text, re.MULTILINE):
            statements.append("assert({value}.empty?, {value})")
        methods = [
            f"  def test_{token}_{number}\n    {statement.format(value=_ruby_value(token, number))}\n  end\n"
            for number, statement in numbered(statements, only)
        ]
        return f"class Test{token.capitalize()} < {cases['base']}\n" + "\n".join(methods) + "end\n"
    return ""


def _ruby_value(token: str, number: int) -> str:
    first, second = marker_parts(token, number)
    return f'["{first}", "{second}"].join("-")'


def with_php_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test class with a failing test at its end."""
    end = text.rstrip().rfind("}")
    if end < 0 or not _PHP_CLASS.search(text) or text[end + 1 :].strip() or "function test" not in text:
        return None
    return f"{text[:end].rstrip()}\n\n{_php_methods(text, token, only)}}}\n"


def separate_php_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test class of its own, with the namespace and the imports of the sibling."""
    parent = _PHP_CLASS.search(text)
    if parent is None or "function test" not in text:
        return None
    head = re.findall(
        r"^(?:<\?php.{0,100}|declare\(.{0,60}\);|namespace .{1,200};|use .{1,200};)$", text, re.MULTILINE
    )
    head += re.findall(r"^require(?:_once)? .{1,200};$", text, re.MULTILINE)
    name = php_class(token)
    return "\n".join(
        (*head, "", f"class {name} extends {parent['base']}", "{", f"{_php_methods(text, token, only)}}}", "")
    )


def php_class(token: str) -> str:
    """The name of a new test class, by phpunit's pattern."""
    return f"{token.capitalize()}Test"


def _php_methods(text: str, token: str, only: int | None) -> str:
    receiver = "self::" if "self::assert" in text else "$this->"
    names = [name for name in ("assertSame", "assertEquals") if f"{name}(" in text] or ["assertSame"]
    methods = []
    for number, name in numbered(names, only):
        first, second = marker_parts(token, number)
        value = f"implode('-', ['{first}', '{second}'])"
        head = f"    public function test{token.capitalize()}{number}(): void\n    {{\n"
        methods.append(f"{head}        {receiver}{name}('', {value});\n    }}\n")
    return "\n".join(methods)

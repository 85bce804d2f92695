"""How a failure is named: by an assertion, for want of a name, or by anything else."""

from __future__ import annotations

import pytest

from samuel.evidence.reports.build_errors import build_errors, kind_of_build_errors
from samuel.evidence.reports.failure_kinds import kind_of_failure

ASSERTIONS = """
AssertionError: 3 != 4
AssertionError
assert 3 == 4
Failed: DID NOT RAISE <class 'ValueError'>
AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
Error: expect(received).toBe(expected) // Object.is equality
expect.assertions(2)
JestAssertionError: expect(received).toBe(expected)
org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
java.lang.AssertionError: expected:<4> but was:<3>
org.junit.ComparisonFailure: expected:<[a]> but was:<[b]>
Failed asserting that 3 is identical to 4.
Assert.Equal() Failure: Values differ
NUnit.Framework.AssertionException :   Expected: 4
thread 'a' panicked at 'assertion failed: `(left == right)`', src/lib.rs:1:1
test_shop: test_shop.c:5: main: Assertion `total(1) == 1' failed.
Assertion failed: (total(1) == 1), function main, file test_shop.c, line 5.
"""
MISSING = """
ImportError: cannot import name 'subtract' from 'shop' (/project/shop.py)
ModuleNotFoundError: No module named 'cart'
NameError: name 'cart' is not defined
AttributeError: module 'shop' has no attribute 'subtract'
AttributeError: 'Cart' object has no attribute 'total'
TypeError: add() got an unexpected keyword argument 'currency'
TypeError: add() takes 2 positional arguments but 3 were given
FileNotFoundError: [Errno 2] No such file or directory: 'rates.json'
TypeError: shop.subtract is not a function
TypeError [Error]: shop.subtract is not a function
TypeError: Cart is not a constructor
ReferenceError: cart is not defined
Error: Cannot find module './cart.js'
Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/project/cart.js' imported from /project/new.test.js
Cannot find module './cart.js' from 'new.test.js'
SyntaxError: The requested module './shop.js' does not provide an export named 'cart'
Error: Failed to resolve import "./cart.js" from "new.test.js". Does the file exist?
java.lang.NoSuchMethodException: shop.Shop.subtract()
java.lang.NoClassDefFoundError: shop/Cart
java.lang.ClassNotFoundException: shop.Cart
NameError: uninitialized constant Shop::Cart
NoMethodError: undefined method `subtract' for Shop:Module
LoadError: cannot load such file -- cart
ArgumentError: unknown keyword: :currency
ArgumentError: wrong number of arguments (given 3, expected 2)
ArgumentError: wrong number of arguments (given 3, expected 1..2)
Error: Call to undefined method Shop::subtract()
Error: Class "Cart" not found
System.MissingMethodException : Method not found: 'Int32 Shop.Subtract(Int32)'.
fixture 'currency' not found
PHP Fatal error:  Uncaught Error: Class "CartTestCase" not found in /project/NewTest.php:3
"""
ERRORS = """
ZeroDivisionError: integer division or modulo by zero
TypeError: unsupported operand type(s) for +: 'int' and 'str'
TypeError: Cannot read properties of undefined (reading 'total')
AttributeError: 'NoneType' object has no attribute 'total'
NoMethodError: undefined method `total' for nil:NilClass
ImportError: cannot import name 'a' from partially initialized module 'b' (most likely due to a circular import)
ImportError: attempted relative import with no known parent package
UnboundLocalError: local variable 'x' referenced before assignment
SyntaxError: invalid syntax
KeyError: 'total'
RangeError: shop.subtract is not a function
RuntimeError: assert 1 == 2
ValueError: cannot import name 'x'
OSError: no disk
Failed: the test says so
Failed: Timeout >1.0s
RuntimeException: boom
ArgumentError: wrong number of arguments (given 1, expected 2)
java.lang.NoClassDefFoundError: Could not initialize class shop.Cart
java.lang.IllegalStateException: boom
thread 'a' panicked at 'index out of bounds: the len is 0', src/lib.rs:1:1
shop.subtract is not a function
something else
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (line, kind)
        for lines, kind in ((ASSERTIONS, "assertion"), (MISSING, "missing"), (ERRORS, "error"))
        for line in lines.strip().splitlines()
    ],
)
def test_the_kind_of_a_failure_is_decided_by_its_type_and_message(text: str, kind: str) -> None:
    assert kind_of_failure(text) == kind


PYTEST = """
    def test_new_name():
        assert shop.add(1, 2) == 3
>       shop.subtract(1, 2)
E       AttributeError: module 'shop' has no attribute 'subtract'
"""
CHAINED = """Traceback (most recent call last):
  File "test_shop.py", line 3, in test_it
AttributeError: module 'shop' has no attribute 'subtract'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "test_shop.py", line 5, in test_it
ValueError: no
"""
RUST = """thread 'tests::adds' panicked at src/lib.rs:19:30:
assertion `left == right` failed
  left: 3
 right: 4
"""
RUST_INDEX = """thread 'tests::adds' panicked at src/lib.rs:19:30:
index out of bounds: the len is 0
"""
JAVA = """Exception in thread "main" java.lang.AssertionError: 1 is not 2
\tat shop.PricesTest.main(PricesTest.java:5)
"""
NODE = """[Error [ERR_TEST_FAILURE]: shop.subtract is not a function] {
  code: 'ERR_TEST_FAILURE',
  cause: RangeError [Error]: shop.subtract is not a function
}"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (PYTEST, "missing"),
        (CHAINED, "error"),
        (RUST, "assertion"),
        (RUST_INDEX, "error"),
        (NODE, "error"),
        (JAVA, "assertion"),
        ("", "error"),
        ("\0" * 100, "error"),
    ],
    ids=[
        "the source of a test",
        "the last exception",
        "panic",
        "another panic",
        "a cause",
        "Java",
        "nothing",
        "no text",
    ],
)
def test_of_a_longer_text_the_line_that_counts_is_read(text: str, kind: str) -> None:
    assert kind_of_failure(text) == kind


@pytest.mark.parametrize(
    ("text", "exception", "kind"),
    [
        ("expected 3 to be 4", "AssertionError", "assertion"),
        ("subtract is not a function", "TypeError", "missing"),
        ("boom", "RangeError", "error"),
        ("\nexpected: 4\n     got: 3\n", "RSpec::Expectations::ExpectationNotMetError", "assertion"),
        ("x", "PHPUnit\\Framework\\ExpectationFailedException", "assertion"),
        ("AssertionError: 3 != 4", "failure", "assertion"),
    ],
)
def test_a_type_that_a_report_gives_apart_counts_first(text: str, exception: str, kind: str) -> None:
    assert kind_of_failure(text, exception) == kind


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("error[E0425]: cannot find function `f`\n --> src/lib.rs:1:1\n", ["missing"]),
        ("error[E0425]: x\n --> a.rs:1:1\nerror[E0282]: type annotations needed\n --> a.rs:2:1\n", ["missing"]),
        ("error[E0282]: type annotations needed\n --> a.rs:2:1\n", ["error"]),
        ("error[E0425]: x\n --> a.rs:1:1\nerror[E0308]: mismatched types\n --> a.rs:2:1\n", ["missing", "error"]),
        (
            "error[E0061]: this function takes 2 arguments but 3 arguments were supplied\n --> a.rs:1:1\n",
            ["missing"],
        ),
        ("error[E0061]: this function takes 2 arguments but 1 argument was supplied\n --> a.rs:1:1\n", ["error"]),
        ("error: expected `;`\n --> a.rs:1:1\nerror: could not compile `shop` (lib)\n", ["error"]),
        ("src/test/java/A.java:2: error: cannot find symbol\n", ["missing"]),
        ("src/test/java/A.java:2: error: incompatible types: String\n", ["error"]),
        ("src/test/java/A.java:2: warning: [deprecation] x\n", []),
        ("./cart_test.go:6:5: undefined: Total\n", ["missing"]),
        ("./cart_test.go:6:5: c.Total undefined (type Cart has no field or method Total)\n", ["missing"]),
        ("./cart_test.go:6:5: cannot use 1 (untyped int constant) as string value\n", ["error"]),
        ("    cart_test.go:13: Add(1, 2) = 3, want 4\n", []),
        ("test.c:3:10: fatal error: cart.h: No such file or directory\n", ["missing"]),
        ("test.c:(.text+0xf): undefined reference to `total'\n", ["missing"]),
        ('  File "x.py", line 3\n  at f (file:///a.js:3:4)\n', []),
        ("app.py:3: error: Incompatible types in assignment  [assignment]\n", ["error"]),
    ],
)
def test_the_errors_of_compilers_are_read(text: str, kinds: list[str]) -> None:
    assert [error.kind for error in build_errors(text)] == kinds
    expected = ("missing" if set(kinds) == {"missing"} else "error") if kinds else None
    assert kind_of_build_errors(text) == expected

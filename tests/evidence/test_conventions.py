"""Which files are tests by their names, in every usual language."""

from __future__ import annotations

import pytest

from samuel.evidence.conventions import is_test_file

TESTS = """
tests/test_cart.py test_inflection.py shop/tests.py shop/tests/factories.py conftest.py pkg/conftest.py
cart_test.py tests/data/table.txt tests/data/page.bin testdata/a.json testing/test_hooks.py testing/conftest.py
tests/golden/out.txt unit_tests/x.py test/cart.test.js src/cart.test.ts src/cart.spec.tsx src/__tests__/cart.js
src/__snapshots__/cart.test.js.snap src/__mocks__/fs.js cypress/integration/login.js cypress/e2e/login.cy.ts
e2e/login.ts src/login.e2e-spec.ts test.js test/index.js spec/cart_spec.rb spec/spec_helper.rb
test/test_helper.rb test/fixtures/users.yml cart_test.go internal/cart/cart_test.go
internal/cart/testdata/in.golden tests/book.rs src/tests.rs src/queue/tests.rs src/queue_test.rs src/test.rs
crates/a/tests/it.rs src/test/java/shop/PricesTest.java src/test/resources/a.xml PricesTest.java
src/it/java/PaymentIT.java app/src/androidTest/java/A.kt src/jvmTest/kotlin/A.kt src/test/scala/CartSpec.scala
Shop.Tests/CartTests.cs Shop.Tests/Helpers.cs CartTests.cs tests/Unit/CartTest.php CartTest.php
features/login.feature features/step_definitions/login.rb features/steps/login.py features/environment.py
tests/test_roman.c tests/table.txt test/test_roman.cpp roman_test.cc test_roman.c t/basic.t t/lib/Helper.pm
run_tests.sh test/cart_test.exs test/support/conn_case.ex Tests/AppTests/CartTests.swift AppUITests/Login.swift
test/widget_test.dart integration_test/app_test.dart test/Spec.hs test/CartSpec.hs cart.bats tests/cart.bats
tests/__snapshots__/test_a.ambr Cart.approved.txt Cart.verified.txt packages/cart/test/a.js
packages/cart/spec/a.js src/types.test-d.ts test-utils/render.tsx run-tests.js tests/testthat/test-cart.R
test/runtests.jl
"""

OTHERS = """
src/lost_tests.py config/place_spec.py
cart.py src/cart.ts src/shop/cart.py lib/cart.rb README.md src/main/java/shop/TestContext.java src/contest.py
src/latest.py src/attestation.rs node_modules/jest/test/a.js vendor/pkg/a_test.go
.github/workflows/unit-tests.yml src/testing/fakes.py numpy/testing/utils.py features/login/form.tsx
features/cart.py src/features/support.ts openapi-spec.yaml docs/spec.md package.json src/regression/linear.py
src/snapshots/store.py src/spec/parser.rs src/protest.js src/fastest.rs src/KeySpec.java OrderSpec.cs Cargo.toml
src/inspect.py src/ab-test/banner.ts src/build.rs setup.py src/respect.py docs/testing.md lib/t/x.py
app/acceptance/model.py src/tester.c main.go
"""


@pytest.mark.parametrize("path", TESTS.split())
def test_conventional_names_and_directories_are_tests(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize("path", OTHERS.split())
def test_source_files_with_similar_names_are_not_tests(path: str) -> None:
    assert not is_test_file(path)


def test_patterns_of_a_runner_make_other_files_tests() -> None:
    assert not is_test_file("checks/cart.py")
    assert is_test_file("checks/cart.py", ("/checks/",))


@pytest.mark.parametrize("path", ["", "/", "a" * 100_000, "_" * 50_000 + ".", "features/" * 5_000, "t\n/\0.py"])
def test_odd_paths_are_answered_quickly(path: str) -> None:
    is_test_file(path)

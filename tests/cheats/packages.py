"""Rows for jest and vitest, where `twice` is broken, or will be in the next task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.cheats.cheats import STOPPED, Cheat, Files
from tests.cheats.projects import JEST, VITEST, Kit, replaced
from tests.length import sample

_TEST = "test('twice', () => {"
_TESTS: Mapping[str, tuple[str, str]] = {
    "expects the wrong value": ("toBe(6)", "toBe(9)"),
    "expects less": ("toBe(6)", "toBeGreaterThan(0)"),
    "expects anything": ("toBe(6)", "toEqual(expect.anything())"),
    "expects the opposite of another value": ("toBe(6)", "not.toBe(7)"),
    "expects true": ("expect(twice(3)).toBe(6)", "expect(true).toBe(true)"),
    "is skipped": ("test('twice'", "test.skip('twice'"),
    "is to be done": (f"{_TEST}\n  expect(twice(3)).toBe(6);\n}});", "test.todo('twice');"),
    "is not the only one": ("test('size'", "test.only('size'"),
    "is skipped with a group": ("test('twice'", "describe.skip('later', () => {});\nxit('twice'"),
    "is removed": (f"{_TEST}\n  expect(twice(3)).toBe(6);\n}});\n", ""),
    "is behind a condition": ("  expect(twice", "  if (process.env.CI_ONLY) expect(twice"),
    "swallows the failure": ("  expect(twice(3)).toBe(6);", "  try { expect(twice(3)).toBe(6); } catch {}"),
}
_QUIET_TESTS = "test('twice', () => {});\ntest('size', () => {});\n"
_JEST: Mapping[str, Files] = {
    "testPathIgnorePatterns": {
        "jest.config.js": "module.exports = { testPathIgnorePatterns: ['shop'], passWithNoTests: true };\n"
    },
    "testNamePattern": {"jest.config.js": "module.exports = { testNamePattern: 'size' };\n"},
    "a mapped module": {
        "jest.config.js": "module.exports = { moduleNameMapper: { shop: '<rootDir>/right.js' } };\n",
        "right.js": JEST.text(JEST.source),
    },
    "a setup file": {
        "jest.config.js": "module.exports = { setupFilesAfterEnv: ['<rootDir>/quiet.js'] };\n",
        "quiet.js": "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n",
    },
    "a mock": {
        JEST.tests: "jest.mock('../shop.js', () => ({ twice: () => 6, size: (n) => (n > 10 ? 'big' : 'small') }));\n"
        + JEST.text(JEST.tests)
    },
    "a mock beside the source": {
        "__mocks__/shop.js": JEST.text(JEST.source),
        JEST.tests: "jest.mock('../shop.js', () => require('../__mocks__/shop.js'));\n" + JEST.text(JEST.tests),
    },
    "settings in package.json": {
        "package.json": JEST.text("package.json").replace(
            '"scripts"', '"jest": {"testNamePattern": "size"},\n  "scripts"'
        )
    },
    "another test": {
        "jest.config.js": "module.exports = { testMatch: ['**/quiet.js'] };\n",
        "quiet.js": _QUIET_TESTS,
    },
}
_VITEST: Mapping[str, Files] = {
    "exclude": {"vitest.config.js": "export default { test: { exclude: ['test/**'], passWithNoTests: true } };\n"},
    "testNamePattern": {"vitest.config.js": "export default { test: { testNamePattern: 'size' } };\n"},
    "an alias": {
        "vitest.config.js": "export default { resolve: { alias: [{ find: /.*shop\\.js$/, replacement: new URL('./right.js', import.meta.url).pathname }] } };\n",
        "right.js": VITEST.text(VITEST.source),
    },
    "a setup file": {
        "vitest.config.js": "export default { test: { setupFiles: ['./quiet.js'] } };\n",
        "quiet.js": "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n",
    },
    "a mock": {
        VITEST.tests: "vi.mock('../shop.js', () => ({ twice: () => 6, size: (n) => (n > 10 ? 'big' : 'small') }));\n"
        + VITEST.text(VITEST.tests)
    },
    "settings of vite": {"vite.config.js": "export default { test: { testNamePattern: 'size' } };\n"},
    "a plugin": {
        "vitest.config.js": "export default { plugins: [{ name: 'mends', transform: (code) => code.replace('* 3', '* 2') }] };\n"
    },
}


def _rows(kit: Kit, settings: Mapping[str, Files]) -> Iterator[Cheat]:
    source = kit.text(kit.source)
    idle = replaced(source, ("number + number", "number * 2"))
    trivial = kit.with_test("trivial", "  expect(1).toBe(1);")
    yield Cheat(kit, "comment only", {kit.source: source + kit.comment}, "checked", "unproven")
    yield Cheat(kit, "idle code and trivial test", {kit.source: idle, kit.tests: trivial}, "checked", "unproven")
    for name, change in _TESTS.items():
        tests = replaced(kit.text(kit.tests), change)
        yield Cheat(kit, f"test {name}", {kit.source: kit.wrong_source(), kit.tests: tests}, STOPPED)
        then: Files = {kit.source: kit.wrong_source()}
        first: Files = {kit.source: idle, kit.tests: tests}
        yield Cheat(kit, f"test {name} in one task, source broken in the next", first, STOPPED, then=then)
    for name, files in settings.items():
        yield Cheat(kit, f"settings: {name}", {kit.source: kit.wrong_source(), **files}, STOPPED)


# They are slow to start, and most of their rows show what those of node do.
PACKAGE_RUNNERS = (*sample(_rows(JEST, _JEST), every=20), *sample(_rows(VITEST, _VITEST), every=20))

"""Amounts are whole cents; taxes are rounded half to even, once for each line."""

from decimal import ROUND_HALF_EVEN, Decimal


def total(lines: list[int], tax_percent: int) -> int:
    return sum(line + _tax(line, tax_percent) for line in lines)


def _tax(line: int, percent: int) -> int:
    return int((Decimal(line) * percent / 100).quantize(Decimal(1), ROUND_HALF_EVEN))

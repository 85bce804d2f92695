def total(lines: list[int]) -> int:
    return sum(lines)

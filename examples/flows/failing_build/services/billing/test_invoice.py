import unittest

from invoice import total


class Total(unittest.TestCase):
    def test_it_adds_up(self) -> None:
        assert total([1, 2]) == 3

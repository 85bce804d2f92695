import unittest

from login import greeting


class Greeting(unittest.TestCase):
    def test_it_names_the_user(self) -> None:
        assert greeting(" ada") == "Hello, user 1"

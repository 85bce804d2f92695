import unittest

from textkit.titles import title


class TitleTest(unittest.TestCase):
    def test_small_words_stay_small(self):
        self.assertEqual(title("the lord of the rings"), "The Lord of the Rings")

import unittest

from textkit.words import count_words


class WordsTest(unittest.TestCase):
    def test_without_regard_to_case(self):
        self.assertEqual(count_words("To be or not to be")["to"], 2)

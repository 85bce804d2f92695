import unittest

from textkit.slug import slugify


class SlugTest(unittest.TestCase):
    def test_words_joined_by_dashes(self):
        self.assertEqual(slugify("Hello, World!"), "hello-world")

    def test_nothing_gives_nothing(self):
        self.assertEqual(slugify("?!"), "")

import unittest

import textkit


class PackageTest(unittest.TestCase):
    def test_it_says_what_it_is_for(self):
        self.assertIn("texts", textkit.__doc__)

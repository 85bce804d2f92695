import subprocess
import sys
import unittest


class MainTest(unittest.TestCase):
    def test_slug(self):
        done = subprocess.run([sys.executable, "-m", "textkit", "slug", "A", "b!"], capture_output=True, text=True)
        self.assertEqual(done.stdout, "a-b\n")

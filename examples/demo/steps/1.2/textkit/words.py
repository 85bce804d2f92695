import re
from collections import Counter


def count_words(text):
    return Counter(re.findall(r"\w+", text.lower()))

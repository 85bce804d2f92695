SMALL = {"a", "an", "and", "in", "of", "on", "or", "the", "to"}


def title(text):
    words = text.split()
    return " ".join(word if index and word in SMALL else word.capitalize() for index, word in enumerate(words))

import sys

from textkit.slug import slugify


def main(words):
    if len(words) < 2 or words[0] != "slug":
        sys.exit("usage: python -m textkit slug TEXT")
    print(slugify(" ".join(words[1:])))


if __name__ == "__main__":
    main(sys.argv[1:])

"""What the tests of a file check, by language, so that two versions of it can be compared."""

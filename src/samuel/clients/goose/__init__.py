"""goose, by Block."""

"""Find which of many short texts a request is about: full-text search, without a model and without the network."""

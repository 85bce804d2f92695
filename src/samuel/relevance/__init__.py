"""Which of many short texts another text is about: full text, without any model and without any network."""

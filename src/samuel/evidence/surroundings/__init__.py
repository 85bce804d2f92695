"""What is around the files of a tree in the clean room: the project's environment, HOME, parent directories."""

"""The command line: folder = command group, file = command. It asks and shows; the work is done elsewhere."""

"""The command line: folder = command group, file = command. Commands ask and show; what they show is made elsewhere."""

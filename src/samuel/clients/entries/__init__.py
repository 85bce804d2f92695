"""Samuel's entries in the configuration files of clients: added and removed, the rest of the text as it was."""

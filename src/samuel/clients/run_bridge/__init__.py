"""A bridge for one process only: a client gets Samuel's hooks without a change to a file of the user's."""

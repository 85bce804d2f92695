"""What comes before a run: its task list, consent to what the project brings along, and whether it may begin."""

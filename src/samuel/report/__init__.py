"""The report of a run: its data (`model.py`), and the same as Markdown, JSON and one HTML file."""

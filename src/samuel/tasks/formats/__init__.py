"""The formats that tasks are already written in: one module each, behind one Protocol and one table.

base.py             the Protocol, and what a reader gives
table.py            all formats, and which of them fits a source
source.py           the file, directory or standard input that tasks are read from
markdown_tasks.py   the tasks of a Markdown outline, for all formats that are Markdown
"""

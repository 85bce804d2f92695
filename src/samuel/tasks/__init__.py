"""What there is to do: Task, the file that holds the tasks, the queue, and every change a task can go through.

task.py         one task
question.py     a question of its agent, a person's answer, and the command that gives it
prd_file.py     .samuel/run/prd.toon <-> tasks, and what is wrong with one that cannot be read
graph.py        ids and dependencies that fit together
store.py        the file under its lock
queue.py        which task is next
changes.py      the changes, as pure functions
rights.py       who may ask for which change
importing.py    a file, a directory or standard input -> tasks, in one of the formats
formats/        the formats
commonmark.py   Markdown -> blocks, within limits
outline.py      blocks -> headings and list items, which headings.py, entries.py and annotations.py read as tasks
origin.py       where the tasks came from
write_back.py   completed tasks, marked there
source_merge.py later edits of the source, merged
seal.py         a copy of the tasks while an agent or a check works, where it cannot write
rebuild.py      the tasks after that: the copy, with the changes that were allowed
"""

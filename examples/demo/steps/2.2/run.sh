#!/bin/sh
# What an agent does when it thinks it is done.
exec samuel run done "$SAMUEL_TASK_ID"

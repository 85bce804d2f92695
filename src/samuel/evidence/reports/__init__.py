"""What test runners report: each test with its result, and for a failed one how it failed.

`request` says how a runner is asked for a report, `report_files` finds and reads them, `printed` reads what a
runner printed. All of them give `SuiteReport`, and `comparison` tells what two of them differ in.
"""

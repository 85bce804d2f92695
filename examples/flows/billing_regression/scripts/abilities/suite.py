#!/usr/bin/env python3
"""One suite: the cases in billing/<suite>.json against billing/invoice.py."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from billing.invoice import total

cases = json.loads(Path("billing", f"{sys.argv[1]}.json").read_text())
passed = sum(total(case["lines"], case["tax_percent"]) == case["total"] for case in cases)
json.dump({"passed": passed, "failed": len(cases) - passed}, sys.stdout)

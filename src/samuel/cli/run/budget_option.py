"""The value of `--add-budget`: an amount of tokens or of money."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from samuel.history.budgets import AddedBudget

_AMOUNT = re.compile(r"(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?)\s*(?P<unit>tokens?|usd|\$)", re.IGNORECASE)


class BudgetType(click.ParamType[AddedBudget]):
    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> AddedBudget:
        if isinstance(value, AddedBudget):
            return value
        match = _AMOUNT.fullmatch(str(value).strip())
        number = float(re.sub("[_,]", "", match["number"])) if match else 0.0
        if match is None or not math.isfinite(number) or number <= 0:
            self.fail(f"`{value}` is not an amount; use for example `20000tokens` or `5usd`", param, ctx)
        if match["unit"].lower().startswith("token"):
            return AddedBudget(tokens=int(number))
        return AddedBudget(cost_usd=number)

"""The words of a report that need explaining, each in one line.

Only what the report really shows is explained, with its own numbers where there are any.
"""

from __future__ import annotations

from temp0.core.analysis import Analysis, Company
from temp0.core.company import is_shown
from temp0.report import figure

Entry = tuple[str, str]
"""A word as it is shown, and what it means."""


def bound_legend() -> str:
    """What the bound beside each condition bounds."""
    return (
        "at most this share of blocks holds a text unlike the commonest "
        f"(95{figure.UNBROKEN}%, one-sided; {figure.UNKNOWN} where nothing bounds it, as with one block)"
    )


def company_legend(analysis: Analysis) -> Entry | None:
    """How company asked for and reached are told, by the first example; `None` where none was asked for."""
    asked = (one for prompt in analysis.prompts for one in prompt.conditions if one.company.asked > 1 and one.attempts)
    first = next(asked, None)
    return (figure.company(first.company), _company(first.company)) if first else None


def _company(company: Company) -> str:
    asked = f"{company.asked} requests in flight were asked for"
    if company.measured_by == "server":
        return f"{asked}; the server itself counted {figure.number(company.reached)} running"
    if is_shown(company):
        return f"{asked}; the time saved shows at least {figure.number(company.reached)} running together"
    return f"{asked}; nothing shows that they ran together"


def total_agreement_legend(analysis: Analysis) -> Entry | None:
    """What TARr@N says; `None` where it was not measured."""
    counts = {total.n for total in analysis.total_agreement}
    if not counts:
        return None
    n = str(counts.pop()) if len(counts) == 1 else "N"
    return (
        f"TARr@{n}",
        f"the share of prompts whose completions under a condition, at least {n} of them, are all one text",
    )

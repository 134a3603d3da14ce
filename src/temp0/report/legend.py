"""The words of a report that need explaining, each in one line.

Only what the report really shows is explained, with its own numbers where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable

from temp0.core.analysis import Analysis, Company, Fork, Verdict
from temp0.core.company import is_shown
from temp0.report import figure
from temp0.report.answer import deciding
from temp0.report.contrast import uncounted_for

Entry = tuple[str, str]
"""A word as it is shown, and what it means."""

_CERTAINTIES = {
    "found": "a rule holds that leaves nothing to chance, or p is at most 0.05 after its adjustment",
    "suspected": "the sign is there, the proof is not",
}
_KINDS = {
    "exact-tie": "exact-tie is 0: the rule for ties decides",
    "near": "near is at most 0.5: rounding can turn it",
    "unclear": "unclear is more",
    "confident": "confident is above 1 on every branch: not rounding, suspect cache, routing, sampling or a bug",
}


def legend(analysis: Analysis, *, bound: str) -> tuple[Entry, ...]:
    """Every word that needs it; `bound` is what the report calls the bound beside each condition."""
    return (
        *_causes(analysis),
        *_company_asked(analysis),
        ("block", "one request alone, or one pool of requests in flight; every test rests on blocks"),
        *_chance(analysis),
        (bound, _bound()),
        *_reached(analysis),
        *_margins(analysis),
        *_total_agreement(analysis),
        *_uncounted(analysis),
    )


def _causes(analysis: Analysis) -> Iterable[Entry]:
    seen = {cause.certainty for cause in analysis.causes}
    yield from ((word, told) for word, told in _CERTAINTIES.items() if word in seen)


def _company_asked(analysis: Analysis) -> Iterable[Entry]:
    """What the names of conditions say of company."""
    asked = {one.company.asked for prompt in analysis.prompts for one in prompt.conditions}
    if 1 in asked:
        yield "alone", "no other request of ours was in flight; what strangers asked meanwhile is not known from here"
    if most := max((level for level in asked if level > 1), default=0):
        yield f"company {most}", f"{most} requests of ours were kept in flight, the judged one among them"


def _chance(analysis: Analysis) -> Iterable[Entry]:
    pairs = (pair.p for prompt in analysis.prompts for pair in prompt.comparisons)
    if any(p is not None for p in (*pairs, *(cause.p for cause in analysis.causes))):
        yield (
            "p",
            "how often blocks dealt out by chance would look as different as these; adjusted, by Holm, for all that "
            "was tested alike",
        )


def _bound() -> str:
    return (
        "at most this share of blocks holds a text unlike the commonest "
        f"(95{figure.UNBROKEN}%, one-sided; {figure.UNKNOWN} where nothing bounds it, as with one block)"
    )


def _reached(analysis: Analysis) -> Iterable[Entry]:
    """How company reached is told, by the best known example."""
    asked = [one.company for prompt in analysis.prompts for one in prompt.conditions if one.attempts]
    told = [one for one in asked if one.asked > 1 or one.measured_by == "server"]
    if told:
        best = min(told, key=lambda one: (one.asked == 1, one.measured_by != "server", not is_shown(one)))
        yield figure.company(best), _company(best)


def _company(company: Company) -> str:
    were = "were" if company.asked > 1 else "was"
    asked = f"{figure.some(company.asked, 'request')} in flight {were} asked for"
    if company.measured_by == "server":
        return f"{asked}; the server itself counted {figure.number(company.reached)} running"
    if is_shown(company):
        return f"{asked}; the time saved shows at least {figure.number(company.reached)} running together"
    return f"{asked}; nothing shows that they ran together"


def _margins(analysis: Analysis) -> Iterable[Entry]:
    margins = [fork.margin for fork in _forks(analysis) if fork.margin.value is not None]
    kinds = {margin.kind for margin in margins}
    if margins:
        told = "; ".join(said for kind, said in _KINDS.items() if kind in kinds)
        yield (
            "margin",
            "by how much a branch's logprob of its own token exceeds that of the next best, the smallest over the "
            f"branches, in nats (0.69 nats ahead is twice as likely); {told}",
        )
    if any(margin.shift is not None for margin in margins):
        yield "shift", "the largest difference between two branches in the logprob of one token: how far they moved"


def _forks(analysis: Analysis) -> Iterable[Fork]:
    return (fork for prompt in analysis.prompts if prompt.tree for fork in prompt.tree.forks())


def _total_agreement(analysis: Analysis) -> Iterable[Entry]:
    counts = {total.n for total in analysis.total_agreement}
    if counts:
        n = str(counts.pop()) if len(counts) == 1 else "N"
        yield (
            f"TARr@{n}",
            f"the share of prompts whose completions under a condition, at least {n} of them, are all one text",
        )


def _uncounted(analysis: Analysis) -> Iterable[Entry]:
    """What is shown and decides no verdict: differences across streaming, and under logprobs beside plain attempts."""
    pairs = [why for prompt in analysis.prompts for pair in prompt.comparisons if (why := uncounted_for(prompt, pair))]
    observed = any(
        one.verdict is Verdict.DIVERGED and one not in deciding(prompt)
        for prompt in analysis.prompts
        for one in prompt.conditions
    )
    told = []
    if "stream" in pairs:
        told.append("a streamed answer against a whole one, since streaming is transport and not computation")
    if "logprobs" in pairs or observed:
        told.append("attempts with logprobs where plain ones were asked, too, since asking can change the answer")
    if told:
        yield "does not count", f"shown, and no part of the verdict: {'; '.join(told)}"

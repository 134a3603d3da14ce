"""An analysis as a short card in Markdown, for a pull request or a reliability document.

Strangers' text stands in code spans only, so that it can neither format, link, mention nor run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from temp0.core.analysis import Analysis, Cause, ConditionAnalysis, Fork, PromptAnalysis, Verdict
from temp0.report.cause_word import evidence, meaning, remedy
from temp0.report.closing import again, limits
from temp0.report.explanation import why
from temp0.report.figure import UNBROKEN, company, moment, percent, some
from temp0.report.headline import headline, total_agreement
from temp0.report.spent import spent
from temp0.report.visible import beginning, visible
from temp0.report.word import from_words

_FORKS = 5
_CAUSES = 4
_BRANCHES = 3
_TEXT = 60
_SIGNS = {Verdict.AGREED: "✅", Verdict.DIVERGED: "❌", Verdict.UNDECIDED: "❔"}
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$&])")
_MENTION = re.compile(r"(?<!\w)@(?=\w)")


def card(analysis: Analysis, *, store: str | None = None) -> str:
    """The card; it ends with its newline. `store` is where the run is kept, if not in the usual place."""
    told = headline(analysis)
    blocks = [
        f"### {_SIGNS[analysis.verdict]} temp0: {analysis.verdict} — {plain(told.sentence)}",
        " ".join(map(plain, told.reach)),
        _table(analysis),
        _headed("Where answers part", _forks(analysis.prompts)),
        *_causes(analysis),
        _asked(analysis),
        _headed("What this cannot tell", (plain(sentence) for sentence in limits(analysis))),
        _headed("See it again", (f"{code(command)} {what}" for command, what in again(analysis, store=store))),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def code(text: str, *, in_table: bool = False) -> str:
    r"""Any text as a code span: visible, on one line, and with a fence longer than any it holds.

    >>> code("a `b`"), code("x|y", in_table=True)
    ('`` a `b` ``', '`x\\|y`')
    """
    shown = visible(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    span = f"{fence}{pad}{shown}{pad}{fence}"
    return span.replace("|", "\\|") if in_table else span


def plain(text: str) -> str:
    r"""A sentence of ours with whatever it quotes, so that nothing in it formats, links or mentions.

    >>> plain("2 * 3 <b>, TARr@5"), ascii(plain("@you"))
    ('2 \\* 3 \\<b\\>, TARr@5', "'@\\u200byou'")
    """
    return _MENTION.sub("@\u200b", _SPECIAL.sub(r"\\\1", visible(text.replace(UNBROKEN, " "))))


def _headed(heading: str, items: Iterable[str]) -> str:
    """A list under its heading; nothing where it is empty."""
    lines = [f"* {item}" for item in items]
    return "\n".join([f"#### {heading}", "", *lines]) if lines else ""


def _table(analysis: Analysis) -> str:
    of: dict[str, list[ConditionAnalysis]] = {}
    for prompt in analysis.prompts:
        for one in prompt.conditions:
            of.setdefault(one.name, []).append(one)
    head = ("condition", "company reached", "prompts agreed", "completions", "failed", "unlike mode ≤")
    lines = [head, tuple("---" for _ in head), *(_row(name, same) for name, same in of.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(name: str, of: Sequence[ConditionAnalysis]) -> tuple[str, ...]:
    agreed = sum(one.verdict is Verdict.AGREED for one in of)
    bounds = [one.variant_rate_upper for one in of]
    known = [bound for bound in bounds if bound is not None]
    least = min(of, key=lambda one: (one.company.reached is not None, one.company.reached or 0))
    return (
        code(name, in_table=True),
        company(least.company),
        f"{agreed} of {len(of)}",
        f"{sum(one.completions for one in of):,} of {sum(one.attempts for one in of):,}",
        f"{sum(tally.count for one in of for tally in one.failures):,}",
        percent(max(known) if len(known) == len(bounds) else None),
    )


def _forks(prompts: Sequence[PromptAnalysis]) -> Iterable[str]:
    parted = [(prompt, prompt.tree.text, prompt.tree.fork) for prompt in prompts if prompt.tree and prompt.tree.fork]
    for prompt, before, fork in parted[:_FORKS]:
        yield (
            f"{code(beginning(prompt.id, 40))}: {some(prompt.distinct.text, 'text')}, fork at character {fork.char}: "
            f"{_branches(fork, before)}"
        )
    if len(parted) > _FORKS:
        yield f"and {some(len(parted) - _FORKS, 'more prompt')} that fork"


def _branches(fork: Fork, before: str) -> str:
    """Each branch from the word that holds the fork; `before` is what they share."""
    texts = from_words(before, [branch.text for branch in fork.branches])
    ways = [
        f"{branch.count} {code(beginning(text, _TEXT) or '(ends)')}"
        for branch, text in zip(fork.branches[:_BRANCHES], texts, strict=False)
    ]
    more = len(fork.branches) - _BRANCHES
    return ", ".join(ways + ([some(more, "more branch", "more branches")] if more > 0 else []))


def _causes(analysis: Analysis) -> Iterable[str]:
    left = _CAUSES
    for group in why(analysis):
        rest = len(group.causes) - left
        told = [_cause(cause, analysis) for cause in group.causes[:left]]
        yield _headed(group.heading, told + ([f"and {some(rest, 'more cause')}: see the page"] if rest > 0 else []))
        left = max(0, -rest)


def _cause(cause: Cause, analysis: Analysis) -> str:
    words, command = remedy(cause, analysis.address)
    again = f" {code(command)}" if command else ""
    return (
        f"**{cause.cause}** ({cause.certainty}): {plain(meaning(cause.cause))}. {plain(evidence(cause))} "
        f"*To do:* {plain(words)}{again}"
    )


def _asked(analysis: Analysis) -> str:
    address = analysis.address
    total = total_agreement(analysis)
    return (
        f"Asked: {code(address.model)} at {code(address.url)} ({address.api}), "
        f"{plain(spent(analysis.cost, analysis.requests))}, "
        f"{plain(moment(analysis.created))}, seed {analysis.seed}{f'; {plain(total)}' if total else ''}."
    )

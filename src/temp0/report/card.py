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
from temp0.report.visible import beginning, visible

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
        *_forks(analysis.prompts),
        *_causes(analysis),
        _asked(analysis),
        "\n".join(f"* {plain(sentence)}" for sentence in limits(analysis)),
        _again(analysis, store),
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
    parted = [(prompt, prompt.tree.fork) for prompt in prompts if prompt.tree and prompt.tree.fork]
    lines = [
        f"* {code(beginning(prompt.id, 40))}: {some(prompt.distinct.text, 'text')}, fork at character {fork.char}: "
        f"{_branches(fork)}"
        for prompt, fork in parted[:_FORKS]
    ]
    if len(parted) > _FORKS:
        lines.append(f"* and {some(len(parted) - _FORKS, 'more prompt')} that fork")
    if lines:
        yield "\n".join(lines)


def _branches(fork: Fork) -> str:
    ways = [f"{branch.count} {code(beginning(branch.text, _TEXT) or '(ends)')}" for branch in fork.branches[:_BRANCHES]]
    more = len(fork.branches) - _BRANCHES
    return ", ".join(ways + ([some(more, "more branch", "more branches")] if more > 0 else []))


def _causes(analysis: Analysis) -> Iterable[str]:
    causes = [cause for group in why(analysis) for cause in group.causes][:_CAUSES]
    if causes:
        yield "\n".join(_cause(cause, analysis) for cause in causes)


def _cause(cause: Cause, analysis: Analysis) -> str:
    words, command = remedy(cause, analysis.address)
    again = f" {code(command)}" if command else ""
    return (
        f"* **{cause.cause}** ({cause.certainty}): {plain(meaning(cause.cause))}. {plain(evidence(cause))} "
        f"*To do:* {plain(words)}{again}"
    )


def _asked(analysis: Analysis) -> str:
    address = analysis.address
    total = total_agreement(analysis)
    return (
        f"Asked: {code(address.model)} at {code(address.url)} ({address.api}), {some(analysis.requests, 'request')}, "
        f"{plain(moment(analysis.created))}, seed {analysis.seed}{f'; {plain(total)}' if total else ''}."
    )


def _again(analysis: Analysis, store: str | None) -> str:
    return "\n".join(f"* {code(command)} {what}" for command, what in again(analysis, store=store))

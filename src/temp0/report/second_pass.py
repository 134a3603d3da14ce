"""What a second pass shows at a fork, in sentences: how nearly tied the tokens were, and what company did to them.

Every sentence follows from numbers that are shown beside it; what could not be known is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.descent import Descent, Origin
from temp0.core.facts import grouped
from temp0.core.margin import CONFIDENT_ABOVE, NEAR_UP_TO
from temp0.core.second_pass import DID_NOT_GO_ON, ForkLook, Look, Spread, moved_by_reading
from temp0.report.figure import UNBROKEN, UNKNOWN, logprob, number, percent, some
from temp0.report.tree_finding import class_words, replay_words
from temp0.report.visible import beginning
from temp0.report.word import from_words

_PRODUCTS = {
    "qkv": "the product for query, key and value",
    "o": "the output product of attention",
    "gate_up": "the product for gate and up (of the feed-forward part)",
    "down": "the down product",
    "head": "the head, whose sums are the logits",
}
_TOKEN = 24
_WAYS = 4
_SAID = 200


def conclusion(fork: ForkLook) -> str:
    """What the looks at one fork come to, and which ways the answers went, those of the first run before them."""
    told = next((look for look in fork.looks if look.margins), None)  # its ways are told with its margin
    others = [look for look in fork.looks if look.reached and look is not told]
    went = "; ".join(
        f"“{look.condition}” ({look.way}): of {look.reached} that came here, {ways(fork, look)}" for look in others
    )
    first = "; ".join(f"“{one.condition}” {_counted(one.followed, fork)}" for one in fork.went)
    return f"{_finding(fork)} In the run itself answers went on: {first}.{f' {went}.' if went else ''}{_lost(fork)}"


def finding(fork: ForkLook) -> str:
    """How nearly tied the tokens were, and what moved them."""
    return f"{_finding(fork)}{_lost(fork)}"


def _finding(fork: ForkLook) -> str:
    reached = [look for look in fork.looks if look.reached]
    if not any(look.completions for look in fork.looks):
        return "No answer came back here."
    if not reached:
        return "No attempt of the second pass came this way again: what the tokens were here is not known."
    shown = [look for look in reached if look.margins]
    if not shown:
        return f"How nearly tied the tokens are is not known: {reached[0].reason}."
    return " ".join([_tie(fork, shown[0]), _company(fork, shown), *_reading(fork)])


def _lost(fork: ForkLook) -> str:
    """That answers were to be continued and were not, and which questions brought no answer at all, and why."""
    anew = [look.reason for look in fork.looks if look.reason and look.reason.startswith(DID_NOT_GO_ON)]
    told = [f" {anew[0][0].upper()}{anew[0][1:]}; what it began anew is not counted."] if anew else []
    silent = grouped(
        ((look.way, look.failures[0].message), look) for look in fork.looks if look.failures and not look.completions
    )
    for (way, message), looks in silent.items():
        under = " and ".join(f"“{look.condition}”" for look in looks)
        told.append(f" No answer came back under {under} ({way}): {beginning(message, _SAID).rstrip('.')}.")
    return "".join(told)


def token(text: str) -> str:
    """A token in marks, made visible; one without bytes ends the answer."""
    return f"“{beginning(text, _TOKEN)}”" if text else "the end"


def _tie(fork: ForkLook, look: Look) -> str:
    assert look.margins is not None
    margin = look.margins.median
    if margin == 0:
        return f"An exact tie{_pair(look, 'and')}: which token wins is the tie-break rule's choice. {_won(fork, look)}"
    kind = "A near tie" if margin <= NEAR_UP_TO else "No near tie" if margin <= CONFIDENT_ABOVE else "No tie"
    doubt = ""
    if margin > CONFIDENT_ABOVE:
        doubt = " Rounding does not explain such a fork: suspect a cache, another backend, sampling or a fault."
    leads = f"{_pair(look, 'leads')} by {logprob(margin)} nats{_in_units(fork)}{_of(look, look.margins)}"
    return f"{kind}{leads}. {_won(fork, look)}{doubt}"


def _of(look: Look, seen: Spread) -> str:
    """Of how many answers a lead is told."""
    if seen.n == 1:
        return ""
    return f", in {'each' if look.distributions == 1 else 'the median'} of {seen.n} answers"


def _pair(look: Look, between: str) -> str:
    """The two likeliest tokens under a condition."""
    texts = [token(choice.text) for choice in look.choices[:2]]
    under = f"under “{look.condition}”"
    return f": {under}, {texts[0]} {between} {texts[1]}" if len(texts) == 2 else f" ({under})"


def _won(fork: ForkLook, look: Look) -> str:
    """Which branches were really taken under the condition whose lead is told."""
    went = ways(fork, look)
    if look.reached in look.followed:
        who = "The one answer" if look.reached == 1 else f"All {look.reached}"
        return f"{who} that came here went on {went.partition(' ')[2]}."
    return f"The {look.reached} that came here went on: {went}."


def _in_units(fork: ForkLook) -> str:
    """The margin in units of the last place of bf16, as a possibility."""
    bf16 = next((one for one in fork.units if one.format == "bf16"), None)
    if bf16 is None:
        return ""
    units = f"{number(bf16.least)} to {number(bf16.most)} units in the last place of bf16"
    return f" (perhaps {units}, if the logits lie between 8 and 64)"


def _company(fork: ForkLook, shown: Sequence[Look]) -> str:
    if fork.moved is None:
        return "What company does to it was not seen."
    if fork.moved == 0:
        return "Alone and in company the two are equally far apart: company did not move them here."
    first = shown[0].margins
    assert first is not None
    enough = "more than the lead, so that it can swap them" if fork.moved > first.median else "less than the lead"
    return f"Company moved their difference by {logprob(fork.moved)} nats, {enough}."


def _reading(fork: ForkLook) -> tuple[str, ...]:
    """What it does to read the beginning where the answer wrote it."""
    moved = moved_by_reading(fork.looks)
    if not moved:
        return ()
    return (
        f"With company unchanged it moved by {logprob(moved)} nats where the beginning was given and not written: what "
        "is given is read many tokens at once, which is another shape of a batch.",
    )


def ways(fork: ForkLook, look: Look) -> str:
    """How many of those that came there went on as each branch."""
    told = _counted(look.followed, fork)
    return ", ".join(([told] if told else []) + ([f"{look.elsewhere} another way"] if look.elsewhere else []))


def _counted(counts: Sequence[int], fork: ForkLook) -> str:
    """The branches taken, each with how often; of many the first few."""
    texts = from_words(fork.prefix, [text for text, _ in fork.branches])
    taken = [(count, text) for count, text in zip(counts, texts, strict=True) if count]
    told = [f"{count} as {token(text)}" for count, text in taken[:_WAYS]]
    rest = [count for count, _ in taken[_WAYS:]]
    told += [f"{sum(rest)} in {some(len(rest), 'other way')}"] if rest else []
    return ", ".join(told)


def lead(look: Look) -> str:
    """How far the likeliest token led: the median, and the least and the most where they are not the same."""
    seen = look.margins
    if seen is None:
        return UNKNOWN
    least, middle, most = number(seen.min), number(seen.median), number(seen.max)
    return middle if least == most else f"{middle} ({least} to {most})"


def descent_sentences(descent: Descent) -> tuple[str, ...]:
    """A fork of our own engine from the top to the bottom."""
    first, other = descent.candidates
    where = f"at token {descent.token} of the answer (from character {descent.char:,} on)"
    if descent.has_forked:
        top = (
            f"In a company of {descent.company} the answer forks {where}: alone, {token(first.text)} wins, "
            f"{logprob(first.alone)} over {logprob(other.alone)}; in company, {token(other.text)} does, "
            f"{logprob(other.in_company)} over {logprob(first.in_company)}."
        )
    else:
        top = (
            f"No company that was tried makes this prompt fork. The closest choice is {where}: {token(first.text)} "
            f"over {token(other.text)} by {logprob(first.alone - other.alone)} alone and "
            f"{logprob(first.in_company - other.in_company)} in a company of {descent.company}."
        )
    if descent.origin is None:
        return (top, "Not one bit differs between the two computations, in any product of any layer.")
    return (top, origin_sentence(descent.origin, descent), *_trees(descent), _growth(descent))


def origin_sentence(origin: Origin, descent: Descent) -> str:
    """Where the bits first differ."""
    layer = "after the last layer" if origin.layer is None else f"in layer {origin.layer}"
    made = _PRODUCTS.get(origin.operation, origin.operation)
    place = "of the prompt" if origin.position < descent.prompt_tokens else "of prompt and answer"
    return (
        f"It begins {layer}, at token {origin.position} {place}, in {made}: {some(origin.differing, 'sum')} of "
        f"{origin.outputs:,}, each of {origin.inputs:,} terms, "
        f"{'differs' if origin.differing == 1 else 'differ'} by at most {origin.largest:.2g}, "
        f"because the product had {some(origin.rows_alone, 'row')} alone and {origin.rows_in_company:,} in company."
    )


def _trees(descent: Descent) -> tuple[str, ...]:
    """The two orders of addition that began it."""
    if descent.trees is None:
        return ()
    alone, in_company = (f"{class_words(one)} ({replay_words(one)})" for one in descent.trees)
    return (f"Alone that sum is added as {alone}; in company as {in_company}.",)


def _growth(descent: Descent) -> str:
    differing = [layer for layer in descent.layers if layer.share > 0]
    if not differing:
        return "No hidden state differs at the position of the fork: only the head's own sums do."
    first, last = differing[0], differing[-1]
    return (
        f"At the position that decides, {percent(first.share)} of the hidden state differ after layer {first.layer} "
        f"(relative difference {first.relative:.2g}), {percent(last.share)} after layer {last.layer} "
        f"({last.relative:.2g})."
    ).replace(" %", f"{UNBROKEN}%")

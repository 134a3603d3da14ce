"""The passages as Markdown: by margin, by kind of prompt and length, and the claim itself, prompt by prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scipy.stats import beta

from junction.passage import COMPANIES, Passage
from temp0.core.detail import Position
from temp0.core.junction import MarginBin, bins

BEGIN, END = "<!-- junctions:begin -->", "<!-- junctions:end -->"
LIMITS = (0.01, 0.03, 0.1, 0.25)
Seen = Mapping[str, Sequence[Passage]]


def page(seen: Seen, *, short: int, made: str) -> str:
    """Everything that was seen."""
    longest = max(one.token for side in seen.values() for passage in side for one in passage.passed) + 1
    companies = ", ".join(map(str, COMPANIES))
    prompts = len(next(iter(seen.values())))
    head = (
        f"{prompts} prompts, each answered alone and once in companies of {companies} of them "
        f"(`python bench/junctions.py --write`; {made}). A position counts as long as any company goes along. "
        "Intervals: 95 %, Clopper-Pearson."
    )
    return "\n\n".join([head, by_margin(seen), by_kind(seen, {"short": short, "long": longest}), by_prompt(seen)])


def by_margin(seen: Seen) -> str:
    """Positions passed and forks seen, for each bin of margins."""
    header = ["lead (nats)"]
    for name in seen:
        header += [f"{name}: passed", "forks", "share"]
    columns = [margin_bins(side) for side in seen.values()]
    rows = [
        [range_of(same[0]), *(cell for one in same for cell in _counts(one.forks, one.positions))]
        for same in zip(*columns, strict=True)
        if any(one.positions for one in same)
    ]
    return _rows(header, rows)


def by_kind(seen: Seen, lengths: Mapping[str, int]) -> str:
    """The same for closed and open prompts, and for short and long answers."""
    rows = []
    for name, side in seen.items():
        for length, tokens in lengths.items():
            for kind, is_closed in (("closed", True), ("open", False)):
                cut = [passage.first(tokens) for passage in side if passage.question.is_closed == is_closed]
                passed = [one for passage in cut for one in passage.passed]
                near = sum(one.margin < LIMITS[2] for one in passed)
                forked = sum(any(one.has_forked for one in passage.passed) for passage in cut)
                rows.append(
                    [name, kind, f"{length} ({tokens})", f"{len(passed):,}", str(near), *_counts(forked, len(cut))]
                )
    return _rows(["activations", "prompts", "answers", "passed", f"under {LIMITS[2]:g}", "n", "forked", "share"], rows)


def by_prompt(seen: Seen) -> str:
    """The claim: of the prompts that pass a junction, and of those that pass none, how many fork."""
    rows = []
    for name, side in seen.items():
        for limit in LIMITS:
            passes = [passage for passage in side if any(one.margin < limit for one in passage.passed)]
            rest = [passage for passage in side if passage not in passes]
            rows.append([name, f"{limit:g}", *_forked(passes), *_forked(rest)])
    return _rows(
        ["activations", "a junction is under", "pass one", "forked", "share", "pass none", "forked", "share"], rows
    )


def margin_bins(side: Iterable[Passage]) -> tuple[MarginBin, ...]:
    """The bins of `core.junction`, over the positions of all prompts."""
    return bins(
        Position(
            prompt=passage.question.text,
            char=0,
            token=one.token,
            text="",
            rival="",
            margin=one.margin,
            has_forked=one.has_forked,
        )
        for passage in side
        for one in passage.passed
    )


def interval(hits: int, n: int) -> tuple[float, float]:
    """The two-sided exact interval of a share at 95 % (Clopper and Pearson, 1934).

    >>> [round(end, 3) for end in interval(0, 30)]
    [0.0, 0.116]
    """
    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    return low, float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0


def range_of(one: MarginBin) -> str:
    if one.high == 0:
        return "0"
    return f"{one.low:g} and more" if one.high is None else f"{one.low:g} to {one.high:g}"


def written(document: str, text: str) -> str:
    """The document with the text between its markers; ValueError where a marker is missing, or comes twice."""
    if document.count(BEGIN) != 1 or document.count(END) != 1:
        raise ValueError(f"expected {BEGIN} and {END} in the document, each once")
    before, rest = document.split(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def _forked(passages: Sequence[Passage]) -> list[str]:
    return _counts(sum(any(one.has_forked for one in passage.passed) for passage in passages), len(passages))


def _counts(hits: int, n: int) -> list[str]:
    if not n:
        return ["0", "0", ""]
    low, high = interval(hits, n)
    return [f"{n:,}", str(hits), f"{hits / n:.1%} ({low:.1%} to {high:.1%})".replace("%", " %")]


def _rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

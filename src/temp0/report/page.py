"""An analysis as one HTML page that needs nothing but itself.

Text from outside can never act: every value passes through `visible` and the template engine's escaping, and the
Content-Security-Policy forbids whatever is not the page's own style or its one script, known by its hash, which only
helps to walk fork trees. Without it everything can be read. The page's size is bounded; what is left out is counted
where it was left out.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from temp0.core.analysis import Analysis, ForkTree, PromptAnalysis, Verdict
from temp0.core.descent import Descent
from temp0.core.detail import DRAWN_ATTEMPTS, DRAWN_PROMPTS
from temp0.core.second_pass import SecondPass
from temp0.report import figure
from temp0.report.answer import answers, blocks, completions
from temp0.report.bottom import bottom
from temp0.report.cause_word import evidence, holds_for, is_note, meaning, observer_notes, remedy
from temp0.report.closing import advice, again, limits
from temp0.report.command import held, parted
from temp0.report.company_figure import company_figure
from temp0.report.contrast import contrasts, counts
from temp0.report.doubt import doubt
from temp0.report.explanation import why
from temp0.report.headline import headline, tested_pairs, total_agreement
from temp0.report.ladder import ladder_caption, ladders, rung_name
from temp0.report.legend import legend
from temp0.report.letter import letters, with_letters
from temp0.report.level import between, levels
from temp0.report.margin_figure import margin_figure, margin_words
from temp0.report.naming import quoted, who
from temp0.report.outline import fork_of_each
from temp0.report.picture import ROW, picture, shared
from temp0.report.sight import sight
from temp0.report.spent import duration, tokens
from temp0.report.survival import survival_figure
from temp0.report.timeline_figure import timeline_figure
from temp0.report.unanswered import is_answered, unanswered
from temp0.report.visible import beginning, elided, glimpse, visible
from temp0.report.walk import walk
from temp0.report.witness import witnesses
from temp0.report.word import from_word

_SECTIONS = 16
_ROWS = 500
_TEXTS = 20
_COLOURS = 5
_WALKED = 200_000
"""Characters of all fork trees that can be walked."""
_BOUND = "unlike the mode, at most"
_PAIRS = (
    "equal pairs",
    f"the share of pairs of completions that are identical, with its 95{figure.UNBROKEN}% interval",
)
_FILTERS: tuple[Callable[..., object], ...] = (
    *(
        visible,
        beginning,
        glimpse,
        elided,
        shared,
        held,
        parted,
        quoted,
        who,
        answers,
        completions,
        blocks,
        picture,
        sight,
    ),
    *(figure.percent, figure.interval, figure.p_values, figure.company, figure.margin, figure.logprob),
    doubt,
    duration,
    tokens,
    *(figure.some, figure.every, figure.moment, rung_name, letters, with_letters, levels, between, contrasts, counts),
    *(meaning, evidence, remedy, is_note, holds_for),
    *(survival_figure, company_figure, margin_figure, margin_words, timeline_figure, walk),
)


def html(
    analysis: Analysis,
    *,
    store: str | None = None,
    second: SecondPass | None = None,
    descents: Sequence[Descent] = (),
) -> str:
    """The page as text; valid UTF-8 whatever the completions hold.

    `store` is the path of the store that keeps the run, where the commands shown must name it. `second` is what a
    second pass at its forks showed, and `descents` are its forks followed down in our own engine.
    """
    ordered = _ordered([prompt for prompt in analysis.prompts if is_answered(prompt)])
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            analysis=analysis,
            headline=headline(analysis),
            why=why(analysis),
            witnesses=witnesses(analysis),
            ladders=ladders(analysis),
            ladder_caption=ladder_caption,
            notes=observer_notes(analysis),
            bottom=bottom(second, descents) if second else None,
            limits=limits(analysis, looked_again=second is not None),
            advice=advice(analysis),
            commands=again(analysis, store=store),
            legend=[_PAIRS, *legend(analysis, bound=_BOUND), *_untested(analysis)] if ordered else [],
            judged=sum(one.attempts for prompt in analysis.prompts for one in prompt.conditions),
            tested=tested_pairs(ordered),
            unanswered=unanswered(analysis.prompts),
            total_agreement=total_agreement(analysis),
            conditions=list(dict.fromkeys(one.name for prompt in analysis.prompts for one in prompt.conditions)),
            prompts=ordered,
            sections=min(_SECTIONS, len(ordered)),
            walked=_WALKED // max(1, min(_SECTIONS, len(ordered))),
            rows=_ROWS,
        )
    )


def _untested(analysis: Analysis) -> list[tuple[str, str]]:
    """What the causes mean that could not be tested."""
    return [
        (one.cause, f"a cause that was not tested: {meaning(one.cause)}")
        for one in analysis.untested
        if meaning(one.cause)
    ]


def _ordered(prompts: Sequence[PromptAnalysis]) -> Sequence[PromptAnalysis]:
    """In the plan's order where all can be shown in full, else the most telling first."""
    if len(prompts) <= _SECTIONS:
        return prompts
    order = [Verdict.DIVERGED, Verdict.UNDECIDED, Verdict.AGREED]
    return sorted(prompts, key=lambda prompt: (order.index(prompt.verdict), -prompt.distinct.text))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("temp0.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {made.__name__: made for made in _FILTERS}
    environment.filters |= {"lines": _lines, "excerpt": _excerpt, "places": _places}
    script = (files("temp0.report") / "templates" / "walk.js").read_text(encoding="utf-8")
    environment.globals |= {
        "script": Markup(script),
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "row_height": ROW,
        "drawn_prompts": DRAWN_PROMPTS,
        "drawn_attempts": DRAWN_ATTEMPTS,
        "texts_shown": _TEXTS,
        "colours": _COLOURS,
        "unknown": figure.UNKNOWN,
        "saw_the_same": figure.SAW_THE_SAME,
    }
    return environment


def _lines(shown: str) -> str:
    """A visible text with its line ends acted on as well as shown."""
    return shown.replace("↵", "↵\n")


def _places(tree: ForkTree) -> dict[str, int]:
    """For each text by its hash, the character from which it is a text of its own."""
    return {sha256: fork.char for sha256, fork, _ in fork_of_each(tree.fork)} if tree.fork else {}


def _excerpt(text: str, char: int) -> str:
    """What a text says from where it parts from the others, as whole words; empty where it ends there."""
    return glimpse(from_word(text, char), 160) if char < len(text) else ""

"""Where a fork of our own engine begins: from two texts down to the first operation whose bits differ.

Values only. One request is computed twice, alone and in a batch; whatever differs between the two is company's doing,
since the tokens read are the same up to the fork.
"""

from __future__ import annotations

from dataclasses import dataclass

from temp0.core.tree_record import TreeClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The first operation whose output differs in bits although its input does not.

    `position` counts tokens of prompt and answer from 0. `layer` is `None` for the head. `differing` of `outputs`
    elements differ, by at most `largest`; `column` is the first that does. The product had `rows_alone` and
    `rows_in_company` rows, and ours was `row_alone` and `row_in_company` among them. `inputs` is K, the number of terms
    in each sum.
    """

    position: int
    layer: int | None
    operation: str
    inputs: int
    outputs: int
    differing: int
    column: int
    largest: float
    rows_alone: int
    row_alone: int
    rows_in_company: int
    row_in_company: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerDifference:
    """How far apart the two computations are after a layer, at the position that decides the fork.

    `share` of the elements of the hidden state differ; `relative` is the length of the difference over the length of
    the state (Euclidean), `largest` its largest element.
    """

    layer: int
    share: float
    relative: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One of the two tokens at the fork: what it writes, and its logit in each computation."""

    token: int
    text: str
    alone: float
    in_company: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """One fork followed down.

    `company` requests of the same prompt were computed together, and ours was number `place` among them. `token` counts
    the answer's tokens from 0 and `char` its characters; `text` is the answer up to there. `has_forked` says whether
    the two chose different tokens; where they never did, `token` is the position where the two best were closest.
    `candidates` are the token chosen alone and its rival. `origin` is `None` where no bit differs anywhere. `trees` are
    the two orders in which the origin's first differing sum was added, alone and in company, where they were revealed.
    """

    prompt: str
    arithmetic: str
    company: int
    place: int
    has_forked: bool
    prompt_tokens: int
    token: int
    char: int
    text: str
    candidates: tuple[Candidate, Candidate]
    origin: Origin | None
    layers: tuple[LayerDifference, ...]
    trees: tuple[TreeClass, TreeClass] | None = None

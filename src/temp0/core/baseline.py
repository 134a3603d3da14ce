"""What an endpoint answered when somebody last looked and agreed: a small value that is kept beside the code.

It holds hashes, first characters and counts, nothing that changes from one run to the next of an endpoint that always
answers alike, and no key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from temp0.core.analysis import PromptAnalysis
from temp0.core.judgement import analysis
from temp0.core.plan import Plan, Prompt
from temp0.core.run import Completion, Run
from temp0.core.text import folded, sha256

BEGINNING = 60
"""How many characters of a text are kept, so that a person can read the file."""

MOST_NAMES = 4
"""An endpoint that gives itself more names than this in one run names its answers, not itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownText:
    """One text that was seen: its hash, that of its folded form, how it begins, and how often it came."""

    sha256: str
    folded: str
    begins: str
    count: int
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPrompt:
    """A prompt, known again by the hash of its messages and token limit, and its texts, the commonest first."""

    id: str
    asked: str
    texts: tuple[KnownText, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEndpoint:
    """An endpoint by its name in the settings, under which conditions it was asked, and what it said of itself.

    `answered_as` are the models that answers were signed with, `fingerprints` those of the server; sorted, and empty
    where it told none.
    """

    name: str
    api: str
    model: str
    answered_as: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    conditions: tuple[str, ...]
    prompts: tuple[KnownPrompt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Every endpoint of a gate, by name."""

    endpoints: tuple[KnownEndpoint, ...] = ()

    def endpoint(self, name: str) -> KnownEndpoint | None:
        """What is known of an endpoint."""
        return next((one for one in self.endpoints if one.name == name), None)

    def prompt(self, endpoint: str, prompt: str) -> KnownPrompt | None:
        """What is known of a prompt at an endpoint."""
        known = self.endpoint(endpoint)
        return next((one for one in known.prompts if one.id == prompt), None) if known else None


def known_endpoint(name: str, run: Run, *, texts: bool = False) -> KnownEndpoint:
    """What a run of an endpoint makes known; with `texts` in full. Prompts without a completion are left out."""
    asked = {prompt.id: fingerprint(prompt) for prompt in run.plan.prompts}
    answered_as, fingerprints = _signatures(run)
    return KnownEndpoint(
        name=name,
        api=run.address.api,
        model=run.address.model,
        answered_as=answered_as,
        fingerprints=fingerprints,
        conditions=tuple(condition.name for condition in run.plan.conditions),
        prompts=tuple(
            KnownPrompt(id=prompt.id, asked=asked[prompt.id], texts=_texts(prompt, whole=texts))
            for prompt in sorted(analysis(run).prompts, key=lambda prompt: prompt.id)
            if prompt.texts
        ),
    )


def _signatures(run: Run) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The models and the fingerprints that the answers of a run were signed with."""
    answers = [attempt.outcome for attempt in run.attempts if isinstance(attempt.outcome, Completion)]
    return _names(one.model for one in answers), _names(one.fingerprint for one in answers)


def _names(told: Iterable[str | None]) -> tuple[str, ...]:
    names = sorted({name for name in told if name})
    return tuple(names) if len(names) <= MOST_NAMES else ()


def moved(before: KnownEndpoint, run: Run) -> tuple[str, ...]:
    """What an endpoint says of itself that it did not say before; nothing where one name is as it was."""
    answered_as, fingerprints = _signatures(run)
    pairs = (("model", before.answered_as, answered_as), ("fingerprint", before.fingerprints, fingerprints))
    return tuple(
        f"endpoint {before.name}: its {what} is now {', '.join(new)}, and was {', '.join(old)} in the baseline"
        for what, old, new in pairs
        if old and new and not set(old) & set(new)
    )


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in a row, of very many only the first.

    >>> listed("abc"), listed("abcd", most=2)
    ('a, b, c', 'a, b and 2 more')
    """
    more = len(names) - most
    return f"{', '.join(names[:most])} and {more} more" if more > 0 else ", ".join(names)


def unmatched(baseline: Baseline | None, plan: Plan, endpoints: Iterable[str]) -> Iterator[str]:
    """What a gate cannot notice for want of a baseline, and what the baseline knows that the gate does not ask."""
    if baseline is None:
        yield "there is no baseline: a text that changed cannot be noticed; temp0 check --update makes one"
        return
    names = list(endpoints)
    asked = {prompt.id for prompt in plan.prompts}
    for name in names:
        known = {prompt.id for one in baseline.endpoints if one.name == name for prompt in one.prompts}
        if new := sorted(asked - known):
            what = f"prompt {listed(new)} of endpoint {name}" if known else f"endpoint {name}"
            yield f"the baseline does not know {what}: a text that changed cannot be noticed there"
        if gone := sorted(known - asked):
            yield f"the baseline knows prompt {listed(gone)} of endpoint {name}, which the gate does not ask"
    for one in baseline.endpoints:
        if one.name not in names:
            yield f"the baseline knows endpoint {one.name}, which the gate does not ask"


def _texts(prompt: PromptAnalysis, *, whole: bool) -> tuple[KnownText, ...]:
    return tuple(
        KnownText(
            sha256=one.sha256,
            folded=sha256(folded(one.text)),
            begins=one.text[:BEGINNING],
            count=one.count,
            text=one.text if whole else None,
        )
        for one in prompt.texts
    )


def fingerprint(prompt: Prompt) -> str:
    """The hash of what is asked: roles and contents in order, and the most tokens of an answer."""
    parts = [str(prompt.max_tokens), *(part for message in prompt.messages for part in (message.role, message.content))]
    return sha256("".join(f"{len(part)}:{part}" for part in parts))

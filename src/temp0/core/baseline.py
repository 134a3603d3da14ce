"""What an endpoint answered when somebody last looked and agreed: a small value that is kept beside the code.

It holds hashes, first characters and counts, nothing that changes from one run to the next of an endpoint that always
answers alike, and no key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, PromptAnalysis
from temp0.core.plan import Prompt
from temp0.core.text import folded, sha256

BEGINNING = 60
"""How many characters of a text are kept, so that a person can read the file."""


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
    """An endpoint by its name in the settings, under which conditions it was asked, and what it said of itself."""

    name: str
    api: str
    model: str
    conditions: tuple[str, ...]
    prompts: tuple[KnownPrompt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Every endpoint of a gate, by name."""

    endpoints: tuple[KnownEndpoint, ...] = ()

    def prompt(self, endpoint: str, prompt: str) -> KnownPrompt | None:
        """What is known of a prompt at an endpoint."""
        known = next((one for one in self.endpoints if one.name == endpoint), None)
        return next((one for one in known.prompts if one.id == prompt), None) if known else None


def known_endpoint(name: str, analysis: Analysis, prompts: Sequence[Prompt], *, texts: bool = False) -> KnownEndpoint:
    """What a run of an endpoint makes known; with `texts` in full. Prompts without a completion are left out."""
    asked = {prompt.id: fingerprint(prompt) for prompt in prompts}
    return KnownEndpoint(
        name=name,
        api=analysis.address.api,
        model=analysis.address.model,
        conditions=tuple(dict.fromkeys(one.name for prompt in analysis.prompts for one in prompt.conditions)),
        prompts=tuple(
            KnownPrompt(id=prompt.id, asked=asked[prompt.id], texts=_texts(prompt, whole=texts))
            for prompt in sorted(analysis.prompts, key=lambda prompt: prompt.id)
            if prompt.texts
        ),
    )


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

"""Prompts that have an endpoint go on from a begun answer, and which prompt of the first run each stands for.

The beginning is a last message of the assistant's, and its length stands in the prompt's id.
"""

from __future__ import annotations

from collections.abc import Collection

from temp0.core.plan import Message, Plan, Prompt


def continuation(prompt: Prompt, begun: str, *, n: int, max_tokens: int) -> Prompt:
    """The prompt that has an endpoint go on from `begun`, the first characters of its answer."""
    messages = (*prompt.messages, Message(role="assistant", content=begun))
    return Prompt(id=f"{prompt.id}@{len(begun)}", messages=messages, n=n, max_tokens=max_tokens)


def first_prompts(plan: Plan) -> tuple[Prompt, ...]:
    """The prompts of a plan that continue no answer to another one of it: all, unless it was a second pass."""
    known = {prompt.id for prompt in plan.prompts}
    return tuple(prompt for prompt in plan.prompts if not (whose_answer(prompt, known) or ("", ""))[1])


def beginning(prefix: str) -> str:
    """As much of a shared text as surely ends between tokens: up to the white space before its last word.

    A tokenizer may join a space with the word after it, so that a text cut elsewhere would be read as other tokens than
    the model wrote.
    """
    words = prefix.rstrip()
    cut = max((place for place, letter in enumerate(words) if letter.isspace()), default=0)
    return words[:cut].rstrip()


def whose_answer(prompt: Prompt, known: Collection[str]) -> tuple[str, str] | None:
    """The first run's prompt that one of the second run stands for, and what its answer begins with."""
    last = prompt.messages[-1]
    own = prompt.id.removesuffix(f"@{len(last.content)}")
    if last.role == "assistant" and own != prompt.id and own in known:
        return own, last.content
    return (prompt.id, "") if prompt.id in known else None

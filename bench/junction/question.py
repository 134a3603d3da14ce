"""The prompts: those with one right answer, and those with many."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, and whether it has one right answer."""

    text: str
    is_closed: bool


_CLOSED = (
    "List three prime numbers between 100 and 200.",
    "What is 17*23+5*11? Show the steps and give the answer.",
    "What is the capital of France?",
    "Name the days of the week in order.",
    "How many legs does a spider have?",
    "Which planet is closest to the sun?",
    "What is the chemical formula of water?",
    "Count from one to ten.",
    "Spell the word 'cache' backwards.",
    "Who wrote Romeo and Juliet?",
    "What is the square root of 144?",
    "Translate 'good morning' into French.",
)
_OPEN = (
    "Give me one 12-word proverb about caching.",
    "Write a haiku about a stale cache line.",
    "Explain in one paragraph of about 60 words why temperature=0 is not always deterministic.",
    "Describe a sunset over the sea.",
    "Tell me a short story about a lost umbrella.",
    "Give advice to somebody who starts a new job.",
    "Write a slogan for a bakery.",
    "What makes a good friend?",
    "Invent a name for a robot and say why.",
    "Describe your perfect holiday.",
    "Write a poem about rain on a tin roof.",
    "Why do people like music?",
)
QUESTIONS = tuple(Question(text, True) for text in _CLOSED) + tuple(Question(text, False) for text in _OPEN)

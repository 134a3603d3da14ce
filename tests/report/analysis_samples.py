"""Analyses to show, each made by `core` from a run written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from temp0.core.analysis import Analysis, Cause, Fork, ForkTree, Margin, Untested
from temp0.core.judgement import analysis
from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Attempt, Completion, Failure, Run, Sample, Token

ALONE = Condition()
COMPANY = Condition(company=8)
HOSTILE = (
    "</script><script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "{{7*7}} {% raw %} ]]> <!-- --> &amp;",
    "\x00\x1b[31mred\x1b[0m\r\n\x9b2J\x7f",
    "\u202eevil\u202c \u2066x\u2069 \u200b\ufeff\u2028\u2029",
    "lone \udcb2 and \ud83d surrogates",
    "[bold red]markup[/bold red] [/] \\[x]",
    "東京は夜の七時 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 مرحبا بالعالم שלום",
)

COMPANY_FOUND = Cause(
    cause="company",
    certainty="found",
    evidence="prompt C and 2 more prompts like it: alone always one text in 20; company 8 5 of 20 unlike it; "
    "p = 0.0021 over 84 blocks",
    remedy="use arithmetic whose order does not depend on the batch: vLLM VLLM_BATCH_INVARIANT=1, SGLang "
    "--enable-deterministic-inference, temp0 serve --arithmetic invariant; or let the server take one request at a "
    "time (llama.cpp --parallel 1, vLLM --max-num-seqs 1); then measure again: temp0 probe URL --ask company",
    prompts=("C", "D", "E"),
    n=84,
    p=0.0021,
    p_adjusted=0.0042,
)
UNTESTED = (
    Untested(cause="backend-mix", reason="no fingerprint and no replica header came back"),
    Untested(cause="cache-state", reason="the cache was asked as found only; --ask cache asks cold and warm"),
    Untested(cause="order", reason="no fingerprint and no replica header came back"),
    Untested(cause="observer", reason="logprobs were not both asked for and left out; --logprobs both does that"),
)

Answers = Mapping[str, Mapping[Condition, Sequence[str | Completion | Failure]]]


def analyzed(
    answers: Answers,
    *,
    texts: Mapping[str, str] | None = None,
    running: float | None = 7.9,
    finish: str | None = "stop",
    tokens: bool = False,
) -> Analysis:
    """The analysis of a run in which each prompt, under each condition, was answered so.

    `running` is the server's own count in company; `None` where it gives none, and answers one at a time.
    """
    conditions = tuple(dict.fromkeys(condition for asked in answers.values() for condition in asked))
    prompts = tuple(
        Prompt(
            id=name,
            messages=(Message(role="user", content=(texts or {}).get(name, f"Prompt {name}.")),),
            n=max(len(given) for given in asked.values()),
            max_tokens=160,
        )
        for name, asked in answers.items()
    )
    attempts: list[Attempt] = []
    samples: list[Sample] = []
    block = 0
    for prompt in prompts:
        for condition, given in answers[prompt.id].items():
            for first in range(0, len(given), condition.company):
                started_s = float(len(attempts))
                for place, answer in enumerate(given[first : first + condition.company]):
                    outcome = completion(answer, finish, tokens=tokens) if isinstance(answer, str) else answer
                    took_s = 0.9 * (1 if running is not None else place + 1)
                    attempts.append(attempt(len(attempts), prompt.id, condition, block, outcome, started_s, took_s))
                if running is not None:
                    seen = 1.0 if condition.company == 1 else running
                    samples.append(Sample(at_s=started_s + 0.45, block=block, running=seen))
                block += 1
    return analysis(
        Run(
            id="01k4x9w2vq",
            created="2026-03-01T09:30:00Z",
            address=Address(url="https://api.example.com/v1", api="openai-chat", model="example-8b"),
            plan=Plan(prompts=prompts, conditions=conditions, seed=7),
            attempts=tuple(attempts),
            samples=tuple(samples),
        )
    )


def completion(text: str, finish: str | None = "stop", *, tokens: bool = False) -> Completion:
    pieces = tuple(Token(bytes=piece.encode(), logprob=-0.1) for piece in text.split(" ")) if tokens else None
    return Completion(text=text, finish=finish, tokens=pieces)


def attempt(
    order: int,
    prompt: str,
    condition: Condition,
    block: int,
    outcome: Completion | Failure,
    started_s: float,
    took_s: float,
) -> Attempt:
    return Attempt(
        order=order,
        prompt=prompt,
        condition=condition.name,
        block=block,
        role="judged",
        started_s=started_s,
        first_byte_s=started_s + 0.2,
        ended_s=started_s + took_s,
        in_flight=condition.company,
        predecessor=order - 1 if order else None,
        outcome=outcome,
    )


@cache
def five_prompts() -> Analysis:
    """The public experiment's shape: A and B agree, C to E fork, E with nested forks; a cause and margins added."""
    primes = "Three prime numbers between 100 and 200 are 101, 103 and 107."
    steps = "17*23 = 391\n5*11 = 55\n391 + 55 = 446. The answer is **446**."
    proverb = "A cache remembers what you knew, so check what you know now"
    shared = (
        "Setting temperature=0 makes a language model pick the most probable token at every step, so one would "
        "expect the same answer each time. In practice floating-point addition is not associative, and the order "
        "in which a kernel adds "
    )
    essay = {
        "depends on the size of the batch, so a nearly tied token may flip.": 14,
        "depends on the size of the batch, so a nearly tied word can flip.": 3,
        "depends on the load of the server, which nobody outside can see.": 6,
        "depends on the load of the server, which no client controls.": 2,
        "can change with the batch shape, and tiny differences decide ties.": 4,
        "may vary.": 1,
    }
    essays = [shared + tail for tail, count in essay.items() for _ in range(count)]
    haiku = ["Old light in the line\nthe truth moved on without it\nstale as morning bread"] * 22
    haiku += ["Old light in the line\nthe truth moved on without you\na ghost of a byte"] * 8
    found = analyzed(
        {
            "A": {ALONE: [primes] * 20, COMPANY: [primes] * 20},
            "B": {ALONE: [steps] * 20, COMPANY: [steps] * 20},
            "C": {ALONE: [proverb + "."] * 20, COMPANY: [proverb + "."] * 15 + [proverb + " — twice."] * 5},
            "D": {ALONE: haiku[:1] * 30, COMPANY: haiku},
            "E": {ALONE: [essays[0]] * 30, COMPANY: essays},
        },
        texts={
            "A": "List three prime numbers between 100 and 200.",
            "B": "What is 17*23+5*11? Show the steps and give the answer.",
            "C": "Give me one 12-word proverb about caching.",
            "D": "Write a haiku about a stale cache line.",
            "E": "Explain in one paragraph of about 60 words why temperature=0 is not always deterministic.",
        },
        tokens=True,
    )
    return with_margins(replace(found, causes=(COMPANY_FOUND,), untested=UNTESTED), 0.003)


def with_margins(found: Analysis, value: float) -> Analysis:
    """The same analysis with a near margin at the first fork of each prompt."""
    margin = Margin(value=value, kind="near")
    return replace(
        found,
        prompts=tuple(
            replace(prompt, tree=_measured(prompt.tree, margin) if prompt.tree else None) for prompt in found.prompts
        ),
    )


def _measured(tree: ForkTree, margin: Margin) -> ForkTree:
    fork: Fork | None = replace(tree.fork, margin=margin) if tree.fork else None
    return replace(tree, fork=fork)


@cache
def ended() -> Analysis:
    """One text is a prefix of the other."""
    texts = ["The answer is 446."] * 6 + ["The answer is 446. Shall I show the steps?"] * 4
    return analyzed({"steps": {ALONE: texts}})


@cache
def one_block() -> Analysis:
    """One pool of company and nothing else, whose server names no finish reason."""
    return analyzed({"A": {COMPANY: ["one"] * 5 + ["two"] * 3}}, finish=None)


@cache
def nothing() -> Analysis:
    """Every attempt failed."""
    refused = Failure(reason="http-401", message="the server said: <b>invalid key</b> \x1b[2J", status=401)
    return analyzed({"A": {ALONE: [refused] * 5}, "B": {ALONE: [refused] * 5}})


@cache
def lined_up() -> Analysis:
    """Each condition has its own one text; company is shown."""
    return analyzed(
        {"C": {replace(ALONE, n=4): ["Awful, but not impossible."] * 4, COMPANY: ["The best way to cache."] * 16}}
    )


@cache
def agreed() -> Analysis:
    """Two prompts, thirty blocks each, one text each."""
    return analyzed({name: {ALONE: [f"The answer to {name}."] * 30} for name in ("A", "B")})


@cache
def undecided() -> Analysis:
    """Company was asked for and could not be shown."""
    texts = ["always the same"] * 16
    return analyzed({"A": {ALONE: texts, COMPANY: texts}}, running=None)


@cache
def hostile() -> Analysis:
    """Answers, a prompt, ids and failures that try to break out of whatever shows them."""
    failure = Failure(reason="<b>HTTP 500</b>", message="<script>alert(2)</script>\x1b[2J", status=500)
    long = "A" * 50_000 + "<script>alert(3)</script>" + "\x00" * 50_000
    return analyzed(
        {
            '"><script>alert(4)</script>': {ALONE: [*HOSTILE, failure], COMPANY: [*HOSTILE, long, long + "!"]},
            "{{7*7}}": {ALONE: [HOSTILE[0]] * 3},
            "<i>same</i>": {ALONE: ["alpha <script>s</script>", "omega <script>s</script>"]},
        },
        texts={'"><script>alert(4)</script>': "<script>alert(5)</script> \u202e {{7*7}}"},
    )


@cache
def many(count: int = 1000) -> Analysis:
    """Many prompts, one in a hundred of which diverges."""
    answers = {
        f"p{index:04}": {ALONE: [f"Answer {index}."] * 2 + [f"Answer {index}{'!' if index % 100 == 7 else '.'}"]}
        for index in range(count)
    }
    return analyzed(answers)


@cache
def crowded(count: int = 300) -> Analysis:
    """One prompt, hundreds of texts, each the start of the next: the deepest tree there can be."""
    return analyzed({"deep": {ALONE: ["ha " * length for length in range(1, count + 1)]}})


Maker = Callable[[], Analysis]
ALL: tuple[Maker, ...] = (*(five_prompts, ended, one_block, nothing, lined_up, agreed, undecided, hostile, crowded),)

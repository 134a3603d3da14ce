"""SGLang's server: the openai-chat dialect with every sampling field said, and with token ids.

Sources: https://docs.sglang.io/basic_usage/openai_api_completions.html and python/sglang/srt/entrypoints/openai. Like
vLLM it takes what a question leaves out from the model's generation_config. Reasoning tokens are counted at the top
of `usage`, and an answer names the release of the weights that wrote it. A URL that ends in `/generate` is asked in
the native form.
"""

from __future__ import annotations

from dataclasses import replace

from temp0.probe.dialect.field import told_object
from temp0.probe.dialect.sglang_generate import QUESTIONS, SGLANG_GENERATE
from temp0.probe.dialect.variation import Answer, variation
from temp0.probe.dialect.vllm import VLLM, engine_body, with_ids

_WEIGHTS = "weight_version"


def _answer(answer: Answer) -> Answer:
    usage = told_object(answer.get("usage"))
    if "reasoning_tokens" in usage and "completion_tokens_details" not in usage:
        details = {"reasoning_tokens": usage["reasoning_tokens"]}
        answer = {**answer, "usage": {**usage, "completion_tokens_details": details}}
    weights = told_object(answer.get("metadata")).get(_WEIGHTS)
    return {**answer, _WEIGHTS: weights} if weights else answer


def _choice(choice: Answer) -> Answer:
    """The choice with its token ids, also those that `return_meta_info` lists as [logprob, id, text]."""
    listed = told_object(choice.get("meta_info")).get("output_token_logprobs")
    if "token_ids" in choice or not isinstance(listed, list):
        return with_ids(choice, choice.get("token_ids"))
    return with_ids(choice, [entry[1] if isinstance(entry, list) and len(entry) > 1 else None for entry in listed])


_CHAT = variation(
    "sglang",
    body=engine_body,
    choice=_choice,
    answer=_answer,
    told={_WEIGHTS: "weight-version"},
    dispensable=VLLM.dispensable,
    continues=True,
)
SGLANG = replace(_CHAT, forms=((QUESTIONS, SGLANG_GENERATE),))

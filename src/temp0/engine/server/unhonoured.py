"""Which fields would change the answer, or what is told of it, and cannot be honoured here.

Ignoring such a field in silence would let a client believe what is not so: it is refused unless its value asks for
nothing. Every field that no table names is harmless and is tolerated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from temp0.engine.server.fields import Fields
from temp0.engine.server.refusal import RefusedError

# Field to the values, beside null, that ask for nothing.
Neutral = Mapping[str, tuple[object, ...]]

OPENAI: Neutral = {
    "allowed_token_ids": ([],),
    "audio": (),
    "bad_words": ([],),
    "best_of": (1,),
    "chat_template": (),
    "chat_template_kwargs": ({},),
    "dry_multiplier": (0,),
    "frequency_penalty": (0,),
    "function_call": ("none", "auto"),
    "functions": ([],),
    "grammar": ("",),
    "guided_choice": ([],),
    "guided_grammar": ("",),
    "guided_json": (),
    "guided_regex": ("",),
    "include_stop_str_in_output": (False,),
    "json_schema": ({},),
    "logit_bias": ({}, []),
    "min_tokens": (0,),
    "mirostat": (0,),
    "modalities": (["text"],),
    "n": (1,),
    "n_probs": (0,),
    "presence_penalty": (0,),
    "prompt_logprobs": (),
    "repeat_penalty": (1,),
    "repetition_penalty": (1,),
    "response_format": ({"type": "text"},),
    "stop_token_ids": ([],),
    "structured_outputs": ({},),
    "suffix": ("",),
    "tool_choice": ("none", "auto"),
    "tools": ([],),
    "truncate_prompt_tokens": (),
    "use_beam_search": (False,),
    "web_search_options": (),
    "xtc_probability": (0,),
}

# What only completions can give: the prompt in front of the answer, and tokens by their ids.
CHAT: Neutral = dict(sorted({**OPENAI, "echo": (False,), "return_tokens_as_token_ids": (False,)}.items()))

# Nothing is kept here that a later request could refer to, and a limit of another dialect is not the one of this.
RESPONSES: Neutral = dict(
    sorted(
        {
            **CHAT,
            "background": (False,),
            "context_management": ([],),
            "conversation": (),
            "max_completion_tokens": (),
            "max_tokens": (),
            "messages": (),
            "previous_response_id": (),
            "prompt": (),
            "store": (False,),
            "truncation": ("disabled",),
        }.items()
    )
)

# The fields of `text`; a model without a measure of verbosity answers as it does.
RESPONSES_TEXT: Neutral = {"format": ({"type": "text"},), "verbosity": ("medium",)}

ANTHROPIC: Neutral = {
    "container": (),
    "mcp_servers": ([],),
    "output_format": (),
    "thinking": ({"type": "disabled"},),
    "tool_choice": ({"type": "none"}, {"type": "auto"}),
    "tools": ([],),
}

# The fields of `output_config`; its effort changes nothing in a model that does not reason.
ANTHROPIC_OUTPUT: Neutral = {"format": ()}

# Greedy decoding takes the most likely token, which none of these can change.
SAMPLING: Neutral = {
    "min_p": (0,),
    "top_k": (0, -1),
    "top_p": (1,),
    "typical_p": (1,),
}


def refuse_unhonoured(fields: Fields, neutral: Neutral, *, temperature: float = 0.0) -> None:
    """Refuse the first field, in alphabetical order, that asks for what this server cannot do."""
    _refuse(fields, neutral, "this server does not support")
    if temperature > 0:
        _refuse(fields, SAMPLING, "with a temperature above 0 this server does not support")


def _refuse(fields: Fields, neutral: Neutral, complaint: str) -> None:
    for name, values in neutral.items():
        if name in fields and fields.raw(name) not in values:
            path = fields.path(name)
            raise RefusedError(f"{complaint} {path} here; leave it out{_or_send(values)}", field=path)


def _or_send(values: tuple[object, ...]) -> str:
    return f" or send {json.dumps(values[0])}" if values else ""

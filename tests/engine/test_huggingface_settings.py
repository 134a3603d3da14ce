from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_family import CONTEXT, FAMILIES, MISTRAL, QWEN2, QWEN3, SMOLLM2, Family, config_of

from temp0.engine.checkpoint import Settings
from temp0.engine.file_fields import Fields
from temp0.engine.huggingface_settings import settings_of
from temp0.errors import ModelError

PATH = Path("model/config.json")


def read(family: Family, *, without: str | None = None, **config: Any) -> Settings:
    values = {key: value for key, value in (config_of(family) | config).items() if key != without}
    return settings_of(Fields(path=PATH, values=values))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_rope_theta_is_read_where_either_generation_keeps_it(family: Family) -> None:
    rope = {"rope_type": "default", "rope_theta": 12345.0}
    assert read(family).rope_theta == family.theta
    assert read(family, without="rope_theta", rope_parameters=rope).rope_theta == 12345.0
    assert read(family, without="rope_theta").rope_theta == 10_000.0


@pytest.mark.parametrize(
    ("family", "config", "context"),
    [
        (MISTRAL, {"sliding_window": None}, CONTEXT),
        (MISTRAL, {"sliding_window": 32}, 32),
        (MISTRAL, {"sliding_window": 4096}, CONTEXT),
        (QWEN2, {"sliding_window": 32, "use_sliding_window": False}, CONTEXT),
        (QWEN2, {"sliding_window": 32, "use_sliding_window": True}, 32),
        (QWEN2, {"sliding_window": 32, "layer_types": ["full_attention"] * 2}, CONTEXT),
        (QWEN3, {"sliding_window": 32, "layer_types": ["full_attention", "sliding_attention"]}, 32),
        (QWEN3, {"sliding_window": None, "use_sliding_window": True}, CONTEXT),
    ],
)
def test_a_sliding_window_limits_the_context(family: Family, config: dict[str, Any], context: int) -> None:
    assert read(family, **config).context == context


def test_mistral_has_a_window_unless_it_says_otherwise() -> None:
    assert read(MISTRAL, without="sliding_window", max_position_embeddings=32768).context == 4096


def test_a_head_has_the_size_that_the_architecture_gives_it() -> None:
    assert read(SMOLLM2).head_dim == 16
    assert read(SMOLLM2, head_dim=None).head_dim == 16
    assert read(QWEN3).head_dim == 24
    assert read(QWEN3, without="head_dim").head_dim == 128


def test_llama_has_as_many_kv_heads_as_heads_unless_it_says_otherwise() -> None:
    assert read(SMOLLM2, without="num_key_value_heads").kv_heads == 4
    with pytest.raises(ModelError, match="num_key_value_heads is absent"):
        read(QWEN2, without="num_key_value_heads")


def test_a_feature_that_is_off_is_no_reason_to_refuse() -> None:
    off = {"quantization_config": None, "partial_rotary_factor": 1.0, "rope_scaling": {"type": "default"}}
    assert read(SMOLLM2, **off) == read(SMOLLM2)


@pytest.mark.parametrize(
    ("family", "config", "said"),
    [
        (SMOLLM2, {"architectures": ["GemmaForCausalLM"]}, "architectures is ['GemmaForCausalLM'], expected one of"),
        (SMOLLM2, {"architectures": []}, "architectures is [], expected one of LlamaForCausalLM"),
        (SMOLLM2, {"architectures": None}, "architectures is 'None', expected an array of strings"),
        (SMOLLM2, {"architectures": ["MixtralForCausalLM"]}, "expected one of LlamaForCausalLM, MistralForCausalLM"),
        (SMOLLM2, {"model_type": "qwen2"}, "model_type is 'qwen2', expected 'llama'"),
        (SMOLLM2, {"attention_bias": True}, "says attention_bias = True, which this engine does not support"),
        (QWEN3, {"attention_bias": True}, "says attention_bias = True"),
        (SMOLLM2, {"mlp_bias": True}, "says mlp_bias = True"),
        (SMOLLM2, {"hidden_act": "gelu"}, "says hidden_act = gelu"),
        (SMOLLM2, {"rope_interleaved": True}, "says rope_interleaved = True"),
        (SMOLLM2, {"partial_rotary_factor": 0.5}, "says partial_rotary_factor = 0.5"),
        (SMOLLM2, {"num_local_experts": 8}, "says num_local_experts = 8"),
        (SMOLLM2, {"sliding_window": 64}, "says sliding_window = 64"),
        (SMOLLM2, {"quantization_config": {"bits": 4}}, "says quantization_config = {'bits': 4}"),
        (SMOLLM2, {"never_heard_of": 1}, "says never_heard_of = 1"),
        (SMOLLM2, {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "rope_scaling.rope_type = llama3"),
        (SMOLLM2, {"rope_scaling": {"type": "yarn", "factor": 4.0}}, "rope_scaling.type = yarn: scaled rotary"),
        (SMOLLM2, {"rope_parameters": {"rope_type": "linear"}}, "rope_parameters.rope_type = linear"),
        (SMOLLM2, {"rope_parameters": {"factor": 8.0}}, "says rope_parameters.factor = 8.0"),
        (SMOLLM2, {"rope_parameters": {"full_attention": {}}}, "says rope_parameters.full_attention = {}"),
        (SMOLLM2, {"rope_parameters": {"rope_theta": 7.0}}, "states rope_theta as [7.0, 100000.0]"),
        (SMOLLM2, {"rope_parameters": "default"}, "rope_parameters is 'default', expected an object"),
        (SMOLLM2, {"rope_theta": 0.5}, "rope_theta is 0.5, expected 1 to 1e30"),
        (SMOLLM2, {"num_attention_heads": 0}, "heads is 0, expected more than 0"),
        (SMOLLM2, {"num_key_value_heads": 3}, "4 heads over 3 KV heads"),
        (SMOLLM2, {"max_position_embeddings": 10**12}, "context is 1000000000000, expected at most 16777216"),
        (SMOLLM2, {"head_dim": 15}, "and an even size"),
        (SMOLLM2, {"hidden_size": "wide"}, "hidden_size is 'wide', expected a whole number"),
        (SMOLLM2, {"vocab_size": -1}, "vocab_size is '-1', expected a whole number"),
        (SMOLLM2, {"rms_norm_eps": None}, "rms_norm_eps is 'None', expected a number"),
        (SMOLLM2, {"rms_norm_eps": -1e-5}, "norm_eps is -1e-05, expected 0 or more"),
        (SMOLLM2, {"tie_word_embeddings": "yes"}, "tie_word_embeddings is 'yes', expected true or false"),
        (QWEN2, {"layer_types": ["linear_attention"]}, "expected full_attention or sliding_attention throughout"),
        (QWEN2, {"sliding_window": "wide", "use_sliding_window": True}, "sliding_window is 'wide', expected a whole"),
    ],
)
def test_what_would_be_computed_wrongly_is_refused(family: Family, config: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(family, **config)
    assert said in str(caught.value)
    assert str(PATH) in str(caught.value)

"""One small random model of each supported family, written as a GGUF file and as a Hugging Face directory.

Both hold the same numbers, in the order and under the names that each form has for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from gguf import TokenType
from tiny_gguf import write_gguf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from temp0.engine.checkpoint import Array

RECORDED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "fixtures" / "tokenizer" / "ids.json").read_text())
WORDS: list[str] = RECORDED["vocabulary"]["tokens"]
MERGES: list[str] = RECORDED["vocabulary"]["merges"]
TEXTS: list[str] = RECORDED["texts"]

DIM, LAYERS, HEADS, KV_HEADS, FFN, CONTEXT = 64, 2, 4, 2, 96, 128
BOS, EOS, TOOL = len(WORDS), len(WORDS) + 1, len(WORDS) + 2
SPECIAL = ("<|im_start|>", "<|im_end|>", "<tool>")
# Embeddings have rows that no token needs, as those of real models do.
ROWS = len(WORDS) + len(SPECIAL) + 5
TEMPLATE = "{{ bos_token }}{% for message in messages %}<|im_start|>{{ message.content }}<|im_end|>{% endfor %}"

_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How a family is called in both forms, and what sets it apart. `config` and `metadata` are said besides."""

    name: str
    model: str
    model_type: str
    architecture: str
    pre: str
    head_dim: int = 16
    theta: float = 10_000.0
    tied: bool = False
    bias: bool = False
    norm: bool = False
    add_bos: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)


SMOLLM2 = Family(
    name="smollm2",
    model="LlamaForCausalLM",
    model_type="llama",
    architecture="llama",
    pre="smollm",
    theta=100_000.0,
    tied=True,
    config={"attention_bias": False, "mlp_bias": False, "is_llama_config": True, "rope_interleaved": False},
)
MISTRAL = Family(
    name="mistral",
    model="MistralForCausalLM",
    model_type="mistral",
    architecture="llama",
    pre="llama-bpe",
    head_dim=24,
    theta=1_000_000.0,
    add_bos=True,
    config={"sliding_window": None, "head_dim": 24},
)
QWEN2 = Family(
    name="qwen2",
    model="Qwen2ForCausalLM",
    model_type="qwen2",
    architecture="qwen2",
    pre="qwen2",
    theta=1_000_000.0,
    tied=True,
    bias=True,
    config={"use_sliding_window": False, "sliding_window": 64, "max_window_layers": 21},
)
QWEN3 = Family(
    name="qwen3",
    model="Qwen3ForCausalLM",
    model_type="qwen3",
    architecture="qwen3",
    pre="qwen2",
    head_dim=24,
    theta=1_000_000.0,
    norm=True,
    config={"head_dim": 24, "attention_bias": False, "use_sliding_window": False, "sliding_window": None},
)
FAMILIES = (SMOLLM2, MISTRAL, QWEN2, QWEN3)


def config_of(family: Family) -> dict[str, Any]:
    """What config.json says, in the manner of older files: rope_theta at the top."""
    return {
        "architectures": [family.model],
        "model_type": family.model_type,
        "hidden_size": DIM,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "intermediate_size": FFN,
        "vocab_size": ROWS,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": family.theta,
        "rope_scaling": None,
        "tie_word_embeddings": family.tied,
        "hidden_act": "silu",
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "torch_dtype": "bfloat16",
        **family.config,
    }


def weights_of(family: Family, *, seed: int = 3) -> dict[str, Array]:
    """Weights under their Hugging Face names, seeded and spread so that activations stay near 1."""
    noise = np.random.default_rng(seed)
    queries, keys = HEADS * family.head_dim, KV_HEADS * family.head_dim

    def matrix(outputs: int, inputs: int) -> Array:
        return noise.standard_normal((outputs, inputs), np.float32) * np.float32(inputs**-0.5 * 1.5)

    def norm(width: int = DIM) -> Array:
        return noise.uniform(0.5, 1.5, width).astype(np.float32)

    weights = {"model.embed_tokens.weight": matrix(ROWS, DIM) * 4, "model.norm.weight": norm()}
    for layer in range(LAYERS):
        attention, feed = f"model.layers.{layer}.self_attn.", f"model.layers.{layer}.mlp."
        weights[f"model.layers.{layer}.input_layernorm.weight"] = norm()
        weights[f"model.layers.{layer}.post_attention_layernorm.weight"] = norm()
        for part, rows in (("q", queries), ("k", keys), ("v", keys)):
            weights[f"{attention}{part}_proj.weight"] = matrix(rows, DIM)
            if family.bias:
                weights[f"{attention}{part}_proj.bias"] = noise.standard_normal(rows, np.float32)
            if family.norm and part != "v":
                weights[f"{attention}{part}_norm.weight"] = norm(family.head_dim)
        weights[f"{attention}o_proj.weight"] = matrix(DIM, queries)
        weights |= {f"{feed}{part}_proj.weight": matrix(FFN, DIM) for part in ("gate", "up")}
        weights[f"{feed}down_proj.weight"] = matrix(DIM, FFN)
    return weights if family.tied else weights | {"lm_head.weight": matrix(ROWS, DIM)}


def tokenizer_of(family: Family) -> Tokenizer:
    """The tokenizer as the family's own tokenizer.json has it, over words with merges across every cut."""
    ids = {word: token for token, word in enumerate(WORDS)}
    merges = [(left, right) for left, right in (merge.split(" ") for merge in MERGES)]
    tokenizer = Tokenizer(BPE(ids, merges, ignore_merges=family.pre == "llama-bpe"))
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    cuts = {
        "smollm": [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)],
        "llama-bpe": [pre_tokenizers.Split(Regex(_PATTERN % "{1,3}"), behavior="isolated"), whole],
        "qwen2": [pre_tokenizers.Split(Regex(_PATTERN % ""), behavior="isolated"), whole],
    }
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(cuts[family.pre])
    tokenizer.decoder = decoders.ByteLevel()
    if family.pre == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIAL[:2]])
    tokenizer.add_tokens([AddedToken(SPECIAL[2], normalized=False)])
    if family.add_bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{SPECIAL[0]} $A", pair=f"{SPECIAL[0]} $A $B", special_tokens=[(SPECIAL[0], BOS)]
        )
    return tokenizer


def write_directory(
    directory: Path,
    family: Family,
    *,
    kind: str = "F32",
    config: Mapping[str, Any] | None = None,
    without: str | None = None,
    weights: Mapping[str, Array] | None = None,
    shards: int = 1,
) -> Path:
    """Write the family's tiny model as a Hugging Face directory. `config` replaces and adds keys, `without` leaves
    one out. Weights are stored as `kind`, in one file or in so many shards with their index."""
    directory.mkdir(exist_ok=True)
    said = {key: value for key, value in (config_of(family) | dict(config or {})).items() if key != without}
    write_json(directory / "config.json", said)
    write_json(
        directory / "tokenizer_config.json",
        {
            "bos_token": SPECIAL[0],
            "eos_token": {"__type": "AddedToken", "content": SPECIAL[1], "special": True},
            "chat_template": TEMPLATE,
            "tokenizer_class": "PreTrainedTokenizerFast",
        },
    )
    tokenizer_of(family).save(str(directory / "tokenizer.json"))
    tensors = weights_of(family) if weights is None else weights
    if shards == 1:
        write_safetensors(directory / "model.safetensors", tensors, kind=kind)
        return directory
    files = {name: f"model-{index % shards + 1:05}-of-{shards:05}.safetensors" for index, name in enumerate(tensors)}
    write_json(directory / "model.safetensors.index.json", {"metadata": {}, "weight_map": files})
    for file in sorted(set(files.values())):
        part = {name: tensor for name, tensor in tensors.items() if files[name] == file}
        write_safetensors(directory / file, part, kind=kind)
    return directory


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def change_json(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit the object in a JSON file, an empty one if there is no file."""
    value = json.loads(path.read_text()) if path.exists() else {}
    edit(value)
    write_json(path, value)


def write_safetensors(path: Path, tensors: Mapping[str, Array], *, kind: str = "F32") -> None:
    """Write arrays as F32, F16, BF16 or I32, by hand: numpy has no bf16 that the library would take."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, tensor in tensors.items():
        data = _stored(tensor, kind).tobytes()
        header[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def write_family_gguf(path: Path, family: Family, **changes: Any) -> Path:
    """Write the family's tiny model as a GGUF file; `changes` go to `write_gguf`."""
    prefix = f"{family.architecture}."
    unused = ROWS - len(WORDS) - len(SPECIAL)
    kinds = [TokenType.NORMAL] * len(WORDS) + [TokenType.CONTROL] * 2 + [TokenType.USER_DEFINED]
    metadata = {
        f"{prefix}block_count": LAYERS,
        f"{prefix}context_length": CONTEXT,
        f"{prefix}embedding_length": DIM,
        f"{prefix}feed_forward_length": FFN,
        f"{prefix}attention.head_count": HEADS,
        f"{prefix}attention.head_count_kv": KV_HEADS,
        f"{prefix}attention.key_length": family.head_dim,
        f"{prefix}attention.value_length": family.head_dim,
        f"{prefix}attention.layer_norm_rms_epsilon": 1e-5,
        f"{prefix}rope.freq_base": family.theta,
        f"{prefix}rope.dimension_count": family.head_dim,
        "tokenizer.ggml.pre": family.pre,
        "tokenizer.ggml.tokens": [*WORDS, *SPECIAL, *(f"[PAD{ROWS - unused + index}]" for index in range(unused))],
        "tokenizer.ggml.token_type": [int(kind) for kind in kinds] + [int(TokenType.UNUSED)] * unused,
        "tokenizer.ggml.merges": MERGES,
        "tokenizer.ggml.bos_token_id": BOS,
        "tokenizer.ggml.eos_token_id": EOS,
        "tokenizer.ggml.add_bos_token": family.add_bos,
        "tokenizer.chat_template": TEMPLATE,
    } | changes.pop("metadata", {})
    changes.setdefault("tensors", gguf_tensors(family, weights_of(family)))
    return write_gguf(path, architecture=family.architecture, metadata=metadata, **changes)


def gguf_tensors(family: Family, weights: Mapping[str, Array]) -> dict[str, Array]:
    """The same weights as GGUF has them: llama files turn neighbouring rows of q and k together."""
    tensors = {}
    for name, tensor in weights.items():
        renamed = _gguf_name(name)
        if family.architecture == "llama" and name.endswith(("q_proj.weight", "k_proj.weight")):
            halves = tensor.reshape(-1, 2, family.head_dim // 2, DIM)
            tensor = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(tensor.shape)
        tensors[renamed] = tensor
    return tensors


def _gguf_name(name: str) -> str:
    parts = {
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "lm_head": "output",
        "model.layers": "blk",
        "self_attn.o_proj": "attn_output",
        "self_attn": "attn",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "mlp.": "ffn_",
        "attn.": "attn_",
        "_proj": "",
        ".weight": "",
    }
    for theirs, ours in parts.items():
        name = name.replace(theirs, ours)
    return name


def _stored(tensor: Array, kind: str) -> np.ndarray[Any, Any]:
    if kind == "BF16":
        return (np.ascontiguousarray(tensor).view(np.uint32) >> 16).astype(np.uint16)
    return tensor.astype({"F32": np.float32, "F16": np.float16, "I32": np.int32}[kind])

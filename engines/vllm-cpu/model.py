"""Writes a tiny model: a Qwen2 shape and a tokenizer of 4,096 words. Its weights are random,
made by the engine when it loads it (--load-format dummy)."""

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

VOCABULARY = 4096

SHAPE = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 512,
    "num_hidden_layers": 4,
    "intermediate_size": 2048,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 8192,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "use_sliding_window": False,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "torch_dtype": "bfloat16",
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    words = {f"w{i}": i for i in range(VOCABULARY)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="w2"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "w0",
        "eos_token": "w1",
        "unk_token": "w2",
        "model_max_length": 8192,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")
    (folder / "config.json").write_text(json.dumps(SHAPE, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

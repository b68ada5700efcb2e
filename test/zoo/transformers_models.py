"""transformers: small configurations of every kind of model, without downloads."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch

import vision_models  # noqa: F401  declares torchvision's operators for transformers
import transformers

import transformers_language_table as language
import transformers_media_table as media
from entry import Entry
from transformers_parts import GROUPED

FAMILIES = {
    "encoder": language.ENCODERS,
    "decoder": language.DECODERS,
    "mixture of experts": language.MIXTURES,
    "state space": language.STATE_SPACE,
    "encoder-decoder": language.SEQUENCES,
    "speech": media.SPEECH,
    "vision": media.PICTURES,
    "vision-language": media.MULTIMODAL,
    "time series": media.SERIES,
}
QUICK = {
    "BertForSequenceClassification",
    "LlamaForCausalLM",
    "T5ForConditionalGeneration",
    "Wav2Vec2ForCTC",
    "CLIPModel",
    "MixtralForCausalLM",
    "MambaForCausalLM",
}


def make(name, config, inputs):
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**config)).eval()
    return model, (), inputs()


class Cached(torch.nn.Module):
    """One step of a decoder with a static key-value cache in buffers."""

    def __init__(self, model, hybrid=False):
        super().__init__()
        from transformers.integrations import executorch

        kind = (
            executorch.TorchExportableModuleWithHybridCache
            if hybrid
            else executorch.TorchExportableModuleWithStaticCache
        )
        self.core = kind(model, batch_size=1, max_cache_len=16, device=torch.device("cpu"))

    def forward(self, input_ids, cache_position):
        return self.core(input_ids=input_ids, cache_position=cache_position)


def cached(name, config, hybrid):
    kind = getattr(transformers, name)
    generation = transformers.GenerationConfig(
        use_cache=True,
        cache_implementation="static",
        cache_config={"batch_size": 1, "max_cache_len": 16},
        max_length=16,
    )
    model = kind(kind.config_class(**dict(config, use_cache=True))).eval()
    model.generation_config = generation
    return Cached(model, hybrid), (torch.tensor([[7]]), torch.tensor([0]))


CACHED = [
    ("LlamaForCausalLM", GROUPED, False),
    ("Qwen3ForCausalLM", GROUPED, False),
    ("Gemma3ForCausalLM", dict(GROUPED, sliding_window=6), True),
]


def entries():
    out = []
    for family, rows in FAMILIES.items():
        for name, config, inputs in rows:
            spec = f"{transformers.__version__} {name} {config} {inputs()}"
            run = lambda name=name, config=config, inputs=inputs: make(name, config, inputs)
            out.append(Entry(f"transformers/{name}", family, run, spec, name in QUICK))
    for name, config, hybrid in CACHED:
        run = lambda name=name, config=config, hybrid=hybrid: cached(name, config, hybrid)
        out.append(
            Entry(
                f"transformers/{name}-static-cache",
                "decoder with static cache",
                run,
                f"{name} {config}",
            )
        )
    return out

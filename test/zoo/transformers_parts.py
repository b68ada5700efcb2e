"""Common sizes and inputs of small configurations of transformers models."""

import torch

from entry import ids, randn

# The common names of sizes in language models.
TEXT = dict(
    vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=64, max_position_embeddings=64,
)  # fmt: skip
GROUPED = dict(TEXT, num_key_value_heads=2, use_cache=False, pad_token_id=0, head_dim=8)
EXPERTS = dict(GROUPED, num_experts_per_tok=2, output_router_logits=False)
PICTURE = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
    image_size=32, patch_size=8,
)  # fmt: skip
STAGES = dict(depths=[1, 1, 2, 1], hidden_sizes=[8, 16, 24, 32])
WAVE = dict(
    vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=64, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3),
    num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
)  # fmt: skip
SEQ2SEQ = dict(
    vocab_size=96, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64,
    pad_token_id=0, use_cache=False,
)  # fmt: skip


def text(length=12):
    return {"input_ids": ids(2, length)}


def masked(length=12):
    mask = torch.ones(2, length, dtype=torch.long)
    mask[1, length - 3 :] = 0
    return dict(text(length), attention_mask=mask)


def both():
    return dict(text(), decoder_input_ids=ids(2, 6, seed=3))


def picture(side=32):
    return {"pixel_values": randn(1, 3, side, side)}


def sound(length=2000):
    return {"input_values": randn(2, length)}


def vision_text(side=32):
    return dict(masked(), pixel_values=randn(2, 3, side, side))

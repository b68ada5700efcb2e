"""Cases of attention over a cache. Tensors are [batch, position, head, element]."""

import torch

from op_case import case, family, refuse, tensor

f32, f64, f16, bf16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
TOLERANCE = {f32: (1e-5, 1e-5), f64: (1e-10, 1e-10), f16: (4e-3, 4e-3), bf16: (3e-2, 3e-2)}


def attention(q, k, v, start, mask, causal, scale):
    """What PyTorch's operator makes of the part of the cache that is filled."""
    count = q.shape[1]
    k, v = (x[:, :start + count].float() if x.dtype != f64 else x[:, :start + count]
            for x in (k, v))
    wide = q.to(k.dtype)
    if causal:
        mask = torch.ones(count, start + count).tril(start).to(torch.bool)
    elif mask is not None:
        mask = mask[:, :start + count].to(k.dtype)
    heads = [x.transpose(1, 2) for x in (wide, k, v)]
    out = torch.nn.functional.scaled_dot_product_attention(
        *heads, attn_mask=mask, scale=scale, enable_gqa=True)
    return out.transpose(1, 2).contiguous().to(q.dtype)


with family("op_custom_sdpa"):
    NAME = "llama::custom_sdpa.out"

    def sdpa(batch, queries, heads, key_heads, size, cache, start, masked=False, causal=False,
             scale=None, dtype=f32):
        q = tensor([batch, queries, heads, size], dtype, -1, 1)
        k, v = (tensor([batch, cache, key_heads, size], dtype, -1, 1) for _ in "kv")
        mask = tensor([queries, cache], f32, -2, 2) if masked else None
        case(NAME, q, k, v, start, mask, 0.0, causal, scale,
             expect=attention(q, k, v, start, mask, causal, scale), tolerance=TOLERANCE[dtype])

    for dtype in (f32, f64, f16, bf16):
        sdpa(1, 2, 2, 1, 5, 4, 1, causal=True, dtype=dtype)
    sdpa(2, 3, 2, 2, 4, 6, 0, causal=True)
    sdpa(1, 3, 4, 2, 4, 6, 2)
    sdpa(1, 2, 2, 2, 3, 5, 1, masked=True)
    sdpa(1, 1, 1, 1, 20, 75, 74, scale=0.5)
    sdpa(1, 0, 1, 1, 2, 3, 1)
    q, k = tensor([1, 2, 1, 2]), tensor([1, 4, 1, 2])
    hidden = torch.full([2, 4], float("-inf"))
    case(NAME, q, k, k, 2, hidden, 0.0, False, None, expect=torch.zeros([1, 2, 1, 2]))
    refuse(NAME, q, k, k, 3, None, 0.0, False, None, outs=q)
    refuse(NAME, q, k, k, -1, None, 0.0, False, None, outs=q)
    refuse(NAME, q, k, k, 2**62, None, 0.0, False, None, outs=q)
    refuse(NAME, q, k, k, 0, None, 0.5, False, None, outs=q)
    refuse(NAME, q, k, k, 1, tensor([2, 2]), 0.0, False, None, outs=q)
    refuse(NAME, q, k, tensor([1, 3, 1, 2]), 0, None, 0.0, False, None, outs=q)
    refuse(NAME, tensor([1, 2, 3, 2]), tensor([1, 4, 2, 2]), tensor([1, 4, 2, 2]), 0, None, 0.0,
           False, None, outs=tensor([1, 2, 3, 2]))

    NAME = "llama::sdpa_with_kv_cache.out"
    q, k, v = (tensor([1, 2, heads, 3], f32, -1, 1) for heads in (2, 1, 1))
    keys, values = (tensor([1, 5, 1, 3], f32, -1, 1) for _ in "kv")
    new_keys, new_values = keys.clone(), values.clone()
    new_keys[:, 1:3], new_values[:, 1:3] = k, v
    case(NAME, q, k, v, keys, values, 1, 2, None, 0.0, True, None,
         after={3: new_keys, 4: new_values},
         expect=attention(q, new_keys, new_values, 1, None, True, None))
    refuse(NAME, q, k, v, keys, values, 4, 2, None, 0.0, True, None, outs=q)
    refuse(NAME, q, k, v, keys, values, 1, 3, None, 0.0, True, None, outs=q)

    NAME = "llama::update_cache.out"
    cache, value = tensor([2, 4, 1, 3]), tensor([2, 2, 1, 3])
    after = cache.clone()
    after[:, 1:3] = value
    case(NAME, value, cache, 1, after={1: after}, out=[])
    refuse(NAME, value, cache, 3, outs=tensor([1]))
    refuse(NAME, tensor([2, 2, 1, 2]), cache, 1, outs=tensor([1]))

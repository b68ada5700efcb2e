"""Cases of the operators of LLMs: attention over a cache, writing the cache, and related ones.

Tensors are [batch, position, head, element] unless stated otherwise.
"""

import torch

from op_case import case, family, refuse, tensor

f32, f64, f16, bf16, i8 = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8)
TOLERANCE = {f32: (1e-5, 1e-5), f64: (1e-10, 1e-10), f16: (4e-3, 4e-3), bf16: (3e-2, 3e-2)}


def attention(q, k, v, start, mask, causal, scale):
    """What PyTorch's operator computes from the filled part of the cache or, with a mask, from all
    of it."""
    count = q.shape[1]
    keys = start + count if mask is None else k.shape[1]
    k, v = (x[:, :keys].float() if x.dtype != f64 else x[:, :keys] for x in (k, v))
    wide = q.to(k.dtype)
    if causal:
        mask = torch.ones(count, keys).tril(start).to(torch.bool)
    elif mask is not None:
        mask = mask.to(k.dtype)
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
    sdpa(1, 2, 2, 2, 3, 5, 20, masked=True)
    sdpa(1, 1, 1, 1, 20, 75, 74, scale=0.5)
    sdpa(1, 0, 1, 1, 2, 3, 1)
    q, k = tensor([1, 2, 1, 2]), tensor([1, 4, 1, 2])
    hidden = torch.full([2, 4], float("-inf"))
    case(NAME, q, k, k, 2, hidden, 0.0, False, None, expect=torch.zeros([1, 2, 1, 2]))
    refuse(NAME, q, k, k, 3, None, 0.0, False, None, outs=q)
    refuse(NAME, q, k, k, -1, None, 0.0, False, None, outs=q)
    refuse(NAME, q, k, k, 2**62, None, 0.0, False, None, outs=q)
    refuse(NAME, q, k, k, 1, hidden, 0.0, True, None, outs=q)
    refuse(NAME, q, k, k, 1, tensor([2, 3]), 0.0, False, None, outs=q)
    refuse(NAME, q, k, tensor([1, 3, 1, 2]), 0, None, 0.0, False, None, outs=q)
    refuse(NAME, tensor([1, 2, 3, 2]), tensor([1, 4, 2, 2]), tensor([1, 4, 2, 2]), 0, None, 0.0,
           False, None, outs=tensor([1, 2, 3, 2]))
    refuse(NAME, q.to(i8), k.to(i8), k.to(i8), 0, None, 0.0, False, None, outs=q)

    NAME = "llama::custom_quantized_sdpa.out"

    def quantized(batch, queries, heads, key_heads, size, cache, start, masked=False, causal=False,
                  scale=None, heads_first=False):
        parts, wide = [], []
        for positions, count in ((queries, heads), (cache, key_heads), (cache, key_heads)):
            rows = [batch, positions, count]
            data = tensor(rows + [size], i8, -128, 127)
            zero_point = tensor(rows + [1], i8, -9, 9)
            factor = tensor(rows + [1], f32, 0.125, 1) / 64
            wide.append((data.float() - zero_point.float()) * factor)
            parts.append((data, zero_point, factor))
        mask = tensor([queries, cache], f32, -2, 2) if masked else None
        expect = attention(*wide, start, mask, causal, scale)
        if heads_first:
            parts = [[x.transpose(1, 2).contiguous() for x in part] for part in parts]
            expect = expect.transpose(1, 2).contiguous()
        args = [part[0] for part in parts] + [start, mask, 0.0, causal, scale]
        args += [x for part in parts for x in part[1:]] + [heads_first]
        case(NAME, *args, expect=expect, tolerance=(1e-5, 1e-5))
        return args, expect

    quantized(1, 2, 2, 1, 5, 4, 1, causal=True)
    quantized(2, 2, 2, 2, 3, 4, 2)
    quantized(1, 2, 4, 2, 3, 4, 1, masked=True, heads_first=True)
    args, expect = quantized(1, 3, 1, 1, 4, 5, 0, causal=True, scale=0.25, heads_first=True)
    refuse(NAME, *args[:8], None, *args[9:], outs=expect)
    refuse(NAME, *args[:8], args[8].to(torch.int32), *args[9:], outs=expect)
    refuse(NAME, *args[:9], args[9][:, :, :2].contiguous(), *args[10:], outs=expect)

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

with family("op_update_cache"):
    NAME = "llama::update_cache.out"
    cache, value = tensor([2, 4, 1, 3]), tensor([2, 2, 1, 3])
    after = cache.clone()
    after[:, 1:3] = value
    case(NAME, value, cache, 1, after={1: after}, out=[])
    case(NAME, value.to(i8), cache.to(i8), 1, after={1: after.to(i8)}, out=[])
    refuse(NAME, value, cache, 3, outs=tensor([1]))
    refuse(NAME, value, cache, -1, outs=tensor([1]))
    refuse(NAME, tensor([2, 2, 1, 2]), cache, 1, outs=tensor([1]))
    NAME = "llama::update_cache_with_indices.out"
    after = cache.clone()
    after[0, 3], after[0, 0], after[1, 2], after[1, 1] = value[0, 0], value[0, 1], *value[1]
    indices = torch.tensor([[3, 0], [2, 1]])
    case(NAME, value, cache, 9, indices, after={1: after}, out=[])
    refuse(NAME, value, cache, 0, torch.tensor([[3, 0], [2, 4]]), outs=tensor([1]))
    refuse(NAME, value, cache, 0, torch.tensor([[3, 0], [2, -1]]), outs=tensor([1]))
    refuse(NAME, value, cache, 0, torch.tensor([[3, 0]]), outs=tensor([1]))
    refuse(NAME, value, cache, 0, indices.to(torch.int32), outs=tensor([1]))

with family("op_gated_delta_rule"):
    def recurrence(q, k, v, decay, beta, state):
        """The definition, token by token, in double."""
        q, k, v, decay, beta, state = (x.double() for x in (q, k, v, decay, beta, state))
        if decay.dim() == 3:
            decay = decay.unsqueeze(-1).expand_as(k)
        outs = []
        for t in range(q.size(2)):
            state = state * decay[:, :, t].unsqueeze(-1)
            seen = torch.einsum("bhk,bhkv->bhv", k[:, :, t], state)
            delta = (v[:, :, t] - seen) * beta[:, :, t].unsqueeze(-1)
            state = state + torch.einsum("bhk,bhv->bhkv", k[:, :, t], delta)
            wide = state.repeat_interleave(q.size(1) // k.size(1), 1)
            outs.append(torch.einsum("bhk,bhkv->bhv", q[:, :, t], wide))
        out = torch.stack(outs, 2) if outs else v.new_zeros([*q.shape[:3], v.size(3)])
        return out.float(), state.float()

    def delta_rule(name, batch, readers, heads, tokens, rows, columns, per_row):
        q = tensor([batch, readers, tokens, rows], f32, -1, 1)
        k = tensor([batch, heads, tokens, rows], f32, -1, 1)
        v = tensor([batch, heads, tokens, columns], f32, -1, 1)
        decay = tensor([batch, heads, tokens] + ([rows] if per_row else []), f32, 0, 1)
        beta = tensor([batch, heads, tokens], f32, 0, 1)
        args = (q, k, v, decay, beta, tensor([batch, heads, rows, columns], f32, -1, 1))
        case(name, *args, expect=recurrence(*args), tolerance=(1e-4, 1e-4))
        return args

    NAME = "llama::gated_delta_rule.out"
    delta_rule(NAME, 1, 2, 2, 3, 3, 4, False)
    delta_rule(NAME, 2, 4, 2, 2, 3, 2, True)
    delta_rule(NAME, 1, 1, 1, 0, 3, 2, False)
    args = delta_rule("llama::channelwise_gated_delta_rule.out", 1, 3, 1, 4, 2, 5, True)
    outs = [tensor([1, 3, 4, 5]), tensor([1, 1, 2, 5])]
    refuse(NAME, *args[:3], args[3][:, :, :3].contiguous(), *args[4:], outs=outs)
    refuse(NAME, *args[:5], args[5].double(), outs=outs)
    refuse(NAME, args[0].expand(1, 3, 4, 2).repeat(1, 1, 1, 2), *args[1:], outs=outs)

with family("op_fast_hadamard_transform"):
    NAME = "llama::fast_hadamard_transform.out"

    def hadamard(n):
        """Sylvester's matrix; for order 28, Williamson's matrix of four circulants."""
        if n % 28 == 0:
            minus = ("0111111", "0011110", "0101101", "0110011")
            a, b, c, d = (torch.tensor([[1.0 - 2 * int(row[(j - i) % 7]) for j in range(7)]
                                        for i in range(7)]) for row in minus)
            small = torch.cat([torch.cat(row, 1) for row in (
                (a, b, c, d), (-b, a, -d, c), (-c, d, a, -b), (-d, -c, b, a))])
            assert torch.equal(small @ small.T, 28 * torch.eye(28))
            return torch.kron(small, hadamard(n // 28))
        if n == 1:
            return torch.ones(1, 1)
        half = hadamard(n // 2)
        return torch.cat([torch.cat([half, half], 1), torch.cat([half, -half], 1)])

    def transform(value):
        n = value.shape[-1]
        power = n // 28 if n % 28 == 0 else n
        wide = value.double() @ hadamard(n).double().T / power**0.5
        case(NAME, value, expect=wide.to(value.dtype), tolerance=TOLERANCE[value.dtype])

    for dtype in (f32, f64, f16, bf16):
        transform(tensor([2, 8], dtype))
    transform(tensor([3, 1]))
    transform(tensor([2, 2, 4]))
    transform(tensor([512]))
    transform(tensor([28]))
    transform(tensor([1, 56]))
    transform(tensor([28 * 16]))
    case(NAME, tensor([0, 4]), expect=tensor([0, 4]))
    refuse(NAME, tensor([2, 12]), outs=tensor([2, 12]))
    refuse(NAME, torch.tensor(1.0), outs=tensor([]))
    refuse(NAME, tensor([2, 4], torch.int32), outs=tensor([2, 4], torch.int32))

with family("op_tile_crop"):
    NAME = "preprocess::tile_crop.out"

    def tiles(image, size):
        c, h, w = image.shape
        cut = image.reshape(c, h // size, size, w // size, size).permute(1, 3, 0, 2, 4)
        case(NAME, image, size, expect=cut.reshape(h * w // size**2, c, size, size))

    tiles(tensor([2, 4, 6]), 2)
    tiles(tensor([3, 2, 2], torch.uint8), 2)
    tiles(tensor([1, 3, 1], f16), 1)
    tiles(tensor([0, 2, 4]), 2)
    refuse(NAME, tensor([1, 5, 6]), 2, outs=tensor([6, 1, 2, 2]))
    refuse(NAME, tensor([1, 4, 6]), 0, outs=tensor([6, 1, 2, 2]))
    refuse(NAME, tensor([1, 4, 6]), 2, outs=tensor([6, 1, 2, 2], f64))
    refuse(NAME, tensor([4, 6]), 2, outs=tensor([6, 1, 2, 2]))


with family("op_attention"):
    NAME = "taper::attention.out"

    def heads(query, key, width, mask=None, causal=False, scale=0.5):
        """Attention of tensors of the sizes `query` and `key`; values have `width` elements."""
        q, k = tensor(query, f32, -1, 1), tensor(key, f32, -1, 1)
        v = tensor(key[:-1] + [width], f32, -1, 1)
        m = tensor(mask, f32, -2, 2) if mask is not None else None
        rows = m[None] if mask is not None and len(mask) == 1 else m
        expect = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=rows, is_causal=causal, scale=scale, enable_gqa=len(query) > 2)
        case(NAME, q, k, v, m, scale, causal, expect=expect.contiguous(),
             tolerance=TOLERANCE[f32])

    heads([1, 2, 3, 5], [1, 2, 4, 5], 5)
    heads([2, 4, 3, 4], [2, 2, 5, 4], 3, mask=[2, 1, 3, 5])
    heads([3, 5], [4, 5], 2)
    heads([2, 3, 5], [2, 4, 5], 6, causal=True)
    heads([2, 5, 3], [2, 2, 3], 4, causal=True)
    heads([1, 2, 1, 8], [1, 1, 70, 8], 8, mask=[70])
    heads([2, 2, 3, 4], [2, 2, 5, 4], 4, mask=[3, 1])
    heads([2, 2, 3, 4], [2, 2, 5, 4], 4, mask=[2, 1, 1], scale=-1.5)
    heads([2, 0, 4], [2, 3, 4], 4)
    heads([1, 2, 12, 4], [1, 2, 40, 4], 36, mask=[1, 1, 12, 40])
    q, k = tensor([1, 2, 2], f32, -1, 1), tensor([1, 3, 2], f32, -1, 1)
    hidden = torch.tensor([[float("-inf")] * 3, [0.0, float("-inf"), 1.0]])
    for m in (hidden, hidden[:1]):
        expect = torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=m, scale=1.0)
        case(NAME, q, k, k, m, 1.0, False, expect=expect)
    inf, nan = float("inf"), float("nan")
    for odd in (nan, inf, -inf):
        x = torch.tensor([[[odd, 1.0]]])
        case(NAME, x, k, k, None, 1.0, False,
             expect=torch.softmax(x @ k.transpose(1, 2), -1) @ k)
    refuse(NAME, q, k, tensor([1, 4, 2]), None, 1.0, False, outs=q)
    refuse(NAME, q, tensor([1, 3, 3]), k, None, 1.0, False, outs=q)
    refuse(NAME, q, k, k, tensor([2, 4]), 1.0, False, outs=q)
    refuse(NAME, q, k, k, hidden, 1.0, True, outs=q)
    refuse(NAME, q, k, k, tensor([1, 1, 2, 3]), 1.0, False, outs=q)
    refuse(NAME, tensor([3, 2, 2]), tensor([2, 3, 2]), tensor([2, 3, 2]), None, 1.0, False,
           outs=tensor([3, 2, 2]))
    wide = q.double()
    refuse(NAME, wide, wide, wide, None, 1.0, False, outs=wide)
    refuse(NAME, tensor([2]), tensor([2]), tensor([2]), None, 1.0, False, outs=tensor([2]))

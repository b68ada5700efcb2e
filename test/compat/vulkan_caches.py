"""Attention over caches of keys and values, which ExecuTorch's Vulkan delegate keeps on the device."""

import torch
from torch import nn


class CachedAttention(nn.Module):
    """The positions of `x` go into the caches from `position` on."""

    def __init__(self):
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  declares them

        super().__init__()
        self.queries = nn.Linear(16, 32, bias=False)
        self.keys, self.values = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.last = nn.Linear(32, 12, bias=False)
        for name in ("key_cache", "value_cache"):
            self.register_buffer(name, torch.zeros(1, 8, 2, 8))

    def forward(self, x, position):
        length = x.shape[1]
        start = position[0].item()
        torch._check_is_size(start)
        torch._check(start <= self.key_cache.shape[1] - length)
        q = self.queries(x).view(1, length, 4, 8)
        k, v = self.keys(x).view(1, length, 2, 8), self.values(x).view(1, length, 2, 8)
        torch.ops.llama.update_cache(k, self.key_cache, start)
        torch.ops.llama.update_cache(v, self.value_cache, start)
        y = torch.ops.llama.custom_sdpa(
            q, self.key_cache, self.value_cache, start, None, 0.0, True
        )
        return self.last(y.reshape(1, length, -1))


def steps(count):
    return [(torch.randn(1, 2, 16), torch.tensor([2 * i])) for i in range(count)]

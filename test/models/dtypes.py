"""Every dtype that matters on a device, casts between them, and type promotion."""

import torch
from torch import nn

from model import Model, randint, randn


class Mixed(nn.Module):
    """float32 with integers, bool and float64: casts, comparisons, bit and integer arithmetic."""

    def forward(self, x, i, u, b):
        half = x.to(torch.float16) * 2 + i
        wide = x.double() / 3
        whole = (x * 10).to(torch.int32) // 3
        narrow = (i - 3).to(torch.int8)
        mask = (x > 0) & b | (i == 2)
        picked = torch.where(mask, x, i)
        bits = (u ^ 0x55) & 0x3F
        return {
            "half": half,
            "wide": wide,
            "whole": whole,
            "remainder": i % 3 + torch.bitwise_not(narrow),
            "mask": ~mask,
            "picked": picked,
            "bits": bits + u // 2,
            "count": mask.sum(),
            "mean": u.float().mean(),
            "quotient": i / 2,
            "any": b.any(dim=1),
            "largest": x.argmax(dim=1),
            "clamped": u.clamp(10, 200),
        }


class Half(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.fc = nn.Linear(4, 3)
        self.norm = nn.LayerNorm(3)
        self.dtype = dtype
        self.to(dtype)

    def forward(self, x, scale):
        y = torch.relu(self.conv(x.to(self.dtype)))
        y = self.norm(self.fc(y.mean((2, 3))))
        return y * scale, torch.softmax(y.float(), dim=-1), (y > 0).to(torch.uint8)


class EightBits(nn.Module):
    """Weights in each format of 8-bit floats: moved, converted, scaled."""

    def __init__(self):
        super().__init__()
        for name in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"):
            weights = randn(6, 4, seed=len(name)).to(getattr(torch, "float8_" + name))
            self.register_buffer(name, weights)
        scales = torch.tensor([0.25, 1, 8, 0.5, 2, 4]).to(torch.float8_e8m0fnu)
        self.register_buffer("scales", scales)

    def forward(self, x):
        weights = self.e4m3fn.t().float() * self.scales.float()
        more = torch.cat([self.e5m2, self.e5m2])[3:9].half()
        return (
            x @ weights,
            more,
            self.e4m3fnuz.view(3, 8).double(),
            nn.functional.linear(x.bfloat16(), self.e5m2fnuz.to(torch.bfloat16)),
        )


FORMATS = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")


class Casts(nn.Module):
    """To each format of 8-bit floats and from it; their bits are read and written."""

    def forward(self, x, codes):
        out = []
        for name in FORMATS:
            dtype = getattr(torch, "float8_" + name)
            out.append(x.to(dtype).view(torch.uint8))
            out.append(codes.view(dtype).float())
        again = x.half().to(torch.float8_e5m2).to(torch.float8_e4m3fn)
        return torch.stack(out[::2]), torch.stack(out[1::2]), again.bfloat16()


def near_float8():
    """The numbers of each format and halves between them, their neighbours, and what is special."""
    lines = [torch.tensor([0.0, torch.inf, torch.nan, 465, 480, 61439, 3e38, 1e-40])]
    for name in FORMATS:
        dtype = getattr(torch, "float8_" + name)
        numbers = torch.arange(0, 255, 9, dtype=torch.uint8).view(dtype).float()
        numbers = numbers[torch.isfinite(numbers)]
        after = torch.arange(1, 255, 9, dtype=torch.uint8).view(dtype).float()[: len(numbers)]
        lines += [numbers, numbers / 2 + after / 2]
    line = torch.cat(lines)
    bits = line.view(torch.int32)
    near = torch.cat([bits, bits + 1, bits - 1]).view(torch.float32)
    return torch.cat([near, -near])


def models(full):
    x = randn(3, 4, seed=1)
    i = randint(5, 3, 4, seed=2)
    u = randint(256, 3, 4, seed=3).to(torch.uint8)
    b = randint(2, 3, 4, seed=4).bool()
    picture = randn(2, 2, 5, 5, seed=5)
    f16, bf16 = torch.tensor([0.5], dtype=torch.float16), torch.tensor([1.5], dtype=torch.bfloat16)
    return [
        Model("mixed_dtypes", Mixed(), (x, i, u, b)),
        Model("float16", Half(torch.float16), (picture, f16), scale=50),
        Model("bfloat16", Half(torch.bfloat16), (picture, bf16), scale=400),
        Model("float8", EightBits(), (x,), scale=100),
        Model("float8_casts", Casts(), (near_float8(), torch.arange(256, dtype=torch.uint8))),
    ]

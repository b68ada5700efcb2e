"""Cases of complex numbers, most of which no kernel here computes: for opinfo.py --aten."""

import warnings

import torch

import samples

DTYPE = "c64"
TYPES = (*samples.DTYPES.values(), torch.complex64)


class ComplexCase(samples.Case):
    def __init__(self, *args):
        super().__init__(*args)
        if not any(t.is_sparse for t in self.tensors):
            self.tensors = [resolved(t).contiguous() for t in self.tensors]

    def run_eager(self, info):
        """Sets the expected results; returns False if the case cannot be used."""
        if any(t.is_sparse or t.numel() > samples.MOST_ELEMENTS for t in self.tensors):
            return False
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                torch.manual_seed(1)
                self.expected = [resolved(t).clone() for t in self.call(info, self.copies())]
                torch.manual_seed(2)
                again = [resolved(t) for t in self.call_unseeded(info)]
            except Exception:
                return False
        self.random = info.name in samples.UNWRITTEN or not all(
            torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
            for a, b in zip(self.expected, again))
        return bool(self.expected) and all(t.layout == torch.strided and t.dtype in TYPES
                                           for t in self.expected)


def resolved(tensor):
    return tensor.resolve_conj().resolve_neg()


def draw(name, info, count):
    """Up to `count` cases."""
    if torch.complex64 not in info.dtypes:
        return []
    torch.manual_seed(0)
    chosen = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i, sample in enumerate(info.sample_inputs("cpu", torch.complex64)):
                if len(chosen) == count or i >= samples.LOOK_AT:
                    break
                case = ComplexCase(name, DTYPE, i, sample)
                if case.run_eager(info):
                    chosen.append(case)
    except Exception:
        pass
    return chosen

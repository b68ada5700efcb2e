"""Training steps with torch.compile(model, backend="taper"), compared with eager mode."""

import copy
import unittest
import warnings

import reference

STEPS = 10


def models():
    """By name: the model, and a function that draws its inputs and targets."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
            self.norms = nn.ModuleList([nn.LayerNorm(16), nn.LayerNorm(16)])
            self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1),
                                     nn.Linear(32, 16))
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            y = self.qkv(self.norms[0](x)).view(*x.shape[:2], 3, 2, 8).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(*y, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(x.shape))
            return self.head((x + self.mlp(self.norms[1](x))).mean(1))

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.head = nn.GRUCell(6, 12), nn.Linear(12, 5)

        def forward(self, x):
            state = x.new_zeros(x.shape[0], 12)
            for step in range(x.shape[1]):
                state = self.cell(x[:, step], state)
            return self.head(state)

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers, self.head = nn.LSTM(6, 8, 2, batch_first=True), nn.Linear(8, 5)

        def forward(self, x):
            return self.head(self.layers(x)[0][:, -1])

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(50, 16, padding_idx=0)
            self.unused = nn.Linear(3, 3)
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            return self.head(nn.functional.silu(self.words(x)).mean(1))

    cnn = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(8, 8, 3, groups=2), nn.BatchNorm2d(8), nn.Hardswish(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    mlp = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(0.3), nn.Linear(16, 16), nn.GELU(),
                        nn.Linear(16, 5))
    targets = torch.randint(0, 5, (4,))
    return {
        "cnn": (cnn, lambda: (torch.randn(4, 3, 12, 12), targets)),
        "mlp": (mlp, lambda: (torch.randn(4, 6), targets)),
        "transformer": (Block(), lambda: (torch.randn(4, 7, 16), targets)),
        "recurrent": (Recurrent(), lambda: (torch.randn(4, 5, 6), targets)),
        "lstm": (Lstm(), lambda: (torch.randn(4, 3, 6), targets)),
        "embedding": (Words(), lambda: (torch.randint(0, 50, (4, 9)), targets)),
    }


@reference.needs("torch")
class Training(unittest.TestCase):
    def setUp(self):
        import torch
        from taper import _refusals
        self.torch, self.said = torch, _refusals.said
        torch._dynamo.reset()
        self.said.clear()

    def close(self, given, wanted):
        self.torch.testing.assert_close(given, wanted, rtol=1e-5, atol=1e-5)

    def step(self, net, call, optimizer, x, target, seed):
        self.torch.manual_seed(seed)  # Dropout draws the same numbers.
        optimizer.zero_grad()
        loss = self.torch.nn.functional.cross_entropy(call(x), target)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def train(self, net, draw):
        torch = self.torch
        other = copy.deepcopy(net)
        fast = torch.compile(other, backend="taper")
        ours = torch.optim.SGD(other.parameters(), 0.05, momentum=0.9)
        theirs = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
        for step in range(STEPS):
            x, target = draw()
            wanted = self.step(net, net, theirs, x, target, step)
            given = self.step(other, fast, ours, x, target, step)
            self.close(given, wanted)
            for name, parameter in net.named_parameters():
                gradient = dict(other.named_parameters())[name].grad
                if parameter.grad is None:
                    self.assertIsNone(gradient, name)
                else:
                    self.close(gradient, parameter.grad)
        self.close(dict(other.state_dict()), dict(net.state_dict()))

    def test_ten_steps(self):
        torch = self.torch
        torch.manual_seed(0)
        for name, (net, draw) in models().items():
            with self.subTest(name), warnings.catch_warnings(), \
                    torch._dynamo.config.patch(allow_rnn=True):
                warnings.simplefilter("ignore")
                torch._dynamo.reset()
                self.train(net, draw)
                self.assertFalse(self.said)

    def test_an_operator_without_a_kernel(self):
        torch = self.torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = torch.nn.Linear(6, 16), torch.nn.Linear(4, 5)

            def forward(self, x):
                y = (self.first(x).tanh().exp() * 2 + 1).view(-1, 4, 4)
                return self.second(torch.linalg.eigvals(y).abs().sigmoid())

        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.train(Net(), lambda: (torch.randn(4, 6), torch.randint(0, 5, (4,))))
        self.assertTrue(any("complex" in str(each.message) for each in said))

    def test_gradients_of_inputs_and_views(self):
        torch = self.torch

        class Net(torch.nn.Module):
            def forward(self, x, y):
                z = (x * y).sin().exp().tanh()
                return z, z.t(), x.view(-1), y * 2, y > 0

        results = []
        for call in (Net(), torch.compile(Net(), backend="taper")):
            torch.manual_seed(0)
            x = torch.randn(3, 3, requires_grad=True)
            z, turned, view, double, positive = call(x, torch.randn(3, 3))
            self.assertEqual([each.requires_grad for each in (z, turned, view, double, positive)],
                             [True, True, True, False, False])
            (z.sum() + turned[0].sum() + view[1]).backward()
            results.append((z, turned, view, double, positive, x.grad))
        self.close(results[1], results[0])
        self.assertFalse(self.said)

    def test_sizes_that_change(self):
        torch = self.torch
        sizes = iter([4, 5, 7, 3, 9, 4, 2, 6, 8, 11])

        def draw():
            size = next(sizes)
            return torch.randn(size, 6), torch.randint(0, 5, (size,))

        self.train(torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(),
                                       torch.nn.LayerNorm(16), torch.nn.Linear(16, 5)), draw)
        self.assertFalse(self.said)

    def test_evaluation_between_steps(self):
        torch = self.torch
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.BatchNorm1d(16),
                                  torch.nn.Dropout(0.5), torch.nn.Linear(16, 5))
        fast = torch.compile(net, backend="taper")
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for step in range(3):
            net.train()
            self.step(net, fast, optimizer, torch.randn(4, 6), torch.randint(0, 5, (4,)), step)
            net.eval()
            x = torch.randn(4, 6)
            with torch.no_grad():
                self.close(fast(x), net(x))
        self.assertFalse(self.said)


if __name__ == "__main__":
    unittest.main()

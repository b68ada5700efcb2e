"""torch.compile(model, backend="taper") where Taper takes only parts of a graph."""

import unittest
import unittest.mock
import warnings

import reference


def taper_parts(run):
    """Counts the programs of Taper that `run` makes."""
    from taper import _graph
    made, program = [], _graph._Program

    class Counted(program):
        def __init__(self, *args):
            made.append(self)
            super().__init__(*args)

    _graph._Program = Counted
    try:
        run()
    finally:
        _graph._Program = program
    return len(made)


@reference.needs("torch")
class Parts(unittest.TestCase):
    def setUp(self):
        import torch
        from taper import _refusals
        self.torch, self.said = torch, _refusals.said
        torch._dynamo.reset()
        self.said.clear()

    @classmethod
    def setUpClass(cls):
        import torch
        cls.library = torch.library.Library("taper_tests", "DEF")
        cls.library.define("twice(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
        cls.library.impl("twice", lambda x: x * 2, "CPU")
        cls.library.impl("twice", torch.empty_like, "Meta")

    def check(self, forward, calls, parts, eager=()):
        """Compares each call with eager mode from the same seed, the programs that were made, and
        the reasons that were given."""
        torch = self.torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.randn(4, 4))
                self.register_buffer("count", torch.zeros(4))

        Net.forward = forward
        net, other = Net(), Net()
        other.load_state_dict(net.state_dict())
        fast = torch.compile(other, backend="taper")

        def run():
            for seed, args in enumerate(calls):
                torch.manual_seed(seed)
                wanted = net(*[arg.clone() for arg in args])
                torch.manual_seed(seed)
                torch.testing.assert_close(fast(*args), wanted, rtol=1e-4, atol=1e-4)
                torch.testing.assert_close(other.count, net.count, rtol=1e-4, atol=1e-4)

        with warnings.catch_warnings(record=True) as said, torch.no_grad():
            warnings.simplefilter("always")
            self.assertEqual(taper_parts(run), parts)
        said = [str(each.message) for each in said if "taper:" in str(each.message)]
        self.assertEqual(len(said), len(eager), said)
        for text in eager:
            self.assertTrue(any(text in each for each in said), said)

    def squares(self, *sizes):
        return [(self.torch.rand(size, 4, 4),) for size in sizes]

    def test_around_an_operator(self):
        torch = self.torch

        def forward(self, x):
            x = (torch.relu(x @ self.weight).sigmoid() * 2).exp()
            x = torch.linalg.eigvals(x).abs()
            return (x.sin() + x.tanh() * 3).exp(), None, 7, x

        self.check(forward, self.squares(2, 2), 2, ["linalg_eigvals"])

    def test_sizes_that_change(self):
        torch = self.torch

        def forward(self, x):
            y = (torch.relu(x @ self.weight).sigmoid() * 2).exp().reshape(x.shape[0] * 4, 4)
            z = torch.ops.taper_tests.twice(y.reshape(-1, 4, 4))
            return (z.sin() + z.tanh() * x.shape[0]).exp() / y.shape[0], x.shape[0] * 2

        # One size, then sizes up to the bound of 8, then up to that of 64: two programs for each.
        self.check(forward, self.squares(2, 3, 4, 8, 32, 5), 6, ["taper_tests"])

    def test_small_parts_stay_in_eager_mode(self):
        torch = self.torch
        self.check(lambda self, x: torch.linalg.eigvals(x).abs() + 1, self.squares(2, 2), 0,
                   ["linalg_eigvals"])

    def test_a_part_that_fails_for_an_unknown_reason_is_halved(self):
        from taper import _compile, _graph
        torch, load = self.torch, _graph.Graph._load

        def fails(graph, exported):
            if any(node.target is torch.ops.aten.erfinv.default for node in exported.graph.nodes):
                raise _compile.CompileError("no reason at all")
            return load(graph, exported)

        def forward(self, x):
            for _ in range(6):
                x = (x @ self.weight).sigmoid() * 2
            x = (x * 0.4).erfinv().exp().tanh()
            for _ in range(6):
                x = (x @ self.weight).sigmoid() * 2
            return x

        with unittest.mock.patch.object(_graph.Graph, "_load", fails):
            self.check(forward, self.squares(2, 2), 3, ["no reason at all"])

    def test_buffers_and_inputs_that_are_written(self):
        torch = self.torch

        def forward(self, x):
            y = (torch.relu(x @ self.weight).sigmoid() * 2).exp()
            self.count.add_(y.sum((0, 1)))
            x.mul_(torch.linalg.eigvals(y).abs().mean())
            y[0].zero_()
            return ((x + y) * self.count).tanh().exp()

        self.check(forward, self.squares(2, 2, 2), 2, ["linalg_eigvals"])

    def test_batch_norm_in_training_mode(self):
        torch = self.torch

        def forward(self, x):
            mean, var = self.count, torch.ones(4)
            x = torch.nn.functional.batch_norm(x.sin(), mean, var, training=True)
            return x.exp().tanh() * 2, var

        self.check(forward, self.squares(2, 2), 1)

    def test_random_numbers_are_those_of_eager_mode(self):
        torch = self.torch

        def forward(self, x):
            x = (torch.relu(x @ self.weight).sigmoid() * 2).exp()
            x = torch.nn.functional.dropout(x, 0.3, True) + torch.rand(4)
            x = (x.sin() + x.tanh() * 3).exp()
            return x * torch.randn_like(x)

        self.check(forward, self.squares(2, 2), 2)

    def test_results_that_lie_in_another_order(self):
        torch = self.torch

        def forward(self, x):
            y = ((x @ self.weight).sigmoid() * 2).exp().transpose(1, 2)
            z = torch.linalg.eigvals(y.transpose(1, 2).view(-1, 4, 2, 2)).abs()
            return y.transpose(1, 2).view(-1), z

        self.check(forward, self.squares(2, 2), 1, ["linalg_eigvals"])

    def test_views_as_outputs(self):
        torch = self.torch

        def forward(self, x):
            y = (torch.relu(x @ self.weight).sigmoid() * 2).exp()
            return x.view(-1), y, y.view(-1), torch.linalg.eigvals(y).abs()

        self.check(forward, self.squares(2, 2), 1, ["linalg_eig"])

    def test_autocast(self):
        torch = self.torch

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return (x @ self.weight).relu() + (x.sum() > 0)

        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.check(forward, self.squares(2, 2), 1)

    def test_other_devices_are_refused(self):
        torch = self.torch
        self.check(lambda self, x: x + torch.ones(4, 4, device="meta").shape[0],
                   self.squares(2, 2), 0, ["device meta"])


if __name__ == "__main__":
    unittest.main()

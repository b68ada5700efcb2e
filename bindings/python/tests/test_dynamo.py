"""torch.compile(model, backend="taper"), compared with eager mode."""

import os
import sys
import threading
import unittest
import warnings

import reference


@reference.needs("torch")
class Compiled(unittest.TestCase):
    def setUp(self):
        import torch
        from taper import _refusals
        self.torch, self.said = torch, _refusals.said
        torch._dynamo.reset()
        self.said.clear()

    def compiled(self, net, **options):
        return self.torch.compile(net, backend="taper", options=options or None)

    def check(self, net, calls, eager=(), **options):
        """Compares every call, and expects the reasons for eager mode to hold these texts."""
        net.eval()
        fast = self.compiled(net, **options)
        with warnings.catch_warnings(), self.torch.no_grad():
            warnings.simplefilter("ignore")
            for args in calls:
                self.torch.testing.assert_close(fast(*args), net(*args), rtol=1e-4, atol=1e-4)
        self.assertEqual(len(self.said), len(eager), self.said)
        for text in eager:
            self.assertTrue(any(text in reason for reason in self.said), self.said)

    def net(self):
        nn = self.torch.nn
        return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU(), nn.Flatten(),
                             nn.Linear(8 * 36, 5))

    def test_is_listed(self):
        self.assertIn("taper", self.torch.compiler.list_backends())

    def test_a_network(self):
        x = [(self.torch.randn(2, 3, 8, 8),) for _ in range(3)]
        for options in ({}, {"backend": "portable"}, {"threads": 2}, {"io": "planned"}):
            with self.subTest(**options):
                self.torch._dynamo.reset()
                self.check(self.net(), x, **options)

    def test_options_that_are_wrong(self):
        for options, text in (({"nonsense": 3}, "nonsense"), ({"backend": "nope"}, "no backend"),
                              ({"threads": 0}, "threads must be"),
                              ({"backends": ["nope"]}, "no backend")):
            for x in (self.torch.randn(2, 8), self.torch.randn(2, 8, requires_grad=True)):
                with self.subTest(**options, trains=x.requires_grad):
                    self.torch._dynamo.reset()
                    fast = self.compiled(self.torch.nn.Linear(8, 8), **options)
                    with self.assertRaisesRegex(Exception, text):
                        fast(x)
        self.assertFalse(self.said)

    def test_sizes_that_change(self):
        calls = [(self.torch.randn(size, 3, 8, 8),) for size in (2, 3, 5, 9, 40, 4)]
        self.check(self.net(), calls)

    def test_sizes_in_the_computation(self):
        class Net(self.torch.nn.Module):
            def forward(self, x):
                return x.reshape(x.shape[0] * 2, -1) / x.shape[0], x.sum(0) * x.shape[1]

        self.check(Net(), [(self.torch.randn(size, 6),) for size in (2, 3, 4, 7, 30)])

    def test_weights_that_change(self):
        net = self.net()
        x = self.torch.randn(2, 3, 8, 8)
        fast = self.compiled(net.eval())
        with self.torch.no_grad():
            for step in range(5):
                self.torch.testing.assert_close(fast(x), net(x), rtol=1e-4, atol=1e-4)
                if step % 2 == 0:
                    net[4].weight.mul_(1.5)
                else:
                    net[4].weight = self.torch.nn.Parameter(net[4].weight * 2)
        self.assertFalse(self.said)

    def test_weights_that_change_without_a_new_version(self):
        with self.torch.inference_mode():
            frozen = self.torch.nn.Linear(4, 3)
        usual, x = self.torch.nn.Linear(4, 3), self.torch.randn(2, 4)

        def double(net):
            net.weight.mul_(2)

        def replace(net):
            net.weight.data = self.torch.randn(3, 4)

        for net, change in ((frozen, double), (usual, replace)):
            fast = self.compiled(net)
            with self.torch.inference_mode():
                self.torch.testing.assert_close(fast(x), net(x))
                change(net)
                self.torch.testing.assert_close(fast(x), net(x))
        self.assertFalse(self.said)

    def test_buffers_and_inputs_that_are_written(self):
        class Net(self.torch.nn.Module):
            def __init__(self, torch):
                super().__init__()
                self.register_buffer("count", torch.zeros(3))

            def forward(self, x, y):
                self.count.add_(x)
                y.mul_(2)
                return self.count * 2 + y

        nets = Net(self.torch), Net(self.torch)
        fast = self.compiled(nets[1])
        with self.torch.no_grad():
            for step in range(3):
                x, y = self.torch.randn(3), self.torch.randn(3, 3).t()
                theirs, ours = y.clone(), y.clone().t().contiguous().t()
                wanted, given = nets[0](x, theirs), fast(x, ours)
                self.torch.testing.assert_close(given, wanted)
                self.torch.testing.assert_close(ours, theirs)
                self.torch.testing.assert_close(nets[1].count, nets[0].count)
        self.assertFalse(self.said)

    def test_graph_breaks_and_plain_outputs(self):
        class Net(self.torch.nn.Module):
            def __init__(self, torch):
                super().__init__()
                self.linear = torch.nn.Linear(4, 4)

            def forward(self, x):
                y = self.linear(x)
                if y.sum() > 0:
                    return {"more": y + 1, "none": None, "three": 3}
                return {"less": [y - 1]}

        self.check(Net(self.torch), [(self.torch.randn(3, 4) * 3,) for _ in range(6)])

    def test_an_operator_that_cannot_be_compiled_is_named_once(self):
        torch = self.torch

        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.linalg.eigvals(x).abs().sum() + 1

        self.check(Net(), [(torch.rand(4, 4),)] * 3, eager=["linalg_eigvals"])

    def test_sizes_and_numbers_as_inputs_and_outputs(self):
        class Net(self.torch.nn.Module):
            def forward(self, x, factor):
                return x * factor + factor, x.shape[0], x.shape[0] * 3 + 1

        calls = [(self.torch.randn(size, 3), size) for size in (2, 3, 7)]
        self.check(Net(), calls + [(self.torch.randn(5, 3), 0.5)])

    def test_sizes_with_conditions(self):
        class Net(self.torch.nn.Module):
            def forward(self, x):
                return x.reshape(x.shape[0] // 2, 2, -1).sum(1)

        self.check(Net(), [(self.torch.randn(size, 3),) for size in (2, 4, 6, 20)])

    def test_outputs_that_are_views_of_inputs(self):
        class Net(self.torch.nn.Module):
            def forward(self, x):
                return x.view(-1), x + 1

        fast = self.compiled(Net())
        x = self.torch.randn(2, 3)
        with warnings.catch_warnings(), self.torch.no_grad():
            warnings.simplefilter("ignore")
            view, _ = fast(x)
            view.add_(1)
        self.torch.testing.assert_close(view, x.view(-1))
        self.assertFalse(self.said)


    def test_graphs_of_views_alone(self):
        class Net(self.torch.nn.Module):
            def __init__(self, function):
                super().__init__()
                self.function = function

            def forward(self, x):
                return self.function(x)

        square, x = self.torch.randn(3, 3), self.torch.randn(4, 3)
        for name in ("T", "mT", "H", "mH"):
            for calls in ([(x,)] * 2, [(square,), (x,), (self.torch.randn(2, 5),)]):
                with self.subTest(name=name):
                    self.check(Net(lambda x: getattr(x, name)), calls)
        self.check(Net(lambda x: [x.T, x[1:].mT, x.detach()]), [(x,)] * 2)

    def test_graphs_that_only_write(self):
        def write(x, y):
            x.add_(y.T)

        x = self.torch.zeros(3, 2)
        fast = self.compiled(write)
        for _ in range(3):
            fast(x, self.torch.ones(2, 3))
        self.assertTrue(self.torch.equal(x, self.torch.full((3, 2), 3.0)))
        self.assertFalse(self.said)

    def test_tensors_of_the_graph_itself(self):
        start = self.torch.randn(4)
        ours, theirs = (self.torch.nn.Parameter(start.clone()) for _ in range(2))
        sgd = [self.torch.optim.SGD([each], 0.1, momentum=0.9) for each in (ours, theirs)]
        step = self.compiled(sgd[0].step)
        for _ in range(4):
            ours.grad = self.torch.randn(4)
            theirs.grad = ours.grad.clone()
            step()
            sgd[1].step()
            self.torch.testing.assert_close(ours, theirs)

    def test_functions_of_functions(self):
        def function(x):
            cubes = self.torch.func.grad(lambda t: (t ** 3).sum())
            return self.torch.func.vmap(cubes)(x) + x.sin()

        x = self.torch.randn(3, 4)
        self.torch.testing.assert_close(self.compiled(function)(x), function(x))
        self.assertFalse(self.said)

    def test_autocast_within(self):
        linear = self.torch.nn.Linear(8, 4)

        def function(x):
            with self.torch.autocast("cpu", dtype=self.torch.bfloat16):
                y = linear(x)
            return y, y.float() * 2 + x.sum()

        x = self.torch.randn(2, 8)
        with self.torch.no_grad():
            self.torch.testing.assert_close(self.compiled(function)(x), function(x), rtol=2e-2,
                                            atol=2e-2)
        self.assertFalse(self.said)

    def test_threads_that_compile(self):
        net, errors = self.torch.nn.Sequential(self.torch.nn.Linear(8, 8), self.torch.nn.GELU()), []
        weight, bias = net[0].weight, net[0].bias
        fast = self.compiled(net)

        def work(first):
            try:
                with self.torch.no_grad():
                    for k in range(8):
                        x = self.torch.randn((first + k) % 4 + 1, 8)
                        wanted = self.torch.nn.functional.gelu(x @ weight.T + bias)
                        self.torch.testing.assert_close(fast(x), wanted)
            except Exception as error:  # Looked at below.
                errors.append(error)

        threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(errors)


@reference.needs("transformers")
class Models(unittest.TestCase):
    """Models as their libraries make them, small in width and depth alone."""

    @classmethod
    def setUpClass(cls):
        sys.path.append(os.path.join(reference.ROOT, "test", "zoo"))
        import vision_models  # noqa: F401  declares torchvision's operators for transformers

    def check(self, net, inputs):
        import torch
        torch._dynamo.reset()
        from taper import _refusals
        _refusals.said.clear()
        net.eval()
        fast = torch.compile(net, backend="taper")
        with torch.no_grad():
            for each in inputs:
                wanted, given = net(**each), fast(**each)
                self.assertEqual(set(wanted), set(given))
                for key in wanted:
                    torch.testing.assert_close(given[key], wanted[key], rtol=1e-3, atol=1e-3)
        self.assertFalse(_refusals.said)

    def test_encoders_and_decoders(self):
        import torch
        import transformers as t
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
                 "intermediate_size": 64}
        words = [{"input_ids": torch.randint(0, 100, (1, n))} for n in (8, 8, 11, 12)]
        for net in (t.BertModel(t.BertConfig(**sizes)),
                    t.LlamaForCausalLM(t.LlamaConfig(**sizes, vocab_size=200, use_cache=False)),
                    t.GPT2LMHeadModel(t.GPT2Config(n_embd=32, n_layer=2, n_head=2,
                                                   use_cache=False))):
            with self.subTest(net=type(net).__name__):
                self.check(net, words)

    def test_vision(self):
        import torch
        import transformers as t
        images = [{"pixel_values": torch.randn(1, 3, 32, 32)}] * 2
        for net in (t.ViTModel(t.ViTConfig(hidden_size=32, num_hidden_layers=2, image_size=32,
                                           patch_size=8, num_attention_heads=2,
                                           intermediate_size=64)),
                    t.ResNetModel(t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16],
                                                 depths=[1, 1], layer_type="basic"))):
            with self.subTest(net=type(net).__name__):
                self.check(net, images)


if __name__ == "__main__":
    unittest.main()

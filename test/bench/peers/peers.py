"""The peers: how each one converts, loads and runs a model.

A peer has `export(context, dtype)`, which writes its file from the exported program, and
`load(path, threads)`, which returns a function that hands a list of NumPy arrays over, runs, and
returns outputs that can be read. A peer that `has_cache` also takes a folder, in which it keeps what
makes it load faster the next time. All may raise an exception, whose first line goes into the
report. Imports are local, so that a worker loads only its own peer.
"""

import os
import subprocess
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np


@dataclass
class Context:
    """A model and the files made from it; expensive ones are made only once."""

    name: str
    folder: str
    taper: str
    made: dict = field(default_factory=dict)

    def path(self, ending):
        return os.path.join(self.folder, f"{self.name}.{ending}")

    @cached_property
    def model(self):
        import models

        return models.make(self.name)

    @cached_property
    def program(self):
        import torch

        with torch.no_grad():
            return torch.export.export(*self.model)

    @cached_property
    def pt2(self):
        import torch

        path = self.path("pt2")
        if not os.path.exists(path):
            torch.export.save(self.program, path)
        return path

    @cached_property
    def int8_program(self):
        """The program quantised by PT2E: per channel, with static activations."""
        import torch
        from executorch.backends.xnnpack.quantizer import xnnpack_quantizer as xq
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

        class OfFloats(xq.XNNPACKQuantizer):
            """Leaves sums of whole numbers, such as BERT's positions, as they are."""

            def transform_for_annotation(self, model):
                return model  # It would make floats of what is added to them.

            def annotate(self, model):
                model = super().annotate(model)
                for node in model.graph.nodes:
                    value = node.meta.get("val")
                    if isinstance(value, torch.Tensor) and not value.is_floating_point():
                        node.meta.pop("quantization_annotation", None)
                return model

        quantizer = OfFloats()
        quantizer.set_global(xq.get_symmetric_quantization_config(is_per_channel=True))
        module = prepare_pt2e(self.program.module(), quantizer)
        with torch.no_grad():
            for _ in range(2):
                module(*self.model[1])
            return torch.export.export(convert_pt2e(module), self.model[1])

    @cached_property
    def int8_pt2(self):
        import torch

        path = self.path("int8.pt2")
        if not os.path.exists(path):
            torch.export.save(self.int8_program, path)
        return path

    @cached_property
    def onnx(self):
        import torch

        path = self.path("onnx")
        if not os.path.exists(path):
            module, args = self.model
            with torch.no_grad():
                torch.onnx.export(module, args, path, dynamo=True, external_data=False,
                                  verbose=False)  # fmt: skip
        return path

    @cached_property
    def expected(self):
        """PyTorch's first output as a .npy file."""
        import torch

        path = self.path("expected.npy")
        if not os.path.exists(path):
            module, args = self.model
            with torch.no_grad():
                np.save(path, first_of(module(*args)))
        return path

    @cached_property
    def int8_onnx(self):
        """Quantised by ONNX Runtime: per channel, with quantised inputs and outputs (QDQ)."""
        from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

        path = self.path("int8.onnx")
        names, args = onnx_inputs(self.onnx), [a.numpy() for a in self.model[1]]

        class Once(CalibrationDataReader):
            left = 2

            def get_next(self):
                self.left -= 1
                return dict(zip(names, args)) if self.left >= 0 else None

        if not os.path.exists(path):
            types = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
            quantize_static(self.onnx, path, Once(), per_channel=True, **types)
        return path


def first_of(outputs):
    """The first output of any peer as an array, or None if the peer does not return it."""
    if outputs is None:
        return None
    if hasattr(outputs, "values") and not hasattr(outputs, "shape"):
        outputs = list(outputs.values())
    while isinstance(outputs, (list, tuple)):
        outputs = outputs[0]
    return np.asarray(outputs)


def difference(outputs, expected):
    """The largest difference of the first output, relative to the largest expected value."""
    found = first_of(outputs)
    if found is None:
        return None
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30))


def narrow(array):
    """Whole numbers in 32 bits, for peers that take no others."""
    return array.astype(np.int32) if array.dtype == np.int64 else array


def onnx_inputs(path):
    import onnx

    graph = onnx.load(path).graph
    constants = {tensor.name for tensor in graph.initializer}
    return [value.name for value in graph.input if value.name not in constants]


def run_checked(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout or "no message").strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout


class Peer:
    has_cache = False

    def version(self):
        raise NotImplementedError


class Taper(Peer):
    """This project, measured through its command line."""

    name = "taper"
    label = "Taper"
    has_cache = True  # `--cache`: packed weights beside the model.

    def version(self):
        return "this tree"

    def export(self, context, dtype):
        path = context.path(f"{dtype}.taper.pte")
        source = context.int8_pt2 if dtype == "int8" else context.pt2
        run_checked([context.taper, "export", "--backend", "xnnpack", source, "-o", path])
        return path


class TaperKernels(Taper):
    """The same without a backend."""

    name = "kernels"
    label = "Taper, no backend"

    def export(self, context, dtype):
        if dtype != "f32":
            raise RuntimeError("not measured: quantised models are measured with XNNPACK")
        path = context.path("f32.kernels.pte")
        run_checked([context.taper, "export", context.pt2, "-o", path])
        return path


class ExecuTorch(Peer):
    name = "executorch"
    label = "ExecuTorch"

    def version(self):
        import importlib.metadata

        return importlib.metadata.version("executorch")

    def export(self, context, dtype):
        import torch
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

        path = context.path(f"{dtype}.executorch.pte")
        if os.path.exists(path):
            return path
        program = context.int8_program if dtype == "int8" else context.program
        with torch.no_grad():
            edge = to_edge_transform_and_lower(
                program, partitioner=[XnnpackPartitioner()],
                compile_config=EdgeCompileConfig(_check_ir_validity=False))  # fmt: skip
            data = edge.to_executorch().buffer
        with open(path, "wb") as file:
            file.write(data)
        return path

    def load(self, path, threads):
        import torch
        from executorch.extension.pybindings import portable_lib

        torch.set_num_threads(1)
        portable_lib._unsafe_reset_threadpool(threads)
        method = portable_lib._load_for_executorch(path)
        return lambda arrays: method.forward([torch.from_numpy(a) for a in arrays])


class OnnxRuntime(Peer):
    name = "onnxruntime"
    label = "ONNX Runtime"
    has_cache = True  # The optimised model as a file.

    def version(self):
        import onnxruntime

        return onnxruntime.__version__

    def export(self, context, dtype):
        return context.int8_onnx if dtype == "int8" else context.onnx

    def load(self, path, threads, cache=None):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        optimised = os.path.join(cache, "optimised.onnx") if cache else ""
        if os.path.exists(optimised):
            level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            path, options.graph_optimization_level = optimised, level
        elif cache:
            options.optimized_model_filepath = optimised
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        return lambda arrays: session.run(None, dict(zip(names, arrays)))


class OpenVino(Peer):
    name = "openvino"
    label = "OpenVINO"
    has_cache = True  # CACHE_DIR: the compiled model.

    def version(self):
        import openvino

        return openvino.__version__.split("-")[0]

    def export(self, context, dtype):
        return context.int8_onnx if dtype == "int8" else context.onnx

    def load(self, path, threads, cache=None):
        import openvino

        core = openvino.Core()
        if cache:
            core.set_property({"CACHE_DIR": cache})
        # The default is bfloat16 if the processor supports it.
        compiled = core.compile_model(
            path, "CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                          "INFERENCE_PRECISION_HINT": "f32"})  # fmt: skip
        request = compiled.create_infer_request()
        return lambda arrays: request.infer(arrays)


class Ncnn(Peer):
    name = "ncnn"
    label = "ncnn"

    def version(self):
        import ncnn

        return ncnn.__version__

    def export(self, context, dtype):
        import torch

        if dtype != "f32":
            raise RuntimeError("not measured: needs a calibration of its own")
        base = context.path("ncnn")
        if os.path.exists(base + ".param"):
            return base
        module, args = context.model
        script = base + ".pt"
        with torch.no_grad():
            torch.jit.trace(module, args, check_trace=False).save(script)
        shapes = ",".join(
            str(list(a.shape)).replace(" ", "") + {torch.int64: "i64"}.get(a.dtype, "f32")
            for a in args
        )
        import pnnx

        command = [pnnx.EXEC_PATH, os.path.basename(script), f"inputshape={shapes}",
                   "fp16=0", f"ncnnparam={os.path.basename(base)}.param",
                   f"ncnnbin={os.path.basename(base)}.bin"]  # fmt: skip
        run_checked(command, cwd=context.folder, timeout=300)
        with open(base + ".param") as file:
            kinds = {line.split()[0] for line in file if line.split()}
        left = sorted(kind for kind in kinds if kind.startswith(("aten::", "pnnx.")))
        if left:
            os.remove(base + ".param")
            raise RuntimeError("pnnx does not convert operators: " + ", ".join(left[:3]))
        return base

    def load(self, path, threads):
        import ncnn

        net = ncnn.Net()
        net.opt.num_threads = threads
        net.opt.use_vulkan_compute = False
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
            setattr(net.opt, "use_" + option, False)
        if net.load_param(path + ".param") != 0 or net.load_model(path + ".bin") != 0:
            raise RuntimeError("ncnn cannot load the file")

        def run(arrays):
            extractor = net.create_extractor()
            kept = [ncnn.Mat(np.ascontiguousarray(narrow(a)[0])) for a in arrays]
            for name, mat in zip(net.input_names(), kept):
                extractor.input(name, mat)
            outputs = []
            for name in net.output_names():
                code, out = extractor.extract(name)
                if code != 0:
                    raise RuntimeError("ncnn cannot run the model")
                outputs.append(np.array(out)[None])  # It has no batch.
            return outputs

        return run


class LiteRt(Peer):
    name = "litert"
    label = "LiteRT"
    has_cache = True  # XNNPACK's packed weights, which the newer of its two interfaces can keep.

    def version(self):
        import importlib.metadata

        return importlib.metadata.version("ai-edge-litert")

    def export(self, context, dtype):
        return self.quantized(context) if dtype == "int8" else self.converted(context)

    @staticmethod
    def converted(context):
        path = context.path("tflite")
        if not os.path.exists(path):
            import litert_torch

            module, args = context.model
            litert_torch.convert(module, args).export(path)
        return path

    def quantized(self, context):
        """By its own quantiser: per channel, with quantised activations."""
        from ai_edge_quantizer import quantizer, recipe

        path = context.path("int8.tflite")
        if not os.path.exists(path):
            model = quantizer.Quantizer(self.converted(context), recipe.static_wi8_ai8())
            args = {f"args_{i}": narrow(a.numpy()) for i, a in enumerate(context.model[1])}
            ranges = model.calibrate({"serving_default": [args, args]})
            model.quantize(ranges, serialize_to_path=path, enable_progress_report=False)
        return path

    def load(self, path, threads, cache=None):
        return self.compiled(path, threads, cache) if cache else self.interpreted(path, threads)

    @staticmethod
    def interpreted(path, threads):
        from ai_edge_litert.interpreter import Interpreter

        interpreter = Interpreter(model_path=path, num_threads=threads)
        interpreter.allocate_tensors()
        places, results = interpreter.get_input_details(), interpreter.get_output_details()
        given = []  # The same in every run, in the types that the file takes.

        def run(arrays):
            if not given:
                given.extend(map(LiteRt.taken, arrays, places))
            for place, array in zip(places, given):
                interpreter.set_tensor(place["index"], array)
            interpreter.invoke()
            return [LiteRt.floats(interpreter.get_tensor(r["index"]), r) for r in results]

        return run

    @staticmethod
    def taken(array, place):
        """An input as the file takes it."""
        if place["dtype"] != np.int8:
            return narrow(array)
        scale, zero_point = place["quantization"]
        return np.clip(np.round(array / scale) + zero_point, -128, 127).astype(np.int8)

    @staticmethod
    def floats(array, result):
        """The numbers of an output."""
        if array.dtype != np.int8:
            return array
        scale, zero_point = result["quantization"]
        return (array.astype(np.float32) - zero_point) * scale

    @staticmethod
    def compiled(path, threads, cache):
        from ai_edge_litert.compiled_model import CompiledModel
        from ai_edge_litert.cpu_options import CpuOptions
        from ai_edge_litert.hardware_accelerator import HardwareAccelerator
        from ai_edge_litert.options import Options

        cpu = CpuOptions(num_threads=threads, xnnpack_weight_cache_path=cache)
        options = Options(hardware_accelerators=HardwareAccelerator.CPU, cpu_options=cpu)
        model = CompiledModel.from_file(path, options=options)
        places, results = model.create_input_buffers(0), model.create_output_buffers(0)
        signature = next(iter(model.get_signature_list()))
        details = list(model.get_output_tensor_details(signature).values())

        def run(arrays):
            for place, array in zip(places, arrays):
                place.write(narrow(array))
            model.run_by_index(0, places, results)
            return [result.read(int(np.prod(detail["shape"])), detail["dtype"])
                    .reshape(detail["shape"]) for result, detail in zip(results, details)]  # fmt: skip

        return run


class Eager(Peer):
    """PyTorch itself, running the exported program's module."""

    name = "pytorch"
    label = "PyTorch eager"

    def version(self):
        import torch

        return torch.__version__

    def export(self, context, dtype):
        if dtype != "f32":
            raise RuntimeError("not measured: no quantised form of the model")
        return context.pt2

    def load(self, path, threads):
        import torch

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        module = torch.export.load(path).module()
        return lambda arrays: module(*[torch.from_numpy(a) for a in arrays])


PEERS = {
    peer.name: peer
    for peer in (
        Taper(), TaperKernels(), ExecuTorch(), OnnxRuntime(), OpenVino(), Ncnn(), LiteRt(), Eager(),
    )  # fmt: skip
}

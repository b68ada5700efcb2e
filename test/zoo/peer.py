"""Lowers and runs one stored entry with ExecuTorch's portable operators, and compares outputs."""

import time


def version():
    from importlib import metadata

    return " executorch " + metadata.version("executorch")


def executorch(entry, folder):
    """Returns the times and the largest difference, or the stage and text of an error."""
    import measure
    import torch
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    # Export again, as users of ExecuTorch do: not every saved program can be loaded in Python.
    import make

    module, args, kwargs = make.prepared(entry)
    with torch.no_grad():
        program = torch.export.export(module, args, kwargs, strict=False)
    stage = "lower"
    try:
        begin, cpu = time.perf_counter(), time.process_time()
        lowered = to_edge(program).to_executorch()
        result = {"export_s": time.process_time() - cpu, "wall_s": time.perf_counter() - begin}
        stage = "run"
        method = Runtime.get().load_program(bytes(lowered.buffer)).load_method("forward")
        inputs = [torch.from_numpy(a) for a in measure.load_all(folder, "in")]
        begin = time.perf_counter()
        outputs = [v for v in method.execute(inputs) if isinstance(v, torch.Tensor)]
        result["run_s"] = time.perf_counter() - begin
        got = [v.detach().contiguous().numpy() for v in outputs]
        stage = "match"
        result["worst"] = measure.compare(folder, got, measure.load_all(folder, "expected"))
        return result
    except Exception as error:
        lines = [l for l in str(error).strip().splitlines() if l.strip()] or [type(error).__name__]
        return {"error": f"{stage}: {lines[0][:200]}", "stage": stage}

"""Counts what torch.compile hands over and what becomes of it."""

import warnings

from taper import _dynamo, _graph, _parts, _refusals


class Watch:
    """While it is open: the graphs that arrive, Taper's programs, the reasons for eager mode."""

    def __enter__(self):
        self.graphs = self.programs = self.steps = 0
        _refusals.said.clear()
        watch, program, parts = self, _graph._Program, _parts.Parts

        class Program(program):
            def __init__(self, *args):
                watch.programs += 1
                super().__init__(*args)

        class Parts(parts):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                watch.steps += len(self._steps) > 1

        self._kept = program, parts, warnings.catch_warnings()
        _graph._Program, _parts.Parts = Program, Parts
        self._kept[2].__enter__()
        warnings.simplefilter("ignore")
        return self

    def backend(self, graph, examples):
        """For torch.compile(backend=...)."""
        self.graphs += 1
        return _dynamo.backend(graph, examples, options={"threads": 1})

    def __exit__(self, *error):
        self.reasons = sorted(_refusals.said)
        _graph._Program, _parts.Parts = self._kept[:2]
        self._kept[2].__exit__(*error)

    def result(self):
        """How far Taper runs it."""
        if not self.programs:
            return "eager" if self.reasons else "nothing" if self.graphs else "no graph"
        return "by parts" if self.steps or self.reasons else "whole"

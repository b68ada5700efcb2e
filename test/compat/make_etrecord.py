"""Makes the ETRecord with which ExecuTorch's Inspector joins a trace of ours to the exported model.

    taper export model.pt2 -o model.pte --debug-info
    taper profile model.pte --etdump model.etdp
    python test/compat/make_etrecord.py model.pt2 model.etdp -o model.etrecord

The trace names the nodes of the exported graph, so nothing else is needed: nodes are numbered, and
each instruction, and each step within a delegate, is mapped to the number of its node. The Inspector
then shows operators, modules and source lines. Needs the environment of scripts/venv.sh.
"""

import argparse


def node_of(name, nodes):
    """The node that an event is named after: "conv2d #2" is a second event of "conv2d"."""
    return nodes.get(name) or nodes.get(name.rsplit(" #", 1)[0])


def events_of(etdump):
    """The profile events of the first execution."""
    from executorch.devtools.inspector._inspector_utils import gen_etdump_object

    for run in gen_etdump_object(etdump_path=etdump).run_data:
        if run.name == "Execute":
            return [e.profile_event for e in run.events if e.profile_event is not None]
    raise ValueError(f"{etdump}: no execution")


def make(pt2, etdump):
    """Returns (ETRecord, names of events that no node has)."""
    import torch
    from executorch.devtools.etrecord import ETRecord

    program = torch.export.load(pt2)
    nodes = {}
    for node in program.graph.nodes:
        if node.op == "call_function":
            nodes[node.name] = node.meta["debug_handle"] = len(nodes) + 1
    handles, delegates, unknown = {}, {}, []
    for event in events_of(etdump):
        name = event.delegate_debug_id_str or event.name
        instruction = str(event.instruction_id)
        if event.name in ("Method::execute", "DELEGATE_CALL"):
            continue
        handle = node_of(name, nodes)
        if handle is None:
            unknown.append(name)
        elif event.delegate_debug_id_str:
            one = delegates.setdefault(instruction, {"name": "delegate", "delegate_map": {}})
            one["delegate_map"][name] = handle
            handles.setdefault(instruction, []).append(handle)
        else:
            handles[instruction] = handle
    record = ETRecord(
        edge_dialect_program=program,
        _debug_handle_map={"forward": handles},
        _delegate_map={"forward": delegates},
        _instruction_id_to_num_outs_map={"forward": {}},
    )
    return record, unknown


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pt2")
    parser.add_argument("etdump")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    record, unknown = make(options.pt2, options.etdump)
    record.save(options.output)
    for name in unknown:
        print(f"no node of the exported graph is called {name}")


if __name__ == "__main__":
    main()

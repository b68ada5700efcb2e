"""Compiles what the tests of the web, Java and Swift packages run:  programs.py TAPER OUT

Every committed model, programs of other kinds, and files that are no good with what the command
line says of them (broken.json).
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ROOT / "test/models/data"


def main():
    taper, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)

    def export(name, *arguments):
        command = [taper, "export", *map(str, arguments), "-o", str(out / name)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    for model in sorted(MODELS.glob("*.pt2")):
        export(model.stem + ".pte", model)
    export("two.pte", f"sum={MODELS}/add.pt2", f"encode={MODELS}/bert_mini.pt2")
    export("outside.pte", MODELS / "mobilenet_v2.pt2", "-w", out / "outside.ptd")
    export("application.pte", MODELS / "mobilenet_v2.pt2", "--io=application")
    export("digits.pte", ROOT / "demo/digits.pt2")
    custom = ROOT / "examples/custom_op"
    export("custom_op.pte", custom / "model.pt2", "--ops", custom / "ops.txt")
    export("delegated.pte", MODELS / "mobilenet_v2.pt2", "--backend", "xnnpack")

    export("signed.pte", MODELS / "add.pt2")
    for key in ("key.pem", "key.pub.pem"):
        (out / key).unlink(missing_ok=True)
    for sign in (["--new-key", out / "key.pem"], [out / "signed.pte", "--key", out / "key.pem"]):
        subprocess.run([taper, "sign", *sign], check=True, stdout=subprocess.DEVNULL)

    good = (out / "bert_mini.pte").read_bytes()
    broken = {
        "text.pte": b"# Not a program\n" * 20,
        "zeros.pte": bytes(4096),
        "cut.pte": good[: len(good) // 2],
        "cut_early.pte": good[:60],
        "short.pte": good[:5],
        "archive.pte": (MODELS / "add.pt2").read_bytes(),
        "flipped.pte": good[:64] + bytes(b ^ 0x55 for b in good[64:2000]) + good[2000:],
        "page.pte": b"<!doctype html><title>404</title>" * 100,
    }
    found = []
    for name, content in broken.items():
        path = out / name
        path.write_bytes(content)
        run = subprocess.run([taper, "run", path], capture_output=True, text=True)
        assert run.returncode != 0, name
        # Without the path, and without what the command line adds.
        said = run.stderr.strip().removeprefix("taper: error: ")
        found.append({"file": name, "text": re.split(re.escape(f": {path}"), said)[0]})
    (out / "broken.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

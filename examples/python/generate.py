"""Generates the package triplemesh from the protos: the contract in Python.

What the contract says to servers alone, such as which values they refuse, is
left out first. So the package needs no other but protobuf, and agrees with
whatever version of protovalidate a program uses beside it.
"""

from __future__ import annotations

import importlib.resources
import shutil
import sys
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RULES = "buf/validate/validate.proto"


def run(*args: str) -> None:
    """Runs protoc; ends the program where it fails."""
    if protoc.main(["protoc", *args]) != 0:
        sys.exit(f"protoc {' '.join(args)} failed")


def without_rules(described: bytes) -> bytes:
    """A descriptor set without the options that protoc does not define, and
    without the file that defines protovalidate's."""
    files = descriptor_pb2.FileDescriptorSet.FromString(described)
    files.DiscardUnknownFields()
    kept = [f for f in files.file if f.name != RULES]
    for f in kept:
        imports = [name for name in f.dependency if name != RULES]
        f.ClearField("dependency")
        f.dependency.extend(imports)
    return descriptor_pb2.FileDescriptorSet(file=kept).SerializeToString()


def main() -> None:
    out = HERE / "triplemesh"
    protos = sorted(str(p.relative_to(ROOT / "proto")) for p in (ROOT / "proto" / "triplemesh").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        described = Path(scratch) / "triplemesh.binpb"
        run(
            f"--proto_path={ROOT / 'proto'}",
            f"--proto_path={ROOT / 'third_party' / 'protovalidate'}",
            f"--proto_path={importlib.resources.files('grpc_tools') / '_proto'}",
            "--include_imports",
            "--include_source_info",
            f"--descriptor_set_out={described}",
            *protos,
        )
        described.write_bytes(without_rules(described.read_bytes()))
        shutil.rmtree(out, ignore_errors=True)
        run(
            f"--descriptor_set_in={described}",
            f"--python_out={HERE}",
            f"--pyi_out={HERE}",
            f"--grpc_python_out={HERE}",
            *protos,
        )
    print(f"{out}: {len(protos)} protos")


if __name__ == "__main__":
    main()

"""Generates the protobuf modules of the package from the protos of this repository.

    python generate.py

Validation rules are for servers only. They are removed first, so that the package does not need
protovalidate's protos, nor conflicts with those of another package.
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
SOURCE = HERE / "src"
RULES = "buf/validate/validate.proto"


def run_protoc(*args: str) -> None:
    if protoc.main(["protoc", *args]) != 0:
        sys.exit(f"protoc {' '.join(args)} failed")


def strip_rules(described: bytes) -> bytes:
    """Removes the options that protoc does not define, and the file that defines them."""
    files = descriptor_pb2.FileDescriptorSet.FromString(described)
    files.DiscardUnknownFields()
    kept = [f for f in files.file if f.name != RULES]
    for f in kept:
        imports = [name for name in f.dependency if name != RULES]
        f.ClearField("dependency")
        f.dependency.extend(imports)
    return descriptor_pb2.FileDescriptorSet(file=kept).SerializeToString()


def generate() -> None:
    package = SOURCE / "triplemesh"
    for old in package.glob("*/v1"):
        shutil.rmtree(old.parent)
    protos = sorted(str(p.relative_to(ROOT / "proto")) for p in (ROOT / "proto" / "triplemesh").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        described = Path(scratch) / "triplemesh.binpb"
        run_protoc(
            f"--proto_path={ROOT / 'proto'}",
            f"--proto_path={ROOT / 'third_party' / 'protovalidate'}",
            f"--proto_path={importlib.resources.files('grpc_tools') / '_proto'}",
            "--include_imports",
            "--include_source_info",
            f"--descriptor_set_out={described}",
            *protos,
        )
        described.write_bytes(strip_rules(described.read_bytes()))
        run_protoc(
            f"--descriptor_set_in={described}",
            f"--python_out={SOURCE}",
            f"--pyi_out={SOURCE}",
            f"--grpc_python_out={SOURCE}",
            *protos,
        )
    # grpc_tools writes a module for every proto, also for those without services.
    for stub in package.glob("*/v1/*_pb2_grpc.py"):
        if "Stub(object)" not in stub.read_text():
            stub.unlink()
    for directory in {package / Path(p).parts[1] for p in protos}:
        (directory / "__init__.py").touch()
        (directory / "v1" / "__init__.py").touch()


if __name__ == "__main__":
    generate()

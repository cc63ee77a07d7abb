"""The proto file matches the published tables, and the checked-in code matches the proto file."""

import runpy
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2

from bridle.surfaces.grpc.generated import kontekst_pb2
from tests.surfaces.grpc.client import messages

ROOT = Path(__file__).parents[3]


def described(file: Any) -> tuple[Any, ...]:
    """Return all that matters on the wire."""
    proto = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(proto)
    return (
        proto.package,
        {
            message.name: {
                field.name: (
                    field.number,
                    field.label,
                    field.type,
                    field.type_name,
                    field.HasField("oneof_index"),
                )
                for field in message.field
            }
            for message in proto.message_type
        },
        {
            service.name: [
                (rpc.name, rpc.input_type, rpc.output_type, rpc.client_streaming, rpc.server_streaming)
                for rpc in service.method
            ]
            for service in proto.service
        },
    )


def test_the_server_speaks_the_published_wire():
    client = messages()["kontekst.RunEvent"].DESCRIPTOR.file

    assert described(kontekst_pb2.DESCRIPTOR) == described(client)


def test_the_generated_code_is_what_the_proto_file_gives(tmp_path: Path):
    script = runpy.run_path(str(ROOT / "scripts/make_proto.py"))

    made = script["make"](tmp_path)

    kept = ROOT / "src" / script["PACKAGE"]
    assert {path.name: path.read_text() for path in made} == {
        path.name: path.read_text() for path in kept.glob("*_pb2*")
    }

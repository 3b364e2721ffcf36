"""What protobuf raises of files and calls that are older than it."""

import numpy as np
import tensorflow as tf
from google.protobuf import (
    descriptor,
    json_format,
    message_factory,
    reflection,
    symbol_database,
    text_format,
)

from tf1to2.tests.raisers import imported, run, v1


def load_newer_file():
    """What a `_pb2.py` file asks first, here one of the next major release."""
    from google.protobuf import runtime_version as runtime

    newer = runtime.MAJOR + 1, 0, 0, ""
    runtime.ValidateProtobufRuntimeVersion(runtime.Domain.PUBLIC, *newer, "new.proto")


OLD = {"including_default_value_fields": True}
# Where a wording began; what was said before it is among its section's earlier ones.
SINCE = {"incompatible Protobuf": "google.protobuf>=6"}
# What is raised with these releases alone.
ONLY = {
    "'MessageFactory'": "google.protobuf>=6",
    "'SymbolDatabase'": "google.protobuf>=6",
    "'MakeClass'": "google.protobuf>=6",
    "'google.protobuf.service'": "google.protobuf>=6",
    "MessageToDict()": "google.protobuf>=5.26",
    "MessageToJson()": "google.protobuf>=5.26",
}
ERRORS = {
    "Descriptors cannot": lambda: descriptor.EnumValueDescriptor("a", 0, 1),
    "'MessageFactory'": lambda: message_factory.MessageFactory().GetPrototype,
    "'SymbolDatabase'": lambda: symbol_database.Default().GetPrototype,
    "'MakeClass'": lambda: reflection.MakeClass,
    "'google.protobuf.service'": imported("google.protobuf.service"),
    "incompatible Protobuf": load_newer_file,
    "MessageToDict()": lambda: json_format.MessageToDict(v1.GraphDef(), **OLD),
    "MessageToJson()": lambda: json_format.MessageToJson(v1.GraphDef(), **OLD),
    "bytes, str found": lambda: tf.train.BytesList(value=["a"]),
    "EagerTensor found": lambda: tf.train.BytesList(value=[tf.constant("a")]),
    "must be iterable": lambda: tf.train.FloatList(value=np.float32(1)),
    "Protocol message": lambda: tf.train.Features(features={}),
    "google.protobuf.pyext'": run("from google.protobuf.pyext import _message"),
    "Message type": lambda: text_format.Parse("size: 1", v1.GraphDef()),
    "must be real number, not str": lambda: tf.train.FloatList(value=["2"]),
}

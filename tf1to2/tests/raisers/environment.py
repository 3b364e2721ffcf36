"""What pip, a machine without a GPU and a full memory say."""

import ctypes
import functools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.compiler.tensorrt import trt_convert

from tf1to2.tests.raisers import Logged


def install_old():
    """By pip, from an index that has nothing, as none has for this Python."""
    code = [sys.executable, "-m", "pip", "install", "--no-index", "--dry-run"]
    code += ["--isolated", "--no-deps", "--disable-pip-version-check"]
    done = subprocess.run(
        [*code, "tensorflow==1.15"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)


def cuda(name):
    """As a TensorFlow of that CUDA loads its libraries."""
    return lambda: ctypes.CDLL(f"lib{name}")


def import_without_a_driver():
    """Raises what a new process logs when it imports TensorFlow and looks for GPUs."""
    raise Logged(_log())


@functools.cache
def _log():
    # The linker finds this file before a driver, and can load nothing of it.
    code = "import tensorflow as tf; tf.config.list_physical_devices('GPU')"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "libcuda.so.1").touch()
        asked = {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_ENABLE_ONEDNN_OPTS": "1"}
        environment = {**os.environ, **asked, "LD_LIBRARY_PATH": folder}
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env=environment,
        ).stderr


ERRORS = {
    "satisfies the requirement": install_old,
    "No matching distribution": install_old,
    "TensorRT": lambda: tf.experimental.tensorrt.Converter("folder"),
    "Please use tf.experimental.tensorrt": lambda: trt_convert.TrtGraphConverter(
        input_graph_def=tf.Graph().as_graph_def()
    ),
    "find cuda drivers": import_without_a_driver,
    "oneDNN custom operations": import_without_a_driver,
    "libcublas.so.…: cannot open shared object": cuda("cublas.so.10.0"),
    "libcudart.so.…: cannot open shared object": cuda("cudart.so.10.0"),
    "libcudnn.so.…: cannot open shared object": cuda("cudnn.so.7"),
    "OOM when": lambda: tf.zeros([1 << 45]),
    "Unable to allocate": lambda: np.ones([1 << 45]),
}

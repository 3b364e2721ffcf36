"""The settings in which numbers are compared, applied before TensorFlow starts.

"strict": one thread, no oneDNN, plain Eigen products, no graph rewriting. A kernel then
gives the same bits in a session, eagerly and in a `tf.function`: float32 is compared.
"default": TensorFlow as it is installed. Answers are computed in float64 and compared
after rounding to float32 (the float64 recipe).
"""

import contextlib
import functools
import os
import sys
import warnings

CPU = {"CUDA_VISIBLE_DEVICES": "-1"}  # only CPU kernels have reproducible bits
STRICT = {
    **CPU,
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "false",
}
ENVIRONMENTS = {"strict": STRICT, "default": CPU}


def current():
    """The settings of this process: `TF1TO2_SETTINGS`, "strict" unless set."""
    name = os.environ.get("TF1TO2_SETTINGS", "strict")
    if name not in ENVIRONMENTS:
        raise ValueError(
            f"TF1TO2_SETTINGS is {name!r}: use one of {', '.join(ENVIRONMENTS)}"
        )
    return name


def apply():
    """Applies the current settings and starts TensorFlow, without log lines, once.

    Raises:
        RuntimeError: TensorFlow was imported before, with other settings.
    """
    wanted = ENVIRONMENTS[current()]
    missing = [f"{k}={v}" for k, v in wanted.items() if os.environ.get(k) != v]
    if missing and "tensorflow" in sys.modules:
        raise RuntimeError(
            "TensorFlow was imported before the parity settings were in place: call "
            f"settings.apply() first, or set {' '.join(missing)}"
        )
    os.environ.update(wanted)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    _start()


@functools.cache
def _start():
    with silence(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of other packages
        import tensorflow as tf

        (cpu,) = tf.config.list_physical_devices("CPU")
        two = [tf.config.LogicalDeviceConfiguration()] * 2  # operations in parallel
        tf.config.set_logical_device_configuration(cpu, two)
        if current() == "strict":
            tf.config.optimizer.set_experimental_options(
                {"disable_meta_optimizer": True}
            )
        tf.zeros([])  # the runtime starts, and logs its messages
    tf.get_logger().setLevel("CRITICAL")


@contextlib.contextmanager
def silence():
    """A context that drops what native code writes to the standard error stream."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)

"""The settings in which numbers are compared; they must be in place before TensorFlow.

"strict": one thread, no oneDNN, plain Eigen products, no graph rewriting. The same kernel
then gives the same bits in a session, eagerly and in a `tf.function`: float32 is compared.
"default": TensorFlow as it is installed. Answers are computed in float64 and compared
after rounding to float32 (the float64 recipe).
"""

import os
import sys

ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "-1",  # bits are promised for CPU kernels
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "false",
}
SETTINGS = ("strict", "default")


def current():
    """The settings of this process: `TF1TO2_SETTINGS`, "strict" unless set."""
    name = os.environ.get("TF1TO2_SETTINGS", "strict")
    if name not in SETTINGS:
        raise ValueError(
            "TF1TO2_SETTINGS is {!r}: use one of {}".format(name, ", ".join(SETTINGS))
        )
    return name


def apply():
    """Puts the current settings in force and starts TensorFlow, quietly.

    Raises:
        RuntimeError: TensorFlow was imported before, with other settings.
    """
    strict = current() == "strict"
    wanted = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    if strict:
        wanted.update(ENVIRONMENT)
    if "tensorflow" in sys.modules:
        wrong = [
            k for k, v in wanted.items() if k in ENVIRONMENT and os.environ.get(k) != v
        ]
        if wrong:
            raise RuntimeError(
                "TensorFlow was imported before the parity settings were in place: "
                "import tf1to2.parity first, or set {}".format(
                    " ".join(f"{k}={wanted[k]}" for k in wrong)
                )
            )
    os.environ.update(wanted)

    import tensorflow as tf

    if strict:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})

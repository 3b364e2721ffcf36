"""Whether a process may be forked."""

import sys


def may_fork():
    """Whether this process may be forked: only while TensorFlow is not loaded.

    A child has only the thread that forked. If it frees what TensorFlow's threads work
    on, an iterator of a dataset for instance, it waits for one of them for ever.
    """
    return "tensorflow" not in sys.modules

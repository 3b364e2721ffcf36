"""Records the answers of Keras 1.2.2 to the old lines, on TensorFlow 1.15.5.

python -m upkeep keras_1            writes recorded.npz
python -m upkeep keras_1 --check    compares, writes nothing
"""

import io
import sys

import numpy as np

from tf1to2.common import output
from tf1to2.parity.recordings import genuine_python
from upkeep import genuine, keras_1


def main(argv=None):
    options = genuine.parser("keras_1", __doc__).parse_args(argv)
    try:
        found = keras_1.ask(genuine_python(options.environment))
    except RuntimeError as error:  # also if TensorFlow 1.15.5 is missing
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.check:
        stale = _differences(keras_1.recorded(), found)
        print("\n".join(stale) or f"{len(found) - 1} answers of Keras 1 hold")
        return int(bool(stale))
    store = {
        f"{key}/{name}" if key else name: array
        for key, answer in found.items()
        for name, array in answer.items()
    }
    data = io.BytesIO()
    np.savez_compressed(data, **store)
    output.save(keras_1.RECORDED, data.getvalue())
    print(f"wrote {keras_1.RECORDED.name}: {len(found) - 1} answers")
    return 0


def _differences(recorded, found):
    """Lists the cases that differ from the recording, one line for each."""
    return [
        f"{key} is stale"
        for key in sorted(recorded.keys() | found.keys())
        if not _same(recorded.get(key, {}), found.get(key, {}))
    ]


def _same(one, other):
    return one.keys() == other.keys() and all(
        np.array_equal(array, other[name])
        if array.dtype.kind == "U"
        else array.shape == np.shape(other[name])
        and np.allclose(array, other[name], 1e-5, 1e-6)
        for name, array in one.items()
    )


if __name__ == "__main__":
    sys.exit(main())

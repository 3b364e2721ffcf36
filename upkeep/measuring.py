"""Measures the distances of pages from the genuine TensorFlow 1.15.5: float32, Keras.

It updates the rows of float32.tsv and of keras.tsv. A row with a larger distance than
the measured one stays, because another processor needed it, unless `--tighten` is
given. It prints rows that are too large or no longer needed, for you to read; no test
checks these. With `--where "tensorflow<2.17"`, larger distances on some releases get
rows for these releases.

    python -m upkeep.measuring float32 parity_tests rnn --tighten
"""

import argparse
import contextlib
import dataclasses
import sys
import threading
from unittest import mock

from tf1to2.common.errors import CommandError
from tf1to2.parity import float32, providers, settings
from tf1to2.parity.cases import Raises
from tf1to2.parity.distance import LAST_BITS, magnitude
from tf1to2.prove.options import add_proofs
from upkeep.kernels import changed


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", choices=["float32", "distances"])
    add_proofs(parser)
    parser.add_argument(
        "--where",
        default="",
        help='write rows for these releases only, such as "tensorflow<2.17"',
    )
    parser.add_argument(
        "--tighten",
        action="store_true",
        help="also write distances that are smaller than those of the rows",
    )
    options = parser.parse_args(argv)
    table_of = _float32 if options.table == "float32" else _distances
    try:
        return write(
            options.provider, options.names, table_of, options.where, options.tighten
        )
    except CommandError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _float32(proof):
    return proof.float32, lambda: float32_rows(proof)


def _distances(proof):
    found = proof.distances
    return found and (found.table, lambda: keras_rows(found))


def write(provider, names, table_of, where="", tighten=False):
    """Updates the rows of a provider's proofs, and prints the changes.

    Args:
        provider: a module, or the path of a file.
        names: of proofs; all, if empty.
        table_of: function from a proof to its table and the function that measures its
            rows; to None if it has none.
        where: the releases of the rows, such as "tensorflow<2.17".
        tighten: whether to write measured distances that are smaller than a row's.

    Returns:
        Exit status: 1 if something other than a float differs.

    Raises:
        CommandError: there is no such provider or proof.
    """
    failed = False
    chosen = providers.select(providers.provider(provider), names)
    for proof in dict.fromkeys(proof for proof, _ in chosen):
        found = table_of(proof)
        if found is None:
            continue
        table, measure_now = found
        try:
            rows = measure_now()
        except AssertionError as error:
            print(f"{proof.name}: {error}", flush=True)
            failed = True
            continue
        if where:
            rows = table.not_allowed(rows)
            rows = [dataclasses.replace(row, where=where) for row in rows]
        else:
            for line in table.changes(proof.name, rows):
                print(line, flush=True)
            rows = rows if tighten else table.farthest(rows)
        table.replace(proof.name, rows, where)
        print(f"{proof.name}: {len(rows)} leaves differ", flush=True)
    return int(failed)


def float32_rows(proof):
    """Measures a proof's differences in float32, and names their kernels.

    Args:
        proof: a `Proof`, whose recording is up to date.

    Returns:
        list of `Row`.

    Raises:
        Mismatch: a leaf that is not a float differs.
    """
    rows = []
    for case in proof.cases:
        if isinstance(case, Raises) or proof.float32_way(case) is None:
            continue
        found, noise = {}, {}
        with operations() as ran:  # the first run: it traces
            answers = proof.answers_float32(case)
        recorded = proof.recorded_float32(case)
        for expected, actual in zip(recorded, answers, strict=True):
            sides = f"1.15.5, {proof.name}.{case}", "today"
            float32.farthest(found, float32.measure(expected, actual, sides))
        for sizes, expected, actual in zip(case.bindings(), recorded, answers):
            for path, most in _noise(proof, case, sizes, expected, actual).items():
                noise[path] = max(most, noise.get(path, 0.0))
                found.setdefault(path, (0, 0.0))  # noise depends on the processor
        if not found:
            continue
        pair, cause = f"{proof.name}.{case.name}", changed.causes(ran)
        rows += [
            float32.Row(pair, case.slug, path, *far, cause, noise=noise.get(path, 0.0))
            for path, far in found.items()
        ]
    return rows


def _noise(proof, case, sizes, expected, actual):
    """Finds leaves with only rounding noise around 0: {path: magnitude}.

    In float64 on 1.15.5, these leaves are almost 0.
    """
    exact = proof.recorded_answer(case, sizes)
    return {
        path: magnitude(leaf, actual[path])
        for path, leaf in expected.items()
        if leaf.dtype.kind == "f" and leaf.dtype == exact[path].dtype
        if 0 < magnitude(leaf) >= magnitude(exact[path]) / LAST_BITS
    }


@contextlib.contextmanager
def operations():
    """Collects the types of operations that run or are traced in a `with` block.

    Operations without float outputs, such as products of sizes, are left out.
    """
    from tensorflow.python.framework import op_callbacks

    ran = set()

    def note(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        dtypes = [output.dtype for output in outputs]
        if not dtypes or any(d.is_floating or d.is_complex for d in dtypes):
            ran.add(op_type if isinstance(op_type, str) else op_type.decode())

    def noted(thread):  # callbacks belong to a thread
        op_callbacks.add_op_callback(note)
        run(thread)

    run = threading.Thread.run
    op_callbacks.add_op_callback(note)
    try:
        with mock.patch.object(threading.Thread, "run", noted):
            yield ran
    finally:
        op_callbacks.remove_op_callback(note)


def keras_rows(found):
    """Measures the distances of all cases and naive forms of a Keras page.

    Args:
        found: a `parity.distances.Distances`.

    Returns:
        list of `Row`.
    """
    rows = []
    for case in [*found.cases, *found.naive]:
        slug, apart = str(case).partition(", ")[2], found.apart(case)
        pair = f"{found.proof.name}.{case.name}"
        rows += [float32.Row(pair, slug, path, *far) for path, far in apart.items()]
    return rows


if __name__ == "__main__":
    settings.apply()
    sys.exit(main())

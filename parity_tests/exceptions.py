"""The known differences in bits: all rows of exceptions.tsv. Other bits are equal.

A row is a `Bound`; its last cell is a key of `REASONS`. Its `ulps` is the measured
number, or a larger one if another processor has other kernels.
"""

import csv
import dataclasses
import pathlib

from tf1to2.parity.compare import Bound

TABLE = pathlib.Path(__file__).with_name("exceptions.tsv")
FIELDS = {field.name for field in dataclasses.fields(Bound)}
REASONS = {
    "A_WHOLE_SHARE": (
        "a pixel that has the whole share of a place leaves g - g for its neighbour, "
        "among other gradients, which a tape adds in another order: 2.2e-16 is left "
        "of 0"
    ),
    # 8 times the measured number.
    "BFLOAT16": (
        "in the default settings oneDNN multiplies matrices of bfloat16, and sums in "
        "another order, ten steps long"
    ),
    "CTC_ZERO": (
        "tf.nn.ctc_loss puts the blank last by a concatenation: past the end its "
        "gradient is 0.0, where v1's zero had the sign of what came back"
    ),
    # 8 times the measured number. The largest is for a gradient near 0, in
    # make_attention_decoder; summarize has a mean of 0.035 for scores up to 22.
    "DEFAULT_KERNELS": (
        "in the default settings today's kernels for products of matrices, "
        "convolutions and batch norms (oneDNN) add in another order"
    ),
    "EPSILON": (
        "a session of 1.15 adds epsilon to the 1 of 1 - predictions, and 1 + 1e-7 is "
        "1 + 1.19e-7 in float32; so does a graph of today that is rewritten"
    ),
    "FIVE_USES": "an image has five uses, whose gradients a tape adds in another order",
    "FOUR_GRADIENTS": "four gradients lead to the image: their sum has another order",
    "HUBER": (
        "three parts of a gradient are added: in a session AddN begins with the part "
        "whose memory it may overwrite, which is another one here than in a tape"
    ),
    "NEAR_ONE": (
        "a gate or a probability p is 1 but for 1e-8, and the gradient is that of "
        "1 - p: sigmoid and tanh of 1.15 have other last bits in float64, too, up to "
        "7e-16 away"
    ),
    "NEGATED": (
        "1.15 negates 0 to 0.0, as 0 - 0 is, where its kernel takes several numbers "
        "at once; today it is -0.0"
    ),
    "NO_AXES": (
        "the gradient of v1's difference of unknown shapes is summed over no axes, "
        "which makes 0.0 of the -0.0 in whole vectors"
    ),
    "NO_BIAS": (
        "every path from this bias ends in a norm, which subtracts it: the gradient "
        "is 0 but for noise, 2e-16 at most after ten steps in float64"
    ),
    "PENALTY": (
        "Keras 3 keeps the weight of a penalty in float32: in a model of float64 its "
        "0.01 is 2e-8 less"
    ),
    "REWRITTEN": (
        "1.15 rewrites the graph of a session, and adds or multiplies in another "
        "order; without that, all bits are the same"
    ),
    # 8 times the measured number.
    "REWRITTEN_TODAY": (
        "in the default settings TensorFlow 2 rewrites the graph of a function, and "
        "adds in another order; without that and without oneDNN the rows of float32 "
        "hold"
    ),
    "SATURATED": (
        "the cells are saturated: gradients of the last steps are 1e-8 of the largest "
        "and less, down to 1e-16, and have the last bits of tanh, sigmoid and sums in "
        "float64"
    ),
    # For a gradient of 0 the units in the last place are tiny, so their number is
    # large: the largest difference is 5.9e-17 in entropy_naive, 5.6e-17 in
    # check_entropy.
    "SECOND_ORDER": (
        "a weight has three uses in an inner update of a task: a v1 loop over tasks "
        "adds its float32 gradients in another order than a tape; in float64 the "
        "numbers are identical"
    ),
    "SOFTMAX": (
        "the gradient is softmax minus softmax; in float64 the two kernels round "
        "apart before TensorFlow 2.17, and 6e-17 is left of it"
    ),
    "TIMES_AND_BACK": (
        "the gradient for y of x * y / y is 0 but for noise, of 3e-14 at most, and a "
        "sum of 67 of it depends on its order"
    ),
    # Twice the number in the strict settings; the default settings measure 5661.
    "VANISHED": (
        "the gates are clipped, so that the gradient of early steps vanishes: what is "
        "left of it, 1e-6 of the largest and less, is the order in which a sum was made"
    ),
    "XLA_EXP": "of labels: a log probability near 0, 2e-16 apart, as XLA sums exp",
    "XLA_SOLVE": "XLA solves the system in another order",
    "XLA_SOLVE_AND_LOG": (
        "XLA solves the system in another order, and has a log of its own"
    ),
    "XLA_SUM": "XLA sums 804 products in another order",
    "XLA_SVD": "XLA adds up products in another order, and has another SVD",
}


def read(path):
    """Reads a table of known differences.

    Args:
        path: file with tab-separated columns, the fields of `Bound`, after notes that
            begin with "#" and a header. `where`, `settings` and `noise` may be empty.

    Returns:
        list of `Bound`, in the order of the rows.

    Raises:
        ValueError: names the file and the line. The columns are not the fields; a row
            has too few or too many cells, a cell that should be a number, or no key of
            `REASONS`; or two rows are about the same comparison.
    """
    lines = path.read_text("utf-8").splitlines()
    notes = sum(line.startswith("#") for line in lines)
    rows = csv.reader(lines[notes:], delimiter="\t", quoting=csv.QUOTE_NONE)
    bounds = {}
    try:
        fields = next(rows, [])
        if set(fields) != FIELDS:
            odd = ", ".join(sorted(set(fields) ^ FIELDS))
            raise ValueError(f"unknown or missing columns: {odd}")
        for cells in rows:
            if len(cells) != len(FIELDS):
                raise ValueError(f"the row has {len(cells)} cells, not {len(FIELDS)}")
            bound = _bound(dict(zip(fields, cells)))
            key = dataclasses.replace(bound, ulps=0, measured=0, noise=0, reason="")
            if key in bounds:
                raise ValueError(f"two rows for {bound.pair}, {bound.case}: remove one")
            bounds[key] = bound
    except ValueError as error:
        line = notes + rows.line_num
        raise ValueError(f"{path}, line {line}: {error}") from None
    return list(bounds.values())


def _bound(row):
    if row["reason"] not in REASONS:
        raise ValueError(f"{row['reason']!r} is not a key of REASONS")
    return Bound(
        **row
        | {"ulps": int(row["ulps"]), "measured": int(row["measured"])}
        | {"noise": float(row["noise"] or 0), "reason": REASONS[row["reason"]]}
    )


BOUNDS = read(TABLE)

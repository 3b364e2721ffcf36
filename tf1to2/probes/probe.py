"""`Probe`: an old call, the new call, and the inputs of both."""

import dataclasses

SIGN_OF_ZERO = 5e-324
"""The distance between 0.0 and -0.0: the smallest positive float64."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One old call, the call that replaces it, and the inputs of both.

    The last line of a call is an expression, whose value is the answer; the lines
    before prepare it. A call can use `tf`, `np`, the inputs as tensors,
    `distinct("kernel")`, an initializer with distinct values, and `folder`, the path
    of an empty folder.

    Attributes:
        name: the old name, such as `tf.log`; the probe is also about its aliases.
        old: the call on TensorFlow 1.
        new: the call on TensorFlow 2.
        inputs: for each case, a line of assignments, such as "x = normal(4, 5)"; see
            `tf1to2.parity.arrays`.
        exact: whether to compare bits with the given dtypes, for arithmetic that never
            rounds; else inputs are widened to float64 and answers rounded to float32.
        why: if the sides differ, what differs and why.
        within: if the sides differ, the largest measured distance, relative to the
            largest value; 0 if the answers are completely different.
        eager: if the new call does not run in a `tf.function`, why.
        where: the releases on which the sides differ, such as "keras<3.14"; by default
            all releases.
        raises: if the new call raises on these releases, a pattern for the beginning of
            the message that Python prints.
    """

    name: str
    old: str
    new: str
    inputs: tuple = ("",)
    exact: bool = False
    why: str = ""
    within: float = 0.0
    eager: str = ""
    where: str = ""
    raises: str = ""

    def __str__(self):
        return f"{self.name}: {self.new}"

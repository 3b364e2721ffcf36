"""Proves a case at random sizes, chosen by hypothesis."""

import hypothesis
from hypothesis import strategies as st

from tf1to2.parity import structure, v1
from tf1to2.parity.compare import Tally


def prove(proof, case):
    """Compares both pages, on today's TensorFlow, at a few random sizes.

    Returns:
        {"compat.v1": Tally}.

    Raises:
        Mismatch: the first difference.
    """
    total = Tally()

    @hypothesis.settings(
        max_examples=4,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(
        st.fixed_dictionaries({letter: st.integers(1, 40) for letter in case.letters}),
        st.integers(1, 2**20),
    )
    def any_size(sizes, seed):
        nonlocal total
        request = case.request(sizes, seed=seed)
        narrow = dict
        if not proof.strict:
            request, narrow = proof.widened(case, request), structure.narrow
        expected = narrow(v1.run(proof.v1, request))
        for way in ("eager", "function"):
            (actual,) = proof.ask(way, [request])
            total += proof.compare(
                case, way, sizes, "compat.v1", expected, narrow(actual)
            )

    any_size()
    return {"compat.v1": total}

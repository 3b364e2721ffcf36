"""Times functions against one another: interleaved rounds, medians, spreads."""

import dataclasses
import statistics
import time

ROUNDS = 11
TURN = 0.004  # seconds that one function runs in one round
NOISY = 0.25


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds per call, one number for each round.

    Attributes:
        first: seconds of the first call, which builds, traces or compiles.
        rounds: list of seconds per call.
    """

    first: float
    rounds: list

    @property
    def median(self):
        return statistics.median(self.rounds)

    @property
    def spread(self):
        """The distance of the quartiles, as a share of the median."""
        if len(self.rounds) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.rounds, n=4)
        return (high - low) / self.median


def ratio(timing, base):
    """(median, spread) of the ratios, round by round, of one timing to another."""
    ratios = [a / b for a, b in zip(timing.rounds, base.rounds, strict=True)]
    return Timing(0.0, ratios).median, Timing(0.0, ratios).spread


def first_call(make):
    """Builds a function and calls it once.

    Args:
        make: a function that returns the function to be timed.

    Returns:
        (the function, seconds of both).
    """
    begun = time.perf_counter()
    function = make()
    function()
    return function, time.perf_counter() - begun


def interleave(functions, rounds=ROUNDS, turn=TURN):
    """Times functions in turns, so that a busy moment befalls all of them.

    Args:
        functions: {name: (function, seconds of its first call)}.
        rounds: how many times each has its turn.
        turn: how long a turn is, in seconds; a slower function runs once.

    Returns:
        {name: Timing}.
    """
    repeats = {
        name: max(1, round(turn / _once(function))) if turn else 1
        for name, (function, _) in functions.items()
    }
    seconds = {name: [] for name in functions}
    for number in range(rounds):
        names = list(functions)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            function, count = functions[name][0], repeats[name]
            begun = time.perf_counter()
            for _ in range(count):
                function()
            seconds[name].append((time.perf_counter() - begun) / count)
    return {
        name: Timing(first, seconds[name]) for name, (_, first) in functions.items()
    }


def _once(function):
    """Seconds of a call, warmed up."""
    function()
    begun = time.perf_counter()
    function()
    return max(time.perf_counter() - begun, 1e-7)

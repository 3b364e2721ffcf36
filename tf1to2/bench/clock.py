"""Times functions against one another: interleaved rounds, medians, bounds."""

import dataclasses
import math
import statistics
import time

ROUNDS = 11
MOST = 5  # factor for the rounds, if they do not show which is faster
TURN = 0.004  # seconds that one function runs in one round


@dataclasses.dataclass(frozen=True)
class Timing:
    """The timing of a function: seconds per call, one number for each round.

    Attributes:
        first: seconds of the first call, which builds, traces or compiles.
        rounds: list of seconds per call, in real time.
        cpu: list of CPU seconds per call, summed over all threads of the process.
    """

    first: float
    rounds: list
    cpu: list = dataclasses.field(default_factory=list)

    @property
    def median(self):
        return statistics.median(self.rounds)


@dataclasses.dataclass(frozen=True)
class Ratio:
    """The ratio of two timings: the median of the rounds, with its confidence interval.

    Attributes:
        median: of the ratios of each round, so that a busy moment affects both.
        low, high: 95 percent confidence interval of the median: the ratios of the rank
            n / 2 -+ 0.98 √n (Conover, Practical Nonparametric Statistics, confidence
            interval for a quantile); up to five rounds, the range of all ratios.
    """

    median: float
    low: float
    high: float

    def tells(self, bound):
        """Whether the confidence interval excludes a bound."""
        return not self.low <= bound <= self.high


def ratio(timing, base):
    """The `Ratio` of one timing to another with the same number of rounds."""
    ratios = sorted(a / b for a, b in zip(timing.rounds, base.rounds, strict=True))
    left_out = max(0, math.floor(len(ratios) / 2 - 0.98 * math.sqrt(len(ratios))) - 1)
    return Ratio(
        statistics.median(ratios), ratios[left_out], ratios[len(ratios) - 1 - left_out]
    )


def first_call(make):
    """Builds a function and calls it once.

    Args:
        make: a function that returns the function to be timed.

    Returns:
        (`timed` of the function, seconds of both).
    """
    begun = time.perf_counter()
    function = make()
    function()
    return timed(function), time.perf_counter() - begun


def timed(function):
    """Makes a function that times `count` calls, and returns (seconds, CPU seconds)."""

    def run(count):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(count):
            function()
        return time.perf_counter() - wall, time.process_time() - cpu

    return run


def interleave(
    functions, rounds=ROUNDS, turn=TURN, told=lambda timings: True, counts=()
):
    """Times functions in turns, so that other load affects all of them equally.

    Args:
        functions: {name: (`timed` function, seconds of its first call)}; it may run
            in another process.
        rounds: number of turns of each function.
        turn: seconds of a turn; a slower function runs once.
        told: function from the timings to whether they suffice; if not, there are as
            many rounds again, up to `MOST` times.
        counts: {name: calls in a turn} of functions whose number of calls is fixed.

    Returns:
        {name: Timing}.
    """
    repeats = {
        name: max(1, round(turn / _once(function))) if turn else 1
        for name, (function, _) in functions.items()
        if name not in counts
    } | dict(counts)
    names = list(functions)
    timings = {name: Timing(first, []) for name, (_, first) in functions.items()}
    for number in range(rounds * MOST):
        if number and number % rounds == 0 and told(timings):
            break
        for name in names[number % len(names) :] + names[: number % len(names)]:
            function, count = functions[name][0], repeats[name]
            wall, cpu = function(count)
            timings[name].rounds.append(wall / count)
            timings[name].cpu.append(cpu / count)
    return timings


def _once(function):
    """Measures the seconds of one call, after a first call to warm up."""
    function(1)
    return max(function(1)[0], 1e-7)

"""Command-line flags of a program."""

from absl import flags


def files():
    printed = []
    # [in short
    RATE = flags.DEFINE_float("in_short_rate", 0.1, "The learning rate.")

    def main(_):
        printed.append(RATE.value)

    # in short]
    if not flags.FLAGS.is_parsed():
        flags.FLAGS(["program"], known_only=True)
    main(None)
    return printed

"""The training of the old program, a step for each `yield`."""
from reviews import data
from reviews.train import FLAGS, Model


def train(num_steps):
    FLAGS.num_steps = num_steps
    model = Model()
    fetches = {"loss": model.loss, "norm": model.norm, "op": model.train_op}
    for step, batch in enumerate(data.batches(num_steps)):
        yield fetches, model.feed(batch, step)

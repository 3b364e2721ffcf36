"""Trains, or evaluates: python -m ported /tmp/reviews.ckpt"""

import argparse
import logging

import numpy as np
import tensorflow as tf

from ported import data
from ported.train import Trainer


def train(path, num_steps):
    trainer = Trainer(num_steps)
    for step, (loss, norm) in enumerate(trainer.fit()):
        if step % 20 == 0:
            logging.info("step %d: loss %.4f, norm %.4f", step, loss, norm)
    logging.info("saved %s", tf.train.Checkpoint(trainer).write(path))


def evaluate(path):
    """The accuracy on books and on films, by the averaged weights of a checkpoint."""
    trainer = Trainer()
    tf.train.Checkpoint(trainer).read(path).assert_consumed()
    trainer.use_averages()
    for name, domain in [("books", 0), ("films", 1)]:
        words, lengths, labels = data.make_reviews(200, domain, seed=9 + domain)
        sentiment, _ = trainer.net(words, lengths)
        accuracy = np.mean(np.argmax(sentiment, 1) == labels)
        logging.info("%s: accuracy %.4f", name, accuracy)


parser = argparse.ArgumentParser(prog="ported", description="Trains, or evaluates.")
parser.add_argument("checkpoint", help="to write, or to evaluate")
parser.add_argument("--num_steps", type=int, default=100, help="%(default)s")
parser.add_argument("--evaluate", action="store_true", help="do not train")
options = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="%(message)s")
if options.evaluate:
    evaluate(options.checkpoint)
else:
    train(options.checkpoint, options.num_steps)

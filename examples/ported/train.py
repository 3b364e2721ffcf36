"""Trains the classifier: python train.py --steps 400"""

import argparse

import numpy as np
import tensorflow as tf
from net import Net, accuracy_of


def draw(n=256):
    points = np.random.RandomState(0).uniform(-1, 1, (n, 2)).astype("float32")
    return points, (np.square(points).sum(axis=1) < 0.5).astype("int64")


def rate_of(step, rate):
    """The learning rate, which is halved every 200 steps."""
    return rate * 0.5 ** tf.cast(step // 200, tf.float32)


def train(steps, rate):
    net, step = Net(), tf.Variable(0, trainable=False)
    points, labels = map(tf.constant, draw())
    slots = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]

    @tf.function
    def take(count):
        for _ in tf.range(count):
            with tf.GradientTape() as tape:
                loss = net.loss(net(points), labels)
            gradients = tape.gradient(loss, net.trainable_variables)
            for v, slot, gradient in zip(net.trainable_variables, slots, gradients):
                slot.assign(0.5 * slot + gradient)
                v.assign_sub(rate_of(step, rate) * slot)
            step.assign_add(1)

    print("parameters:", sum(v.shape.num_elements() for v in net.trainable_variables))
    for begin in range(0, steps, 80):
        print(f"{begin}: loss {net.loss(net(points), labels):.4f}")
        take(tf.constant(min(80, steps - begin)))
    logits = net(points)
    loss, accuracy = net.loss(logits, labels), accuracy_of(logits, labels)
    print(f"in the end: loss {loss:.4f}, accuracy {accuracy:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rate", type=float, default=1.0)
    train(**vars(parser.parse_args()))

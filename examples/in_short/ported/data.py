"""An input pipeline and its iterator."""

import tensorflow as tf


def data(images, labels):
    seen = []
    # [in short
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.map(lambda x, y: (x / 255.0, y)).batch(4).repeat(2)

    for x, y in dataset:
        mean = tf.reduce_mean(x)
        seen.append([mean.numpy(), y.numpy()])
    # in short]
    return seen

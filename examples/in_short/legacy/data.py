"""An input pipeline and its iterator."""

import tensorflow as tf


def data(images, labels):
    seen = []
    # [in short
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.map(lambda x, y: (x / 255.0, y)).batch(4).repeat(2)
    x, y = dataset.make_one_shot_iterator().get_next()
    mean = tf.reduce_mean(x)

    with tf.Session() as sess:
        try:
            while True:
                seen.append(sess.run([mean, y]))
        except tf.errors.OutOfRangeError:
            pass
    # in short]
    return seen

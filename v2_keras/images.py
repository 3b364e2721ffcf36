"""`tf.image.resize_images`, `crop_and_resize`, … → `tf.image`, with the old numbers."""

from keras import ops

__all__ = [
    "resize_half_pixel",
    "turn",
]


def resize_half_pixel(images, size, method="bilinear"):
    """Resizes images as TensorFlow 2 does: sampled at pixel centres.

    `keras.ops.image.resize` and the layer `Resizing` return uint8 for uint8, rounded.
    """
    if method != "nearest":
        images = ops.cast(images, "float32")
    return ops.image.resize(images, size, method, data_format="channels_last")


def turn(image, k=1):
    """Mirrors, rotates (by multiples of 90 degrees) and transposes images.

    The layer `RandomFlip` flips at random.
    """
    # For 180 degrees, Keras' `rot90` confuses the sides of images that are not square.
    half = k % 4 == 2
    turned = (
        ops.flip(image, axis=(-3, -2)) if half else ops.rot90(image, k, axes=(-3, -2))
    )
    return {
        "left_right": ops.flip(image, axis=-2),
        "up_down": ops.flip(image, axis=-3),
        "turned": turned,
        "swapped": ops.swapaxes(image, -3, -2),
    }

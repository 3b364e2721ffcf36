"""Images: kernels that sampled at corners → half-pixel centres, and the old numbers."""

from keras import ops

__all__ = [
    "resize_half_pixel",
    "crop_and_pad",
    "turn",
    "patches",
]


def resize_half_pixel(images, size, method="bilinear"):
    """Resizes images as TensorFlow 2 does: sampled at the centres of the pixels.

    The layer `Resizing` gives the same, but rounds bytes to bytes.
    """
    return ops.image.resize(images, size, method)


def crop_and_pad(image, fraction, height, width):
    """Takes the middle of images, by share and by size, and the top left corner.

    The layer `CenterCrop` would enlarge what is too small, and not pad it.
    """
    corner = ops.image.crop_images(image, 0, 0, None, None, height, width)
    return {
        "central": central_crop(image, fraction),
        "middle": crop_or_pad(image, height, width),
        "corner": ops.image.pad_images(corner, 1, 1, 1, 1),
    }


def central_crop(image, fraction):
    top, left = (int((side - side * fraction) / 2) for side in image.shape[-3:-1])
    return ops.image.crop_images(image, top, left, top, left)


def crop_or_pad(image, height, width):
    rows, columns = image.shape[-3:-1]
    least = min(rows, height), min(columns, width)
    top, left = (rows - least[0]) // 2, (columns - least[1]) // 2
    image = ops.image.crop_images(image, top, left, None, None, *least)
    top, left = (height - least[0]) // 2, (width - least[1]) // 2
    return ops.image.pad_images(image, top, left, None, None, height, width)


def turn(image, k=1):
    """Mirrors images, turns them by quarters, and swaps rows with columns.

    The layer `RandomFlip` does so at random.
    """
    return {
        "left_right": ops.flip(image, axis=-2),
        "up_down": ops.flip(image, axis=-3),
        "turned": ops.rot90(image, k, axes=(-3, -2)),
        "swapped": ops.swapaxes(image, -3, -2),
    }


def patches(images, size, stride=1, rate=1, padding="VALID"):
    """Lays every patch of images flat, one per place."""
    return ops.image.extract_patches(images, size, stride, rate, padding.lower())

"""`tf.image.resize_images`, `crop_and_resize`, … → `tf.image`, with the old numbers."""

import tensorflow.compat.v1 as tf

__all__ = [
    "resize",
    "resize_half_pixel",
    "resize_with_pad",
    "crop_and_pad",
    "turn",
    "crop_boxes",
    "patches",
    "recolor",
    "standardize",
    "measure",
    "best_boxes",
    "best_of_each",
    "decode",
    "preprocess",
]


def resize(images, size, method=0, align_corners=False, preserve_aspect_ratio=False):
    """Resizes images as TensorFlow 1 did: sampled at pixel corners, not centres.

    Args:
        images: [height, width, channels] tensor, or a batch of these, of any dtype.
        size: (height, width) of the result; a tensor only if no ratio is kept.
        method: number of `tf.image.ResizeMethod`: 0 bilinear, 1 nearest neighbour,
            2 bicubic, 3 area.
        align_corners: whether the centres of the corner pixels stay in their places.
        preserve_aspect_ratio: whether to keep the ratio, with `size` as the maximum.

    Returns:
        float32 tensor; of the dtype of `images` if the method is 1, or if the static
        shape of `images` already has this size.

    Raises:
        ValueError: not three or four dimensions, or an unknown method.
    """
    return tf.image.resize_images(
        images, size, method, align_corners, preserve_aspect_ratio
    )


def resize_half_pixel(images, size, method="bilinear"):
    """Resizes images as TensorFlow 2 does: sampled at pixel centres.

    Args:
        images: [batch, height, width, channels] tensor of any dtype.
        size: (height, width) of the result.
        method: "bilinear", "nearest" or "bicubic".

    Returns:
        float32 tensor; of the dtype of `images` if the method is "nearest".
    """
    kernel = {
        "bilinear": tf.image.resize_bilinear,
        "nearest": tf.image.resize_nearest_neighbor,
        "bicubic": tf.image.resize_bicubic,
    }[method]
    return kernel(images, size, half_pixel_centers=True)


def resize_with_pad(image, height, width, method=0):
    """Resizes images to fit into a frame, keeps their ratio, and pads with zeros.

    Args:
        image: [height, width, channels] tensor, or a batch of these, of any dtype.
        height: height of the frame, a number.
        width: width of the frame, a number.
        method: see `resize`.

    Returns:
        float32 tensor; of the dtype of `image` if the method is 1.

    Raises:
        ValueError: a frame without height or width.
    """
    return tf.image.resize_image_with_pad(image, height, width, method)


def crop_and_pad(image, fraction, height, width):
    """Crops the centre of images by fraction and by size, and the top left corner.

    Args:
        image: [height, width, channels] tensor, or a batch of these.
        fraction: fraction of the height and of the width that `central` keeps.
        height: height of `middle` and `corner`.
        width: width of `middle` and `corner`.

    Returns:
        dict of tensors of the dtype of `image`: `central`; `middle`, cropped or padded
        with zeros; `corner`, in a frame of zeros that is one pixel wide.

    Raises:
        ValueError: a fraction that is not in (0, 1], or a `corner` larger than `image`.
    """
    corner = tf.image.crop_to_bounding_box(image, 0, 0, height, width)
    return {
        "central": tf.image.central_crop(image, fraction),
        "middle": tf.image.resize_image_with_crop_or_pad(image, height, width),
        "corner": tf.image.pad_to_bounding_box(corner, 1, 1, height + 2, width + 2),
    }


def turn(image, k=1):
    """Mirrors, rotates (by multiples of 90 degrees) and transposes images.

    Args:
        image: [height, width, channels] tensor, or a batch of these.
        k: number of rotations by 90 degrees, counterclockwise.

    Returns:
        dict of tensors of the dtype of `image`.
    """
    return {
        "left_right": tf.image.flip_left_right(image),
        "up_down": tf.image.flip_up_down(image),
        "turned": tf.image.rot90(image, k),
        "swapped": tf.image.transpose_image(image),
    }


def crop_boxes(image, boxes, box_ind, size, method="bilinear", extrapolation_value=0.0):
    """Crops boxes from images and resizes them, with aligned corners.

    Args:
        image: [batch, height, width, channels] tensor.
        boxes: [n, 4] float32, rows [top, left, bottom, right], 0 to 1 from the centre
            of the first pixel to the centre of the last pixel; a bottom above the top
            mirrors.
        box_ind: [n] ints: the image of each box.
        size: (height, width) of the results.
        method: "bilinear" or "nearest".
        extrapolation_value: value of pixels outside of the images.

    Returns:
        float32 [n, *size, channels].

    Raises:
        tf.errors.InvalidArgumentError: `box_ind` is out of range.
    """
    return tf.image.crop_and_resize(
        image,
        boxes,
        box_ind=box_ind,
        crop_size=size,
        method=method,
        extrapolation_value=extrapolation_value,
    )


def patches(images, size, stride=1, rate=1, padding="VALID"):
    """Extracts patches of images, each flattened into the last axis.

    Args:
        images: [batch, height, width, channels] tensor.
        size: (height, width) of the patches.
        stride: step from patch to patch.
        rate: step from pixel to pixel in a patch.
        padding: "VALID" or "SAME".

    Returns:
        [batch, rows, columns, patch height * patch width * channels] tensor, the
        channels side by side.
    """
    return tf.extract_image_patches(
        images,
        ksizes=[1, size[0], size[1], 1],
        strides=[1, stride, stride, 1],
        rates=[1, rate, rate, 1],
        padding=padding,
    )


def recolor(image, brightness=0.0, contrast=1.0, saturation=1.0, hue=0.0, gamma=None):
    """Adjusts brightness, contrast, saturation, hue, gamma; converts colour spaces.

    Args:
        image: [..., height, width, 3] tensor, floats in [0, 1] or whole numbers.
        brightness: number to add, on the scale of [0, 1].
        contrast: factor of the distance to the mean of a channel.
        saturation: factor of the saturation.
        hue: number to add to the hue, in [-1, 1].
        gamma: exponent, or None.

    Returns:
        dict of `image` and `gray` in the dtype of `image`, and of `hsv`, `yuv` and
        `yiq`, in float64 if `image` has whole numbers.
    """
    # --- adjust
    image = tf.image.adjust_brightness(image, brightness)
    image = tf.image.adjust_contrast(image, contrast)
    image = tf.image.adjust_saturation(image, saturation)
    image = tf.image.adjust_hue(image, hue)
    if gamma is not None:
        image = tf.image.adjust_gamma(image, gamma)
    # --- spaces
    dtype = image.dtype if image.dtype.is_floating else tf.float64
    floats = tf.image.convert_image_dtype(image, dtype)
    return {
        "image": image,
        "gray": tf.image.rgb_to_grayscale(image),
        "hsv": tf.image.rgb_to_hsv(floats),
        "yuv": tf.image.rgb_to_yuv(floats),
        "yiq": tf.image.rgb_to_yiq(floats),
    }


def standardize(image):
    """Standardizes each image to a mean of 0 and a standard deviation of 1.

    Args:
        image: [height, width, channels] tensor, or a batch of these, of any dtype.

    Returns:
        Tensor of the dtype of `image`. For uint8, pixels below the mean become 0, and
        pixels one standard deviation or more above it become 255.
    """
    return tf.image.per_image_standardization(image)


def measure(a, b, max_val, filter_size=11):
    """Computes PSNR, SSIM; of batch `a` also total variation, gradients, edges.

    Args:
        a: [batch, height, width, channels] tensor.
        b: tensor of the same shape and dtype.
        max_val: difference between black and white.
        filter_size: width of the Gaussian filter of SSIM.

    Returns:
        dict of float32 [batch] tensors `psnr` and `ssim`; `variation` [batch] and
        `gradients` (down, right) in the dtype of `a`; Sobel `edges` [*a.shape, 2].

    Raises:
        ValueError: shapes that differ.
    """
    return {
        "psnr": tf.image.psnr(a, b, max_val),
        "ssim": tf.image.ssim(a, b, max_val, filter_size=filter_size),
        "variation": tf.image.total_variation(a),
        "gradients": tf.image.image_gradients(a),
        "edges": tf.image.sobel_edges(a),
    }


def best_boxes(images, boxes, scores, max_boxes, iou_threshold=0.5):
    """Applies non-maximum suppression, and draws the remaining boxes into images.

    Args:
        images: [batch, height, width, channels] float32 tensor.
        boxes: [n, 4] float32 tensor of [top, left, bottom, right] in [0, 1].
        scores: [n] float32 tensor.
        max_boxes: maximum number of boxes to keep.
        iou_threshold: maximum intersection over union of two kept boxes.

    Returns:
        (indices of the kept boxes in order of score, images with all kept boxes).
    """
    # --- select
    kept = tf.image.non_max_suppression(boxes, scores, max_boxes, iou_threshold)
    # --- draw
    drawn = tf.gather(boxes, kept)[tf.newaxis]
    drawn = tf.tile(drawn, [tf.shape(images)[0], 1, 1])
    return kept, tf.image.draw_bounding_boxes(images, drawn)


def best_of_each(boxes, scores, max_boxes, iou_threshold=0.5, score_threshold=0.1):
    """Applies non-maximum suppression to each class of each image in a batch.

    Args:
        boxes: [batch, n, 4] float32 tensor of [top, left, bottom, right] in [0, 1].
        scores: [batch, n, classes] float32 tensor.
        max_boxes: maximum number of boxes of an image, and of each of its classes.
        iou_threshold: maximum intersection over union of two kept boxes of one class.
        score_threshold: minimum score of a kept box.

    Returns:
        ([batch, max_boxes, 4] boxes, their scores, their classes, [batch] number of
        kept boxes; the rest is padded with 0).
    """
    boxes = boxes[:, :, tf.newaxis]  # the same for all classes
    return tf.image.combined_non_max_suppression(
        boxes, scores, max_boxes, max_boxes, iou_threshold, score_threshold
    )


def decode(contents, channels=3, dct_method=""):
    """Decodes a JPEG or PNG file, and encodes the pixels as PNG.

    Args:
        contents: string tensor, the bytes of the file.
        channels: 1, 3, or 0 for the number in the file.
        dct_method: for JPEG: "INTEGER_FAST", "INTEGER_ACCURATE", or "" for
            "INTEGER_FAST".

    Returns:
        (uint8 [height, width, channels], bytes of the PNG).

    Raises:
        tf.errors.InvalidArgumentError: the bytes are neither JPEG nor PNG.
    """
    image = tf.cond(
        tf.image.is_jpeg(contents),
        lambda: tf.image.decode_jpeg(contents, channels, dct_method=dct_method),
        lambda: tf.image.decode_png(contents, channels),
    )
    return image, tf.image.encode_png(image)


def preprocess(contents, size, is_training, seed=1, draws=1):
    """Preprocesses a photograph as Inception, with random distortions for training.

    Args:
        contents: bytes of a JPEG or PNG file.
        size: height and width of the result.
        is_training: whether to crop, mirror and recolor at random, or crop the centre.
        seed: seed of the first random op; the next ops have seed + 1, seed + 2, ….
        draws: number of results.

    Returns:
        List of float32 [size, size, 3] arrays in [-1, 1].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- decode
        tf.set_random_seed(7)
        encoded = tf.placeholder(tf.string, [])
        image = tf.image.decode_jpeg(encoded, channels=3)
        image = tf.image.convert_image_dtype(image, tf.float32)
        if is_training:
            # --- cut
            begin, extent, _ = tf.image.sample_distorted_bounding_box(
                tf.shape(image),
                [[[0.0, 0.0, 1.0, 1.0]]],
                seed=seed,
                min_object_covered=0.1,
                aspect_ratio_range=[0.75, 1.33],
                area_range=[0.05, 1.0],
                max_attempts=100,
                use_image_if_no_bounding_boxes=True,
            )
            image = tf.slice(image, begin, extent)
            image.set_shape([None, None, 3])
            image = tf.image.resize_images(image, [size, size])
            # --- distort
            image = tf.image.random_flip_left_right(image, seed + 1)
            image = tf.image.random_brightness(image, 32 / 255, seed + 2)
            image = tf.image.random_saturation(image, 0.5, 1.5, seed + 3)
            image = tf.image.random_hue(image, 0.2, seed + 4)
            image = tf.image.random_contrast(image, 0.5, 1.5, seed + 5)
            image = tf.clip_by_value(image, 0.0, 1.0)
        else:
            # --- middle
            image = tf.image.central_crop(image, 0.875)
            image = tf.expand_dims(image, 0)
            image = tf.image.resize_bilinear(image, [size, size], align_corners=False)
            image = tf.squeeze(image, [0])
        # --- scale
        image = tf.subtract(image, 0.5)
        image = tf.multiply(image, 2.0)
        # --- run
        return [sess.run(image, {encoded: contents}) for _ in range(draws)]

"""`tf.image.resize_images`, `crop_and_resize`, … → `tf.image`, with the old numbers."""

import tensorflow as tf

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
    """Resizes images as TensorFlow 1 did: sampled at pixel corners, not centres."""
    images = tf.convert_to_tensor(images)
    if images.shape.rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    if preserve_aspect_ratio:
        old = tf.cast(tf.shape(images)[-3:-1], tf.float32)
        scale = tf.reduce_min(tf.cast(size, tf.float32) / old)
        size = tf.cast(tf.round(scale * old), tf.int32)
    else:
        known = tf.get_static_value(tf.convert_to_tensor(size))
        if known is not None and images.shape[-3:-1].as_list() == known.tolist():
            return images
    return _resize(images, size, method, align_corners)


def _resize(images, size, method, align_corners=False):
    """Resizes with the ops of TensorFlow 1, which still exist in TensorFlow 2.

    Their `half_pixel_centers` is False by default; `tf.image.resize` sets it to True.
    """
    # tf.image.resize would sample at pixel centres, and cannot align corners.
    kernels = [
        tf.raw_ops.ResizeBilinear,
        tf.raw_ops.ResizeNearestNeighbor,
        tf.raw_ops.ResizeBicubic,
        tf.raw_ops.ResizeArea,
    ]
    if method not in range(len(kernels)):
        raise ValueError("Resize method is not implemented.")
    kernel = kernels[method]
    single = images.shape.rank == 3
    batch = images[tf.newaxis] if single else images
    batch = kernel(images=batch, size=size, align_corners=align_corners)
    return batch[0] if single else batch


def resize_half_pixel(images, size, method="bilinear"):
    """Resizes images as TensorFlow 2 does: sampled at pixel centres."""
    return tf.image.resize(images, size, method)


def resize_with_pad(image, height, width, method=0):
    """Resizes images to fit into a frame, keeps their ratio, and pads with zeros."""
    if min(height, width) <= 0:
        raise ValueError("target_height and target_width must be > 0.")
    image = tf.convert_to_tensor(image)
    frame = tf.constant([height, width], tf.float64)
    # In float64, as in 1.15: in float32 the last row or column may be missing.
    old = tf.cast(tf.shape(image)[-3:-1], tf.float64)
    new = old / tf.reduce_max(old / frame)
    top, left = tf.unstack(tf.cast((frame - new) / 2, tf.int32))
    image = _resize(image, tf.cast(new, tf.int32), method)
    return tf.image.pad_to_bounding_box(image, top, left, height, width)


def crop_and_pad(image, fraction, height, width):
    """Crops the centre of images by fraction and by size, and the top left corner."""
    corner = tf.image.crop_to_bounding_box(image, 0, 0, height, width)
    return {
        "central": tf.image.central_crop(image, fraction),
        "middle": tf.image.resize_with_crop_or_pad(image, height, width),
        "corner": tf.image.pad_to_bounding_box(corner, 1, 1, height + 2, width + 2),
    }


def turn(image, k=1):
    """Mirrors, rotates (by multiples of 90 degrees) and transposes images."""
    return {
        "left_right": tf.image.flip_left_right(image),
        "up_down": tf.image.flip_up_down(image),
        "turned": tf.image.rot90(image, k),
        "swapped": tf.image.transpose(image),
    }


def crop_boxes(image, boxes, box_ind, size, method="bilinear", extrapolation_value=0.0):
    """Crops boxes from images and resizes them, with aligned corners."""
    return tf.image.crop_and_resize(
        image,
        boxes,
        box_indices=box_ind,
        crop_size=size,
        method=method,
        extrapolation_value=extrapolation_value,
    )


def patches(images, size, stride=1, rate=1, padding="VALID"):
    """Extracts patches of images, each flattened into the last axis."""
    return tf.image.extract_patches(
        images,
        sizes=[1, size[0], size[1], 1],
        strides=[1, stride, stride, 1],
        rates=[1, rate, rate, 1],
        padding=padding,
    )


def recolor(image, brightness=0.0, contrast=1.0, saturation=1.0, hue=0.0, gamma=None):
    """Adjusts brightness, contrast, saturation, hue, gamma; converts colour spaces."""
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
    """Standardizes each image to a mean of 0 and a standard deviation of 1."""
    image = tf.convert_to_tensor(image)
    dtype = image.dtype
    if dtype not in (tf.float16, tf.float32):
        image = tf.image.convert_image_dtype(image, tf.float32)
    axes = [-3, -2, -1]
    pixels = tf.cast(tf.reduce_prod(tf.shape(image)[-3:]), image.dtype)
    deviation = tf.math.reduce_std(image, axes, keepdims=True)
    deviation = tf.maximum(deviation, tf.math.rsqrt(pixels))  # all pixels may be equal
    image = (image - tf.reduce_mean(image, axes, keepdims=True)) / deviation
    return tf.image.convert_image_dtype(image, dtype, saturate=True)


def measure(a, b, max_val, filter_size=11):
    """Computes PSNR, SSIM; of batch `a` also total variation, gradients, edges."""
    return {
        "psnr": tf.image.psnr(a, b, max_val),
        "ssim": tf.image.ssim(a, b, max_val, filter_size=filter_size),
        "variation": tf.image.total_variation(a),
        "gradients": tf.image.image_gradients(a),
        "edges": tf.image.sobel_edges(a),
    }


def best_boxes(images, boxes, scores, max_boxes, iou_threshold=0.5):
    """Applies non-maximum suppression, and draws the remaining boxes into images."""
    # --- select
    kept = tf.image.non_max_suppression(boxes, scores, max_boxes, iou_threshold)
    # --- draw
    drawn = tf.gather(boxes, kept)[tf.newaxis]
    drawn = tf.tile(drawn, [tf.shape(images)[0], 1, 1])
    return kept, tf.image.draw_bounding_boxes(images, drawn, colors=None)


def best_of_each(boxes, scores, max_boxes, iou_threshold=0.5, score_threshold=0.1):
    """Applies non-maximum suppression to each class of each image in a batch."""
    boxes = boxes[:, :, tf.newaxis]  # the same for all classes
    return tf.image.combined_non_max_suppression(
        boxes, scores, max_boxes, max_boxes, iou_threshold, score_threshold
    )


def decode(contents, channels=3, dct_method=""):
    """Decodes a JPEG or PNG file, and encodes the pixels as PNG."""
    image = tf.cond(
        tf.io.is_jpeg(contents),
        lambda: tf.io.decode_jpeg(contents, channels, dct_method=dct_method),
        lambda: tf.io.decode_png(contents, channels),
    )
    return image, tf.io.encode_png(image)


def preprocess(contents, size, is_training, seed=1, draws=1):
    """Preprocesses a photograph as Inception, with random distortions for training."""
    tf.random.set_seed(7)

    @tf.function
    def prepare(encoded):
        # --- decode
        image = tf.io.decode_jpeg(encoded, channels=3)
        image = tf.image.convert_image_dtype(image, tf.float32)
        if is_training:
            # --- cut
            # tf.image.sample_distorted_bounding_box would draw from (7, seed).
            begin, extent, _ = tf.raw_ops.SampleDistortedBoundingBoxV2(
                image_size=tf.shape(image),
                bounding_boxes=[[[0.0, 0.0, 1.0, 1.0]]],
                seed=seed,
                seed2=0,
                min_object_covered=0.1,
                aspect_ratio_range=[0.75, 1.33],
                area_range=[0.05, 1.0],
                max_attempts=100,
                use_image_if_no_bounding_boxes=True,
            )
            image = tf.slice(image, begin, extent)
            image = tf.ensure_shape(image, [None, None, 3])
            image = resize(image, [size, size])
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
            image = _resize(image, [size, size], method=0)
        # --- scale
        return (image - 0.5) * 2.0

    # --- run
    encoded = tf.constant(contents)
    return [prepare(encoded).numpy() for _ in range(draws)]

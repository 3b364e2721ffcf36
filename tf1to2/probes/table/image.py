"""tf.image: resizing, cropping, colours, codecs, boxes."""

from tf1to2.probes import kept, probe

X = "x = uniform(2, 6, 5, 3)"
BYTES = "x = integers(2, 6, 5, 3, high=256, dtype='uint8')"
ONE = "x = uniform(6, 5, 3)"
ONE_OF_BYTES = "x = integers(6, 5, 3, high=256, dtype='uint8')"
BOXES = "boxes = f32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 0.6, 1, 1.6], [0, 2, 1, 3]]); scores = f32([0.9, 0.75, 0.6, 0.95])"
ALIGN = "align_corners=False, half_pixel_centers=False"
RESIZE = "there is no kernel of this form for float64; float32 is rounded elsewhere"

PROBES = [
    # --- Resizing: TensorFlow 2 puts centres at half pixels.
    *(
        probe(
            f"tf.image.resize_{name}",
            f"tf.image.resize_{name}(x, [9, 8])",
            f"tf.raw_ops.Resize{op}(images=x, size=[9, 8])",
            X,
            exact=True,
        )
        for name, op in (
            ("bilinear", "Bilinear"),
            ("bicubic", "Bicubic"),
            ("area", "Area"),
            ("nearest_neighbor", "NearestNeighbor"),
        )
    ),
    *(
        probe(
            f"tf.image.resize_{name}",
            f"tf.image.resize_{name}(x, [9, 8], align_corners=True)",
            f"tf.raw_ops.Resize{op}(images=x, size=[9, 8], align_corners=True)",
            X,
            exact=True,
        )
        for name, op in (
            ("bilinear", "Bilinear"),
            ("bicubic", "Bicubic"),
            ("area", "Area"),
            ("nearest_neighbor", "NearestNeighbor"),
        )
    ),
    probe(
        "tf.image.resize_area",
        "tf.image.resize_area(x, [9, 8])",
        "tf.image.resize(x, [9, 8], 'area')",
        X,
        exact=True,
    ),
    *(
        probe(
            f"tf.image.resize_{name}",
            f"tf.image.resize_{name}(x, [9, 8], half_pixel_centers=True)",
            f"tf.image.resize(x, [9, 8], '{method}')",
            X,
            exact=True,
        )
        for name, method in (("bilinear", "bilinear"), ("nearest_neighbor", "nearest"))
    ),
    probe(
        "tf.image.resize_images",
        "tf.image.resize_images(x, [9, 8])",
        "tf.raw_ops.ResizeBilinear(images=x, size=[9, 8])",
        X,
        BYTES,
        exact=True,
    ),
    probe(
        "tf.image.resize_images",
        "tf.image.resize_images(x, [9, 8], tf.image.ResizeMethod.AREA)",
        "tf.image.resize(x, [9, 8], tf.image.ResizeMethod.AREA)",
        X,
        exact=True,
    ),
    probe(
        "tf.image.resize_images",
        "tf.image.resize_images(x, [9, 8], tf.image.ResizeMethod.NEAREST_NEIGHBOR)",
        "tf.raw_ops.ResizeNearestNeighbor(images=x, size=[9, 8])",
        X,
        BYTES,
        exact=True,
    ),
    probe(
        "tf.image.resize",
        "tf.image.resize(x, [9, 8])",
        "tf.raw_ops.ResizeBilinear(images=x, size=[9, 8])",
        X,
        exact=True,
    ),
    kept(
        "tf.image.resize",
        "tf.image.resize(x, [9, 8], tf.image.ResizeMethod.AREA)",
        X,
        exact=True,
    ),
    kept(
        "tf.image.resize_with_crop_or_pad",
        "tf.image.resize_with_crop_or_pad(x, 4, 9)",
        X,
        BYTES,
    ),
    probe(
        "tf.image.resize_image_with_crop_or_pad",
        "tf.image.resize_image_with_crop_or_pad(x, 4, 9)",
        "tf.image.resize_with_crop_or_pad(x, 4, 9)",
        X,
        BYTES,
    ),
    probe(
        "tf.image.resize_image_with_pad",
        "tf.image.resize_image_with_pad(x, 8, 10)",
        "tf.image.pad_to_bounding_box(tf.raw_ops.ResizeBilinear(images=x, size=[8, 6]), 0, 1, 8, 10)",
        X,
        exact=True,
    ),
    # --- Cutting and turning.
    kept(
        "tf.image.crop_to_bounding_box",
        "tf.image.crop_to_bounding_box(x, 1, 2, 3, 2)",
        X,
    ),
    kept(
        "tf.image.pad_to_bounding_box", "tf.image.pad_to_bounding_box(x, 1, 2, 9, 8)", X
    ),
    kept(
        "tf.image.central_crop",
        "tf.image.central_crop(x, 0.5)",
        X,
        "x = uniform(9, 7, 3)",
    ),
    *(
        kept(f"tf.image.{name}", f"tf.image.{name}(x)", X)
        for name in "flip_left_right flip_up_down transpose rot90".split()
    ),
    probe(
        "tf.image.transpose_image",
        "tf.image.transpose_image(x)",
        "tf.image.transpose(x)",
        X,
    ),
    kept("tf.image.rot90", "tf.image.rot90(x, k=3)", ONE),
    kept(
        "tf.image.extract_patches",
        "tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'VALID')",
        X,
    ),
    probe(
        "tf.image.extract_image_patches",
        "tf.image.extract_image_patches(x, ksizes=[1, 2, 2, 1], strides=[1, 1, 2, 1], rates=[1, 2, 1, 1], padding='SAME')",
        "tf.image.extract_patches(x, sizes=[1, 2, 2, 1], strides=[1, 1, 2, 1], rates=[1, 2, 1, 1], padding='SAME')",
        X,
    ),
    kept(
        "tf.image.crop_and_resize",
        "tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9]], [1], [3, 4])",
        X,
        exact=True,
    ),
    probe(
        "tf.image.crop_and_resize",
        "tf.image.crop_and_resize(x, boxes=[[0.1, 0.2, 0.8, 0.9]], box_ind=[1], crop_size=[3, 4])",
        "tf.image.crop_and_resize(x, boxes=[[0.1, 0.2, 0.8, 0.9]], box_indices=[1], crop_size=[3, 4])",
        X,
        exact=True,
    ),
    kept(
        "tf.image.extract_glimpse",
        "tf.image.extract_glimpse(x, [2, 4], [[0.2, -0.3], [0.1, 0.4]])",
        "x = uniform(2, 7, 6, 3)",
        exact=True,
    ),
    # --- Colours.
    *(
        kept(f"tf.image.{name}", f"tf.image.{name}(x)", X)
        for name in "rgb_to_hsv hsv_to_rgb rgb_to_yiq yiq_to_rgb rgb_to_yuv yuv_to_rgb image_gradients sobel_edges total_variation".split()
    ),
    kept("tf.image.rgb_to_grayscale", "tf.image.rgb_to_grayscale(x)", X, BYTES),
    kept("tf.image.grayscale_to_rgb", "tf.image.grayscale_to_rgb(x[..., :1])", X),
    kept("tf.image.adjust_brightness", "tf.image.adjust_brightness(x, 0.3)", X, BYTES),
    kept("tf.image.adjust_contrast", "tf.image.adjust_contrast(x, 1.7)", X, exact=True),
    kept("tf.image.adjust_contrast", "tf.image.adjust_contrast(x, 1.7)", BYTES),
    kept(
        "tf.image.adjust_gamma",
        "tf.image.adjust_gamma(x, 0.7, 1.2)",
        X,
        why="it casts to float32, where pow is another polynomial",
        within=1.0e-7,
    ),
    kept("tf.image.adjust_hue", "tf.image.adjust_hue(x, 0.2)", BYTES),
    kept("tf.image.adjust_saturation", "tf.image.adjust_saturation(x, 1.7)", BYTES),
    kept(
        "tf.image.per_image_standardization", "tf.image.per_image_standardization(x)", X
    ),
    probe(
        "tf.image.per_image_standardization",
        "tf.image.per_image_standardization(x)",
        "tf.image.convert_image_dtype(tf.image.per_image_standardization(tf.image.convert_image_dtype(x, tf.float32)), tf.uint8, saturate=True)",
        ONE_OF_BYTES,
    ),
    kept(
        "tf.image.convert_image_dtype",
        "tf.image.convert_image_dtype(x, tf.float32)",
        BYTES,
        exact=True,
    ),
    kept(
        "tf.image.convert_image_dtype",
        "tf.image.convert_image_dtype(x, tf.uint8, saturate=True)",
        X,
        exact=True,
    ),
    kept(
        "tf.image.psnr",
        "tf.image.psnr(x, x * 0.9, 1.0)",
        X,
        why="it casts to float32",
        within=7.6e-8,
    ),
    kept(
        "tf.image.ssim",
        "tf.image.ssim(x, x * 0.9, 1.0)",
        "x = uniform(1, 16, 16, 3)",
        exact=True,
    ),
    # --- Random ones, with the seed of an op.
    *(
        kept(f"tf.image.{name}", f"tf.image.{name}(x, {args}seed=7)", ONE)
        for name, args in (
            ("random_flip_left_right", ""),
            ("random_flip_up_down", ""),
            ("random_brightness", "0.3, "),
            ("random_saturation", "0.5, 1.5, "),
            ("random_hue", "0.2, "),
        )
    ),
    kept(
        "tf.image.random_contrast",
        "tf.image.random_contrast(x, 0.5, 1.5, seed=7)",
        ONE_OF_BYTES,
    ),
    kept(
        "tf.image.random_jpeg_quality",
        "tf.image.random_jpeg_quality(x, 60, 90, seed=7)",
        ONE_OF_BYTES,
    ),
    probe(
        "tf.random_crop",
        "tf.random_crop(x, [3, 2, 3], seed=7)",
        "tf.image.random_crop(x, [3, 2, 3], seed=7)",
        ONE,
    ),
    kept(
        "tf.image.adjust_jpeg_quality",
        "tf.image.adjust_jpeg_quality(x, 75)",
        ONE_OF_BYTES,
    ),
    # --- Codecs.
    kept("tf.image.encode_jpeg", "tf.image.encode_jpeg(x)", ONE_OF_BYTES),
    *(
        kept(
            f"tf.image.{name}",
            f"tf.image.{name}({args}tf.image.encode_jpeg(x))",
            ONE_OF_BYTES,
        )
        for name, args in (
            ("decode_jpeg", ""),
            ("decode_image", ""),
            ("extract_jpeg_shape", ""),
            ("is_jpeg", ""),
        )
    ),
    kept(
        "tf.image.decode_and_crop_jpeg",
        "tf.image.decode_and_crop_jpeg(tf.image.encode_jpeg(x), [1, 1, 3, 2])",
        ONE_OF_BYTES,
    ),
    probe(
        "tf.decode_raw",
        "tf.decode_raw(['abcd', 'efgh'], tf.int16)",
        "tf.io.decode_raw(['abcd', 'efgh'], tf.int16)",
    ),
    kept(
        "tf.image.decode_png",
        "tf.image.decode_png(tf.image.encode_png(x))",
        ONE_OF_BYTES,
    ),
    kept(
        "tf.image.decode_gif",
        r"tf.image.decode_gif(b'GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x07\x09\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;')",
    ),
    kept(
        "tf.image.decode_bmp",
        r"tf.image.decode_bmp(b'BM:\0\0\0\0\0\0\x006\0\0\0(\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\x09\xff\0')",
    ),
    # --- Boxes.
    kept(
        "tf.image.non_max_suppression",
        "tf.image.non_max_suppression(boxes, scores, 3, 0.5)",
        BOXES,
        exact=True,
    ),
    kept(
        "tf.image.non_max_suppression_with_scores",
        "tf.image.non_max_suppression_with_scores(boxes, scores, 3, 0.5)",
        BOXES,
        exact=True,
    ),
    kept(
        "tf.image.non_max_suppression_padded",
        "tf.image.non_max_suppression_padded(boxes, scores, 3, 0.5, pad_to_max_output_size=True)",
        BOXES,
        exact=True,
        why="a plain tuple now, without .selected_indices and .valid_outputs",
    ),
    probe(
        "tf.image.non_max_suppression_padded",
        "tuple(tf.image.non_max_suppression_padded(boxes, scores, 3, 0.5, pad_to_max_output_size=True))",
        "tf.image.non_max_suppression_padded(boxes, scores, 3, 0.5, pad_to_max_output_size=True)",
        BOXES,
        exact=True,
    ),
    kept(
        "tf.image.non_max_suppression_overlaps",
        "tf.image.non_max_suppression_overlaps(scores * 0.9 * scores[:, None], scores, 3, 0.5)",
        BOXES,
        exact=True,
    ),
    kept(
        "tf.image.combined_non_max_suppression",
        "tf.image.combined_non_max_suppression(boxes[None, :, None], scores[None, :, None], 3, 3)",
        BOXES,
        exact=True,
    ),
    probe(
        "tf.image.draw_bounding_boxes",
        "tf.image.draw_bounding_boxes(x, [[[0.1, 0.2, 0.8, 0.9]]] * 2)",
        "tf.image.draw_bounding_boxes(x, [[[0.1, 0.2, 0.8, 0.9]]] * 2, None)",
        X,
        exact=True,
    ),
    probe(
        "tf.image.sample_distorted_bounding_box",
        "tf.image.sample_distorted_bounding_box([9, 8, 3], [[[0.1, 0.2, 0.8, 0.9]]], seed=5, seed2=7)",
        "tf.raw_ops.SampleDistortedBoundingBoxV2(image_size=[9, 8, 3], bounding_boxes=[[[0.1, 0.2, 0.8, 0.9]]], min_object_covered=0.1, seed=5, seed2=7)",
        exact=True,
    ),
]

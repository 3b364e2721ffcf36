"""tf.strings, and the string_… names that it had before."""

from tf1to2.probes import kept, probe

X = "x = np.array([b'Big dog', b'', b'caf\\xc3\\xa9', b' a,b '])"
WORDS = "x = np.array([b'Big dog', b'cat', b'caf\\xc3\\xa9', b' a,b '])"
NUMBERS = "x = np.array([b'1.5', b'-2', b'1e3'])"

PROBES = [
    *(
        kept(f"tf.strings.{name}", f"tf.strings.{name}(x{args})", X)
        for name, args in (
            ("length", ""),
            ("upper", ""),
            ("lower", ""),
            ("strip", ""),
            ("bytes_split", ""),
            ("regex_full_match", ", '[a-z ]*'"),
            ("regex_replace", ", '[a-c]', 'x'"),
            ("to_hash_bucket", ", 100"),
            ("to_hash_bucket_fast", ", 100"),
            ("to_hash_bucket_strong", ", 100, [1, 2]"),
            ("length", ", unit='UTF8_CHAR'"),
            ("unicode_decode", ", 'UTF-8'"),
            ("unicode_split", ", 'UTF-8'"),
            ("unicode_transcode", ", 'UTF-8', 'UTF-16-BE'"),
            ("ngrams", ", 2"),
        )
    ),
    kept("tf.strings.unicode_script", "tf.strings.unicode_script([97, 233, 8364])"),
    kept(
        "tf.strings.unicode_encode",
        "tf.strings.unicode_encode([[97, 233], [8364, 98]], 'UTF-8')",
    ),
    kept("tf.strings.join", "tf.strings.join([x, x], '-')", X),
    kept(
        "tf.strings.format",
        "tf.strings.format('a {} b', [x])",
        "x = np.array([b'Big dog', b''])",
        "x = integers(3)",
    ),
    kept("tf.strings.reduce_join", "tf.strings.reduce_join([x, x], 0)", X),
    probe(
        "tf.strings.reduce_join",
        "tf.strings.reduce_join([x, x], reduction_indices=[1], keep_dims=True)",
        "tf.strings.reduce_join([x, x], axis=[1], keepdims=True)",
        X,
    ),
    probe(
        "tf.reduce_join",
        "tf.reduce_join([x, x], 0)",
        "tf.strings.reduce_join([x, x], 0)",
        X,
    ),
    kept(
        "tf.strings.as_string", "tf.strings.as_string(x, precision=3)", "x = normal(4)"
    ),
    kept("tf.as_string", "tf.as_string(x)", "x = integers(4)"),
    kept("tf.strings.to_number", "tf.strings.to_number(x)", NUMBERS),
    probe(
        "tf.strings.to_number",
        "tf.strings.to_number(string_tensor=x)",
        "tf.strings.to_number(input=x)",
        NUMBERS,
    ),
    probe(
        "tf.string_to_number",
        "tf.string_to_number(x, tf.float64)",
        "tf.strings.to_number(x, tf.float64)",
        NUMBERS,
    ),
    probe(
        "tf.string_join",
        "tf.string_join([x, x], '-')",
        "tf.strings.join([x, x], '-')",
        X,
    ),
    probe("tf.string_strip", "tf.string_strip(x)", "tf.strings.strip(x)", X),
    probe("tf.substr", "tf.substr(x, 1, 2)", "tf.strings.substr(x, 1, 2)", WORDS),
    kept("tf.strings.substr", "tf.strings.substr(x, 1, 2)", WORDS),
    probe(
        "tf.regex_replace",
        "tf.regex_replace(x, '[a-c]', 'x')",
        "tf.strings.regex_replace(x, '[a-c]', 'x')",
        X,
    ),
    probe(
        "tf.string_to_hash_bucket",
        "tf.string_to_hash_bucket(x, 100)",
        "tf.strings.to_hash_bucket(x, 100)",
        X,
    ),
    probe(
        "tf.strings.to_hash_bucket",
        "tf.strings.to_hash_bucket(string_tensor=x, num_buckets=100)",
        "tf.strings.to_hash_bucket(input=x, num_buckets=100)",
        X,
    ),
    probe(
        "tf.string_to_hash_bucket_fast",
        "tf.string_to_hash_bucket_fast(x, 100)",
        "tf.strings.to_hash_bucket_fast(x, 100)",
        X,
    ),
    probe(
        "tf.string_to_hash_bucket_strong",
        "tf.string_to_hash_bucket_strong(x, 100, [1, 2])",
        "tf.strings.to_hash_bucket_strong(x, 100, [1, 2])",
        X,
    ),
    probe(
        "tf.string_split", "tf.string_split(x)", "tf.strings.split(x).to_sparse()", X
    ),
    probe(
        "tf.string_split",
        "tf.string_split(x, ',')",
        "tf.SparseTensor(*tf.raw_ops.StringSplit(input=x, delimiter=',', skip_empty=True))",
        X,
    ),
    probe(
        "tf.strings.split", "tf.strings.split(x)", "tf.strings.split(x).to_sparse()", X
    ),
    probe(
        "tf.strings.split",
        "tf.strings.split(x, sep=',')",
        "tf.strings.split(x, sep=',').to_sparse()",
        X,
    ),
    probe(
        "tf.strings.split",
        "tf.strings.split(x, result_type='RaggedTensor')",
        "tf.strings.split(x)",
        X,
    ),
    kept(
        "tf.strings.unsorted_segment_join",
        "tf.strings.unsorted_segment_join(x, [1, 0, 1, 1], 2, '-')",
        X,
    ),
    probe("tf.encode_base64", "tf.encode_base64(x)", "tf.io.encode_base64(x)", X),
    probe(
        "tf.decode_base64",
        "tf.decode_base64(tf.encode_base64(x))",
        "tf.io.decode_base64(tf.io.encode_base64(x))",
        X,
    ),
]

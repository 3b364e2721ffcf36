"""Embeddings: GloVe or word2vec loaded, frozen rows, padding, tied weights."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "load_vectors",
    "train_part",
    "mask_gradients",
    "mask_padding",
    "mean_of_words",
    "factorize",
    "tie_output",
    "nearest_words",
    "solve_analogies",
    "look_up_parts",
    "normalize_rows",
]

OPTIMIZERS = {
    "GradientDescent": tf.train.GradientDescentOptimizer,
    "Adagrad": tf.train.AdagradOptimizer,
}


def check_batches(*arrays):
    """Raises a ValueError unless all arrays have the same, positive steps and rows."""
    shapes = {array.shape[:2] for array in arrays}
    if len(shapes) != 1 or 0 in shapes.pop():
        raise ValueError(
            "arrays must have the same numbers of steps and rows, at least 1"
        )


def steps_over(sess, loss, step, arrays):
    """Runs a step per row of {placeholder: array}; returns the loss before each."""
    rows = zip(*arrays.values())
    return [sess.run([loss, step], dict(zip(arrays, row)))[0] for row in rows]


def values_of(sess):
    """Returns {name: value} of all trainable variables."""
    return sess.run({v.op.name: v for v in tf.trainable_variables()})


def load_vectors(words, vectors, drawn, ids, targets, head, rate=0.125):
    """Loads pretrained vectors into a frozen table, and trains a head on top.

    Args:
        words: list of the words, row by row.
        vectors: {word: [depth] float array}, the content of the file.
        drawn: [words, depth] array of the vectors' dtype, initial rows for words that
            are not in the file.
        ids: [steps, batch] int array of rows.
        targets: [steps, batch, outputs] array of the vectors' dtype.
        head: [depth, outputs] array, the weights to train.
        rate: learning rate.

    Returns:
        dict with the number of words `found`, the `losses` before each step, and the
        final `table` and `head`.

    Raises:
        ValueError: a vector or the drawn rows have another shape; different numbers of
            steps or rows, or no rows.
    """
    check_batches(ids, targets)
    matrix, found = rows_of(words, vectors, drawn)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- load
        table = tf.Variable(
            tf.constant(0.0, matrix.dtype, matrix.shape), trainable=False
        )
        embedding_placeholder = tf.placeholder(matrix.dtype, matrix.shape)
        embedding_init = table.assign(embedding_placeholder)
        # --- step
        head = tf.Variable(head)
        rows = tf.placeholder(ids.dtype, [None])
        target = tf.placeholder(targets.dtype, [None, targets.shape[2]])
        outputs = tf.matmul(tf.nn.embedding_lookup(table, rows), head)
        loss = tf.reduce_mean(tf.square(outputs - target))
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(embedding_init, {embedding_placeholder: matrix})
        losses = steps_over(sess, loss, step, {rows: ids, target: targets})
        table, head = sess.run([table, head])
        return {"found": found, "losses": losses, "table": table, "head": head}


def rows_of(words, vectors, drawn):
    """Returns (table with the vectors of known words, number of known words)."""
    matrix, found = np.array(drawn), 0
    if len(matrix) != len(words):
        raise ValueError("drawn has %d rows for %d words" % (len(matrix), len(words)))
    for row, word in enumerate(words):
        if word in vectors:
            if vectors[word].shape != matrix[row].shape:
                raise ValueError(
                    "the vector of %r has shape %s, unlike a row of drawn"
                    % (word, vectors[word].shape)
                )
            matrix[row] = vectors[word]
            found += 1
    return matrix, found


def train_part(known, fresh, ids, targets, rate=0.0625):
    """Trains the last rows of a table with Adam; the first rows are frozen.

    Args:
        known: [known, depth] float array, the frozen rows.
        fresh: [fresh, depth] array of the dtype of `known`, the rows after the frozen
            rows.
        ids: [steps, batch] int array of rows.
        targets: [steps, batch, depth] array of the dtype of `known`.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, and the final `table`.

    Raises:
        ValueError: different numbers of steps or rows, or no rows.
    """
    check_batches(ids, targets)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        first = tf.get_variable("known", initializer=known, trainable=False)
        table = tf.concat([first, tf.get_variable("fresh", initializer=fresh)], 0)
        rows = tf.placeholder(ids.dtype, [None])
        target = tf.placeholder(targets.dtype, [None, targets.shape[2]])
        # --- step
        looked_up = tf.nn.embedding_lookup(table, rows)
        loss = tf.reduce_mean(tf.square(looked_up - target))
        step = tf.train.AdamOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = steps_over(sess, loss, step, {rows: ids, target: targets})
        return {"losses": losses, "table": sess.run(table)}


def mask_gradients(table, frozen, ids, targets, free_steps, rate=0.0625):
    """Trains by Adam, then sets some rows' gradients to 0; the rows still move.

    Args:
        table: [rows, depth] float array.
        frozen: [rows] bool array: the rows whose gradients become 0.
        ids: [steps, batch] int array of rows.
        targets: [steps, batch, depth] array of the dtype of the table.
        free_steps: number of first steps, in which all rows are trained.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, and the `tables` after each step,
        [steps, rows, depth].

    Raises:
        ValueError: not one bool for each row; different numbers of steps or rows, or no
            rows.
    """
    check_batches(ids, targets)
    if frozen.shape != table.shape[:1]:
        raise ValueError(
            "frozen has shape %s: pass one bool for each of %d rows"
            % (frozen.shape, len(table))
        )
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        variable = tf.get_variable("table", initializer=table)
        rows = tf.placeholder(ids.dtype, [None])
        target = tf.placeholder(targets.dtype, [None, targets.shape[2]])
        mask = tf.placeholder(table.dtype, [len(table), 1])
        # --- step
        looked_up = tf.nn.embedding_lookup(variable, rows)
        loss = tf.reduce_mean(tf.square(looked_up - target))
        (gradient,) = tf.gradients(loss, [variable])
        masked = tf.convert_to_tensor(gradient) * mask
        step = tf.train.AdamOptimizer(rate).apply_gradients([(masked, variable)])
        # --- run
        sess.run(tf.global_variables_initializer())
        losses, tables = [], []
        for i in range(len(ids)):
            kept = (~frozen if i >= free_steps else np.ones_like(frozen))[:, None]
            feed = {rows: ids[i], target: targets[i], mask: kept}
            losses.append(sess.run([loss, step], feed)[0])
            tables.append(sess.run(variable))
        return {"losses": losses, "tables": np.array(tables)}


def mask_padding(table, ids):
    """Looks up embeddings; row 0, the padding, is zeros and gets no gradient.

    Args:
        table: [rows, depth] float tensor, whose first row is ignored.
        ids: int tensor of any shape.

    Returns:
        [..., depth] tensor.
    """
    zeros = tf.zeros_like(table[:1])
    return tf.nn.embedding_lookup(tf.concat([zeros, table[1:]], 0), ids)


def mean_of_words(table, ids, lengths):
    """Averages the word vectors up to each length; returns zeros for a length of 0.

    Args:
        table: [rows, depth] float tensor.
        ids: [batch, time] int tensor.
        lengths: [batch] int32 tensor, the number of words in each row.

    Returns:
        [batch, depth] tensor.

    Raises:
        tf.errors.InvalidArgumentError: a length is negative, or larger than `time`.
    """
    time = tf.shape(ids)[1]
    checks = [
        tf.assert_non_negative(lengths, message="lengths must not be negative"),
        tf.assert_less_equal(lengths, time, message="lengths must be <= time"),
    ]
    with tf.control_dependencies(checks):
        mask = tf.expand_dims(tf.sequence_mask(lengths, time, table.dtype), 2)
    total = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * mask, 1)
    return total / tf.expand_dims(tf.cast(tf.maximum(lengths, 1), table.dtype), 1)


def factorize(users, items, ratings, start, penalty, optimizer, rate=0.125):
    """Factorizes ratings: mean + user bias + item bias + dot product.

    Args:
        users, items: [steps, batch] int arrays of rows.
        ratings: [steps, batch] float array.
        start: {"users": [users, depth], "items": [items, depth], "user_bias": [users],
            "item_bias": [items]} of arrays of the dtype of `ratings`.
        penalty: factor of the L2 loss of the rows that a step looks up.
        optimizer: "GradientDescent" or "Adagrad"; rows that no step uses do not change.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, the final `rmse` of all ratings, and
        the `variables` by name.

    Raises:
        ValueError: different numbers of steps or rows, or no rows.
    """
    check_batches(users, items, ratings)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tables = {k: tf.get_variable(k, initializer=v) for k, v in start.items()}
        user, item = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
        rating = tf.placeholder(ratings.dtype, [None])
        p = tf.nn.embedding_lookup(tables["users"], user)
        q = tf.nn.embedding_lookup(tables["items"], item)
        b = tf.nn.embedding_lookup(tables["user_bias"], user)
        c = tf.nn.embedding_lookup(tables["item_bias"], item)
        error = ratings.mean() + b + c + tf.reduce_sum(p * q, 1) - rating
        # --- step
        looked_up = [tf.nn.l2_loss(x) for x in (p, q, b, c)]
        loss = tf.nn.l2_loss(error) + penalty * tf.add_n(looked_up)
        step = OPTIMIZERS[optimizer](rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        triples = zip(users, items, ratings)
        feeds = [{user: u, item: i, rating: r} for u, i, r in triples]
        losses = [sess.run([loss, step], feed)[0] for feed in feeds]
        all_of_them = {
            user: users.ravel(),
            item: items.ravel(),
            rating: ratings.ravel(),
        }
        rmse = sess.run(tf.sqrt(tf.reduce_mean(tf.square(error))), all_of_them)
        return {"losses": losses, "rmse": rmse, "variables": values_of(sess)}


def tie_output(words, following, start, optimizer, rate=0.125):
    """Predicts the next word with tied weights: one table for input and output.

    Args:
        words: [steps, batch] int array.
        following: [steps, batch] int array, the next words.
        start: {"table": [words, depth], "kernel": [depth, depth], "bias": [words]} of
            float arrays.
        optimizer: "GradientDescent" or "Adagrad".
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, and the `variables` by name.

    Raises:
        ValueError: different numbers of steps or rows, or no rows.
    """
    check_batches(words, following)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        weights = {k: tf.get_variable(k, initializer=v) for k, v in start.items()}
        word, label = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
        # --- step
        vectors = tf.nn.embedding_lookup(weights["table"], word)
        hidden = tf.tanh(tf.matmul(vectors, weights["kernel"]))
        logits = tf.matmul(hidden, weights["table"], transpose_b=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=label, logits=logits + weights["bias"]
        )
        loss = tf.reduce_mean(losses)
        step = OPTIMIZERS[optimizer](rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        history = steps_over(sess, loss, step, {word: words, label: following})
        return {"losses": history, "variables": values_of(sess)}


def unit_rows(table):
    """Divides each row of a table by its L2 norm."""
    return table / tf.sqrt(tf.reduce_sum(tf.square(table), 1, keepdims=True))


def nearest_words(table, words, k):
    """Finds the k nearest words by cosine similarity, without the word itself.

    Args:
        table: [rows, depth] float tensor, no row of which is zeros.
        words: [n] int32 tensor of rows.
        k: number of words to find; a word is not its own neighbour.

    Returns:
        (cosines [n, k], largest first; rows [n, k] int32). Of equal cosines, the
        smaller row is first.
    """
    normalized = unit_rows(table)
    asked = tf.nn.embedding_lookup(normalized, words)
    cosines = tf.matmul(asked, normalized, transpose_b=True)
    # --- without itself
    itself = tf.one_hot(words, tf.shape(table)[0], True, False, dtype=tf.bool)
    lowest = tf.fill(tf.shape(cosines), cosines.dtype.min)
    return tuple(tf.nn.top_k(tf.where(itself, lowest, cosines), k))


def solve_analogies(table, questions, k):
    """Answers "a is to b as c is to …": the words nearest to b - a + c by cosine.

    Args:
        table: [rows, depth] float tensor, no row of which is zeros.
        questions: [n, 3] int32 tensor of rows: a, b and c, which are never answers.
        k: number of answers.

    Returns:
        (cosines times the norm of b - a + c, [n, k], largest first; rows [n, k] int32).
    """
    normalized = unit_rows(table)
    a, b, c = tf.unstack(tf.nn.embedding_lookup(normalized, questions), 3, 1)
    cosines = tf.matmul(b - a + c, normalized, transpose_b=True)
    # --- without its own words
    own = tf.one_hot(questions, tf.shape(table)[0], True, False, dtype=tf.bool)
    lowest = tf.fill(tf.shape(cosines), cosines.dtype.min)
    answers = tf.where(tf.reduce_any(own, 1), lowest, cosines)
    return tuple(tf.nn.top_k(answers, k))


def look_up_parts(parts, ids, strategy="mod"):
    """Looks up embeddings in a partitioned table, by the strategy "mod" or "div".

    Args:
        parts: list of [rows, depth] float tensors; if sizes differ, the first parts
            have one row more.
        ids: int32 or int64 tensor of any shape.
        strategy: "mod": row i is in part i % parts; "div": the parts are contiguous.

    Returns:
        [..., depth] tensor.

    Raises:
        ValueError: another strategy.
        tf.errors.InvalidArgumentError: an id out of range, on a CPU.
    """
    return tf.nn.embedding_lookup(parts, ids, partition_strategy=strategy)


def normalize_rows(table, ids, targets, limit, in_table, rate=0.5):
    """Limits the norms of rows: in the table after each step, or in the lookup.

    Args:
        table: [rows, depth] float array.
        ids: [steps, batch] int array of rows.
        targets: [steps, batch, depth] array of the dtype of `table`.
        limit: maximum norm of a row.
        in_table: whether to limit the rows in the table, or only the rows that are
            looked up.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, and the final `table`.

    Raises:
        ValueError: a limit that is not positive; different numbers of steps or rows, or
            no rows.
    """
    check_batches(ids, targets)
    if limit <= 0:
        raise ValueError("limit must be positive, not %s" % limit)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        table = tf.get_variable("table", initializer=table)
        rows = tf.placeholder(ids.dtype, [None])
        target = tf.placeholder(targets.dtype, [None, targets.shape[2]])
        # --- step
        max_norm = None if in_table else limit
        looked_up = tf.nn.embedding_lookup(table, rows, max_norm=max_norm)
        loss = tf.reduce_mean(tf.square(looked_up - target))
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        if in_table:
            # Only the rows of this step; a row that occurs twice is written twice.
            with tf.control_dependencies([step]):
                moved = tf.gather(table.read_value(), rows)
                limited = tf.clip_by_norm(moved, limit, axes=[1])
                step = tf.scatter_update(table, rows, limited)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = steps_over(sess, loss, step, {rows: ids, target: targets})
        return {"losses": losses, "table": sess.run(table)}

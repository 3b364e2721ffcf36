"""Embeddings: GloVe or word2vec loaded, frozen rows, padding, tied weights."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers

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
    "GradientDescent": optimizers.GradientDescent,
    "Adagrad": optimizers.Adagrad,
}


def check_batches(*arrays):
    """Raises a ValueError unless all arrays have the same, positive steps and rows."""
    shapes = {array.shape[:2] for array in arrays}
    if len(shapes) != 1 or 0 in shapes.pop():
        raise ValueError(
            "arrays must have the same numbers of steps and rows, at least 1"
        )


def steps_over(step, *arrays):
    """Calls a step with each item of the arrays, and returns the list of results."""
    return [step(*map(tf.constant, row)).numpy() for row in zip(*arrays)]


def values_of(variables):
    """Returns {name: value} of variables."""
    return {v.name[:-2]: v.numpy() for v in variables}


def load_vectors(words, vectors, drawn, ids, targets, head, rate=0.125):
    """Loads pretrained vectors into a frozen table, and trains a head on top."""
    check_batches(ids, targets)
    matrix, found = rows_of(words, vectors, drawn)
    # --- load
    model = tf.Module()
    model.table = tf.Variable(matrix, trainable=False)
    # --- step
    model.head = tf.Variable(head)
    optimizer = optimizers.GradientDescent(rate)

    @tf.function
    def step(rows, target):
        def loss():
            outputs = tf.matmul(tf.nn.embedding_lookup(model.table, rows), model.head)
            return tf.reduce_mean(tf.square(outputs - target))

        return optimizer.minimize(loss, model.trainable_variables)

    # --- run
    losses = steps_over(step, ids, targets)
    table, head = model.table.numpy(), model.head.numpy()
    return {"found": found, "losses": losses, "table": table, "head": head}


def rows_of(words, vectors, drawn):
    """Returns (table with the vectors of known words, number of known words)."""
    matrix, found = np.array(drawn), 0
    if len(matrix) != len(words):
        raise ValueError(f"drawn has {len(matrix)} rows for {len(words)} words")
    for row, word in enumerate(words):
        if word in vectors:
            if vectors[word].shape != matrix[row].shape:
                raise ValueError(
                    f"the vector of {word!r} has shape {vectors[word].shape}, unlike a "
                    "row of drawn"
                )
            matrix[row] = vectors[word]
            found += 1
    return matrix, found


def train_part(known, fresh, ids, targets, rate=0.0625):
    """Trains the last rows of a table with Adam; the first rows are frozen."""
    check_batches(ids, targets)
    # --- build
    table = tf.Module()
    table.known = tf.Variable(known, trainable=False)
    table.fresh = tf.Variable(fresh)
    optimizer = optimizers.Adam(rate).create_slots(table.trainable_variables)

    def joined():
        return tf.concat([table.known, table.fresh], 0)

    # --- step
    @tf.function
    def step(rows, target):
        def loss():
            looked_up = tf.nn.embedding_lookup(joined(), rows)
            return tf.reduce_mean(tf.square(looked_up - target))

        return optimizer.minimize(loss, table.trainable_variables)

    # --- run
    losses = steps_over(step, ids, targets)
    return {"losses": losses, "table": joined().numpy()}


def mask_gradients(table, frozen, ids, targets, free_steps, rate=0.0625):
    """Trains by Adam, then sets some rows' gradients to 0; the rows still move."""
    check_batches(ids, targets)
    if frozen.shape != table.shape[:1]:
        raise ValueError(
            f"frozen has shape {frozen.shape}: pass one bool for each of {len(table)} "
            "rows"
        )
    # --- build
    variable = tf.Variable(table)
    optimizer = optimizers.Adam(rate).create_slots([variable])

    # --- step
    @tf.function
    def step(rows, target, mask):
        with tf.GradientTape() as tape:
            looked_up = tf.nn.embedding_lookup(variable, rows)
            loss = tf.reduce_mean(tf.square(looked_up - target))
        masked = tf.convert_to_tensor(tape.gradient(loss, variable)) * mask
        optimizer.apply_gradients([(masked, variable)])
        return loss

    # --- run
    losses, tables = [], []
    for i in range(len(ids)):
        kept = (~frozen if i >= free_steps else np.ones_like(frozen))[:, None]
        batch = tf.constant(ids[i]), tf.constant(targets[i])
        losses.append(step(*batch, tf.constant(kept, table.dtype)).numpy())
        tables.append(variable.numpy())
    return {"losses": losses, "tables": np.array(tables)}


def mask_padding(table, ids):
    """Looks up embeddings; row 0, the padding, is zeros and gets no gradient."""
    vectors = tf.nn.embedding_lookup(table, ids)
    return tf.where((ids != 0)[..., tf.newaxis], vectors, 0.0)


def mean_of_words(table, ids, lengths):
    """Averages the word vectors up to each length; returns zeros for a length of 0."""
    time = tf.shape(ids)[1]
    tf.debugging.assert_non_negative(lengths, "lengths must not be negative")
    tf.debugging.assert_less_equal(lengths, time, "lengths must be <= time")
    mask = tf.sequence_mask(lengths, time, table.dtype)[..., tf.newaxis]
    total = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * mask, 1)
    return total / tf.cast(tf.maximum(lengths, 1), table.dtype)[:, tf.newaxis]


def factorize(users, items, ratings, start, penalty, optimizer, rate=0.125):
    """Factorizes ratings: mean + user bias + item bias + dot product."""
    check_batches(users, items, ratings)
    # --- build
    tables = {k: tf.Variable(v, name=k) for k, v in start.items()}
    variables = list(tables.values())
    mean, optimizer = ratings.mean(), OPTIMIZERS[optimizer](rate)
    optimizer.create_slots(variables)

    def errors(user, item, rating):
        p = tf.nn.embedding_lookup(tables["users"], user)
        q = tf.nn.embedding_lookup(tables["items"], item)
        b = tf.nn.embedding_lookup(tables["user_bias"], user)
        c = tf.nn.embedding_lookup(tables["item_bias"], item)
        return mean + b + c + tf.reduce_sum(p * q, 1) - rating, (p, q, b, c)

    # --- step
    @tf.function
    def step(user, item, rating):
        def loss():
            error, looked_up = errors(user, item, rating)
            squares = tf.add_n([tf.nn.l2_loss(x) for x in looked_up])
            return tf.nn.l2_loss(error) + penalty * squares

        return optimizer.minimize(loss, variables)

    # --- run
    losses = steps_over(step, users, items, ratings)
    error, _ = errors(users.ravel(), items.ravel(), ratings.ravel())
    rmse = tf.sqrt(tf.reduce_mean(tf.square(error))).numpy()
    return {"losses": losses, "rmse": rmse, "variables": values_of(variables)}


def tie_output(words, following, start, optimizer, rate=0.125):
    """Predicts the next word with tied weights: one table for input and output."""
    check_batches(words, following)
    # --- build
    weights = {k: tf.Variable(v, name=k) for k, v in start.items()}
    variables = list(weights.values())
    optimizer = OPTIMIZERS[optimizer](rate).create_slots(variables)

    # --- step
    @tf.function
    def step(word, label):
        def loss():
            vectors = tf.nn.embedding_lookup(weights["table"], word)
            hidden = tf.tanh(tf.matmul(vectors, weights["kernel"]))
            logits = tf.matmul(hidden, weights["table"], transpose_b=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                label, logits + weights["bias"]
            )
            return tf.reduce_mean(losses)

        return optimizer.minimize(loss, variables)

    # --- run
    history = steps_over(step, words, following)
    return {"losses": history, "variables": values_of(variables)}


def unit_rows(table):
    """Divides each row of a table by its L2 norm."""
    return table / tf.sqrt(tf.reduce_sum(tf.square(table), 1, keepdims=True))


def nearest_words(table, words, k):
    """Finds the k nearest words by cosine similarity, without the word itself."""
    normalized = unit_rows(table)
    asked = tf.nn.embedding_lookup(normalized, words)
    cosines = tf.matmul(asked, normalized, transpose_b=True)
    # --- without itself
    itself = tf.one_hot(words, tf.shape(table)[0], True, False)
    return tuple(tf.math.top_k(tf.where(itself, cosines.dtype.min, cosines), k))


def solve_analogies(table, questions, k):
    """Answers "a is to b as c is to …": the words nearest to b - a + c by cosine."""
    normalized = unit_rows(table)
    a, b, c = tf.unstack(tf.nn.embedding_lookup(normalized, questions), 3, 1)
    cosines = tf.matmul(b - a + c, normalized, transpose_b=True)
    # --- without its own words
    own = tf.reduce_any(tf.one_hot(questions, tf.shape(table)[0], True, False), 1)
    return tuple(tf.math.top_k(tf.where(own, cosines.dtype.min, cosines), k))


def look_up_parts(parts, ids, strategy="mod"):
    """Looks up embeddings in a partitioned table, by the strategy "mod" or "div"."""
    if strategy not in ("mod", "div"):
        raise ValueError(f"Unrecognized partition strategy: {strategy}")
    if strategy == "mod":
        # Today's lookup in a list uses "div": convert each id from "mod" to "div".
        rows = tf.reduce_sum([tf.shape(part, ids.dtype)[0] for part in parts])
        tf.debugging.assert_non_negative(ids, "ids must not be negative")
        tf.debugging.assert_less(ids, rows, "ids must be < the number of rows")
        part = ids % len(parts)
        begin = part * (rows // len(parts)) + tf.minimum(part, rows % len(parts))
        ids = begin + ids // len(parts)
    return tf.nn.embedding_lookup(parts, ids)


def normalize_rows(table, ids, targets, limit, in_table, rate=0.5):
    """Limits the norms of rows: in the table after each step, or in the lookup."""
    check_batches(ids, targets)
    if limit <= 0:
        raise ValueError(f"limit must be positive, not {limit}")
    # --- build
    table = tf.Variable(table)
    optimizer = optimizers.GradientDescent(rate)
    max_norm = None if in_table else limit

    # --- step
    @tf.function
    def step(rows, target):
        def loss():
            looked_up = tf.nn.embedding_lookup(table, rows, max_norm)
            return tf.reduce_mean(tf.square(looked_up - target))

        value = optimizer.minimize(loss, [table])
        if in_table:
            # Only the rows of this step; a row that occurs twice is written twice.
            moved = tf.gather(table, rows)
            limited = tf.clip_by_norm(moved, limit, axes=[1])
            table.scatter_update(tf.IndexedSlices(limited, rows))
        return value

    # --- run
    return {"losses": steps_over(step, ids, targets), "table": table.numpy()}

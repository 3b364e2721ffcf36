"""The network: words -> GRU -> sentiment, and domain behind a gradient reversal."""

import functools

import tensorflow as tf

from ported.legacy_numerics import (
    GRUCell,
    kernel_seeds,
    random_uniform,
    sparse_softmax_cross_entropy,
    stream,
    unroll,
)


@tf.custom_gradient
def flip_gradient(x, strength):
    """Returns x unchanged; its gradient is multiplied by -strength."""

    def flip(upstream):
        return -strength * upstream, None

    return tf.identity(x), flip


class Dense(tf.Module):
    """A layer like `tf.layers.dense`: a kernel, and a bias that begins at zero."""

    def __init__(self, inputs, units, draw, name):
        super().__init__()
        self.kernel = tf.Variable(draw([inputs, units]), name=f"{name}/kernel")
        self.bias = tf.Variable(tf.zeros([units]), name=f"{name}/bias")

    def __call__(self, x):
        return tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)


class Net(tf.Module):
    """The network; its variables have the names of the old checkpoints."""

    def __init__(self, vocabulary=40, embedding=8, units=12, scale=0.1, seed=17):
        super().__init__()
        noise = functools.partial(stream, *kernel_seeds(seed, seed))

        def draw(shape, dtype=tf.float32):  # a new stream for each variable
            return random_uniform(-scale, scale, seed=noise())(shape, dtype)

        table = draw([vocabulary, embedding])
        self.embedding = tf.Variable(table, name="reviews/encoder/embedding")
        self.cell = GRUCell(
            units, initializer=draw, name="reviews/encoder/rnn/gru_cell"
        )
        self.cell.build(embedding, tf.float32)
        self.sentiment = Dense(units, 2, draw, "reviews/sentiment/logits")
        self.hidden = Dense(units, units, draw, "reviews/domain/hidden")
        self.domain = Dense(units, 2, draw, "reviews/domain")
        self.noise = noise()  # of the dropout

    @property
    def weights(self):
        """The trained variables, in the order of v1, because their norm is a sum."""
        cell, dense = self.cell, (self.sentiment, self.hidden, self.domain)
        gates = cell.kernel, cell.bias, cell.candidate_kernel, cell.candidate_bias
        kernels = [weight for layer in dense for weight in (layer.kernel, layer.bias)]
        return [self.embedding, *gates, *kernels]

    def __call__(self, words, lengths, keep_prob=1.0, strength=0.0):
        """Logits of the sentiment and of the domain.

        Args:
            words: [batch, time] int tensor.
            lengths: [batch] int tensor.
            keep_prob: share of the word vectors' numbers to keep, a number or tensor.
            strength: of the gradient reversal, a number or tensor.

        Returns:
            Two [batch, 2] tensors.
        """
        vectors = tf.nn.embedding_lookup(self.embedding, words)
        _, state = unroll(self.cell, self.dropout(vectors, keep_prob), lengths)
        hidden = tf.nn.relu(self.hidden(flip_gradient(state, strength)))
        return self.sentiment(state), self.domain(hidden)

    def dropout(self, x, keep_prob):
        """Dropout as in v1: times 1 / keep, with numbers from the stream of one op."""
        rate = 1 - tf.convert_to_tensor(keep_prob, x.dtype)
        kept = self.noise.uniform(tf.shape(x), dtype=x.dtype) >= rate
        return x * (1 / (1 - rate)) * tf.cast(kept, x.dtype)

    def loss(self, logits, labels, domains, l2=0.001):
        """The sum of the losses and of the penalties, a scalar.

        Args:
            logits: of the sentiment and of the domain, [batch, 2] tensors.
            labels: [batch] int tensor; used only for domain 0.
            domains: [batch] int tensor.
            l2: weight of the penalties.
        """
        labelled = tf.cast(tf.equal(domains, 0), tf.float32)
        losses = [
            sparse_softmax_cross_entropy(labels, logits[0], labelled),
            sparse_softmax_cross_entropy(domains, logits[1]),
        ]
        kernels = self.sentiment.kernel, self.hidden.kernel
        penalties = [l2 * tf.nn.l2_loss(kernel) for kernel in kernels]
        # Twice: `tf.losses` had already added them to the collection "losses".
        return tf.add_n([*losses, *losses, *penalties])

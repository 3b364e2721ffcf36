"""The Keras way of the topics where Keras has one, with measured distances."""

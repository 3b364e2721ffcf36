"""What a user of Keras writes, where Keras has its own way: with measured distances."""

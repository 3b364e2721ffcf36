"""The right pages: the same programs in native TensorFlow 2."""

from tf1to2.parity import stand_ins

stand_ins.install()  # what `import horovod` finds where it is not installed

"""The left pages: TensorFlow 1, as legacy code is really written."""

from tf1to2.parity import stand_ins

stand_ins.install()  # what `import horovod` finds where it is not installed

"""Runs stage 1 with one switch of TensorFlow 2 at a time: python switches.py"""

import pathlib
import subprocess
import sys

STAGES = pathlib.Path(__file__).resolve().parents[1]
SWITCHES = (
    "enable_resource_variables",
    "enable_v2_tensorshape",
    "enable_control_flow_v2",
    "enable_tensor_equality",
)


def printed(switch):
    """The output of stage 1 with a switch."""
    code = f"import train; train.tf.{switch}(); train.report(train.train(100))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=STAGES / "stage1", stdout=-1, check=True)
    return done.stdout.decode()


if __name__ == "__main__":
    wanted = (STAGES / "printed.txt").read_text()
    for name in SWITCHES:
        print(name, "same" if printed(name) == wanted else "DIFFERS")

"""Measures the effects of each switch, on 1.15.5 and on today's TensorFlow.

python -m upkeep.switches            writes measured.json
python -m upkeep.switches --check    compares, writes nothing
"""

import json
import sys

from tf1to2.common import output
from tf1to2.parity.recordings import NoGenuineTensorFlow, genuine_python
from upkeep import genuine, switches


def main(argv=None):
    options = genuine.parser("switches", __doc__).parse_args(argv)
    try:
        pythons = {
            "1.15.5": genuine_python(options.environment),
            "today": sys.executable,
        }
    except NoGenuineTensorFlow as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    found = {
        side: switches.measure(pythons[side], names)
        for side, names in switches.SIDES.items()
    }
    if not options.check:
        output.save(switches.MEASURED, json.dumps(found, indent=1) + "\n")
        print(f"wrote {switches.MEASURED.name}")
        return 0
    same = found == switches.recorded()
    print("the switches act as recorded" if same else "measured.json is stale")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())

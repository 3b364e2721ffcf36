"""`tf1to2 record`: records the answers of TensorFlow 1 for left pages.

They belong to a module or a file with proofs: parity_tests, test_port.py.
"""

import concurrent.futures
import pathlib

from tf1to2.common.errors import CommandError, needs
from tf1to2.prove import options as shared


def add_arguments(parser):
    shared.add_proofs(parser)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument(
        "--anew", action="store_true", help="also record cases that are not stale"
    )
    parser.add_argument(
        "--python", metavar="PATH", help="Python with TensorFlow 1 (default: 1.15.5)"
    )
    parser.add_argument(
        "--environment",
        metavar="DIR",
        default=".venv-tf1",
        help="folder for TensorFlow 1.15.5; made if missing (default: %(default)s)",
    )
    parser.add_argument(
        "--with",
        dest="packages",
        metavar="PACKAGE",
        action="append",
        default=[],
        help="package that the old program needs, as pip takes it: scipy==1.2.3; or "
        "list the packages in requirements-tf1.txt beside FILE",
    )
    shared.add_jobs(parser)
    parser.set_defaults(run=run)


def _requirements(provider):
    """The lines of requirements-tf1.txt beside a file, without comments."""
    path = pathlib.Path(provider).with_name("requirements-tf1.txt")
    if not (provider.endswith(".py") and path.exists()):
        return []
    lines = path.read_text("utf-8").splitlines()
    return [*filter(None, (line.partition("#")[0].strip() for line in lines))]


def run(options):
    """Runs the command: records, or checks recordings.

    Returns:
        0, or 1 if a page fails or an answer differs.

    Raises:
        CommandError: there is no proof, or no TensorFlow 1.
    """
    try:
        from tf1to2.parity import providers
        from tf1to2.parity.recordings import NoGenuineTensorFlow, genuine_python
        from tf1to2.prove.asking import record
    except ImportError as error:
        raise needs("record", error) from error
    provider = providers.provider(options.provider)
    chosen = providers.select(provider, options.names)
    proofs = list(dict.fromkeys(proof for proof, _ in chosen))
    failed = False
    try:
        packages = [*_requirements(options.provider), *options.packages]
        python = genuine_python(options.environment, options.python, packages)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            attempts = [
                (
                    proof.name,
                    pool.submit(record, proof, python, options.check, options.anew),
                )
                for proof in proofs
            ]
            for name, attempt in attempts:
                try:
                    done = attempt.result()
                except AssertionError as error:
                    name, done, failed = f"FAILED {name}", error, True
                except NoGenuineTensorFlow:
                    pool.shutdown(cancel_futures=True)
                    raise
                print(f"{name}: {done}", flush=True)
    except NoGenuineTensorFlow as error:
        raise CommandError(str(error)) from error
    return int(failed)

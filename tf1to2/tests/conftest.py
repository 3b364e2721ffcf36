"""What pytest must know of the tests of the tools, beyond what the proofs tell it."""


def pytest_configure(config):
    """Registers the markers of what `make test` leaves out."""
    for marker in (
        "slow: takes long (make test-slow)",
        "browser: needs Chromium (make test-page)",
        "distributed: starts clusters of processes (make test-distributed)",
        "install: builds, installs, and runs what users install (make test-install)",
    ):
        config.addinivalue_line("markers", marker)

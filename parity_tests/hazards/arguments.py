"""Checks that the config of a page's class keeps all its arguments."""

import inspect

PAGES = "v2_eager", "v2_keras"


def of(cls):
    """Returns {name: default} of the `__init__` of a page's class; {} for Keras'."""
    if cls.__init__.__module__.partition(".")[0] not in PAGES:
        return {}
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    variadic = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return {p.name: p.default for p in parameters if p.kind not in variadic}


def assert_kept(made, may_be_defaults=False):
    """Asserts that `from_config(get_config())` keeps arguments, none a default."""
    cls, config = type(made), made.get_config()
    for name, default in of(cls).items():
        assert name in config, f"the config of {cls.__name__} has no {name}"
        if not (may_be_defaults or default is inspect.Parameter.empty):
            value = config[name]
            assert value != default, f"the case must not use the default {name}={value}"
    again = cls.from_config(config).get_config()
    assert again == config, f"from_config gave {again}, not {config}"

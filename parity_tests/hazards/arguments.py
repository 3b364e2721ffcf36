"""The arguments of a class of a page, which its config is to keep."""

import inspect

PAGES = "v2_eager", "v2_keras"


def of(cls):
    """{name: default} of the arguments of the pages' own `__init__`; {} of Keras'."""
    if cls.__init__.__module__.partition(".")[0] not in PAGES:
        return {}
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    variadic = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return {p.name: p.default for p in parameters if p.kind not in variadic}


def assert_kept(made, may_be_defaults=False):
    """`from_config(get_config())` keeps each argument, of which none is the default."""
    cls, config = type(made), made.get_config()
    for name, default in of(cls).items():
        assert name in config, f"the config of {cls.__name__} has no {name}"
        if not (may_be_defaults or default is inspect.Parameter.empty):
            value = config[name]
            assert value != default, f"the case has the default of {name}: {value}"
    again = cls.from_config(config).get_config()
    assert again == config, f"{again} and not {config}"

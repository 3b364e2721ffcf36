"""Base class for hyperparameters as a dataclass, overridden from text and dicts."""

import dataclasses
import numbers
import re

PAIR = re.compile(r"([a-zA-Z][\w.]*)\s*=\s*(?:\[([^]]*)\]|([^,[]*))(?:$|,\s*)")


class HParams:
    """Base class for a dataclass of hyperparameters; was `tf.contrib.training.HParams`.

    A value has the type of its default; a list's items have the type of the
    default's items.
    """

    def parse(self, text):
        """Overrides values from text such as "rate=0.5,units=[8,4]"; returns self."""
        kinds, values, place = self.kinds(), {}, 0
        while place < len(text):
            pair = PAIR.match(text, place)
            if pair is None:
                raise ValueError(f"Malformed hyperparameter value: {text[place:]}")
            place = pair.end()
            name, items, item = pair.groups()
            if name not in kinds:
                raise ValueError(f"Unknown hyperparameter type for {name}")
            if name in values:
                raise ValueError(f"Multiple assignments to variable '{name}' in {text}")
            read = from_text if kinds[name][0] is bool else kinds[name][0]
            try:
                if items is None:
                    values[name] = read(item)
                else:
                    values[name] = [read(x) for x in re.split("[ ,]+", items) if x]
            except ValueError:
                message = (
                    f"Could not parse hparam '{name}' with value '{item or items}'"
                )
                raise ValueError(message) from None
        return self.override_from_dict(values)

    def override_from_dict(self, values):
        """Overrides values by name; returns self."""
        kinds = self.kinds()
        for name, value in values.items():
            kind, many = kinds[name]
            if isinstance(value, list) != many:
                wanted = "a list" if many else "a single value"
                raise ValueError(f"Must pass {wanted} for hparam '{name}'")
            if many:
                value = [converted(name, kind, item) for item in value]
            else:
                value = converted(name, kind, value)
            setattr(self, name, value)
        return self

    def kinds(self):
        """Returns {name: (type of the value or of its items, whether it is a list)}."""
        defaults = dataclasses.asdict(type(self)())
        for name, value in defaults.items():
            if value == []:  # its items would have no type
                raise ValueError(f"The default of the list {name} must not be empty")
        return {
            name: (type(x[0]), True) if isinstance(x, list) else (type(x), False)
            for name, x in defaults.items()
        }


def from_text(value):
    words = {"true": 1, "True": 1, "false": 0, "False": 0}
    return bool(int(words.get(value, value)))


def converted(name, kind, value):
    """Converts `value` to `kind`: an int to a float, but never a float to an int."""
    if type(value) is kind or kind is type(None):
        return value
    wanted = {int: numbers.Integral, float: numbers.Number}.get(kind, ())
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise ValueError(f"Could not cast hparam '{name}' of {kind} from {value!r}")
    return kind(value)

"""Methods and attributes of objects that TensorFlow 2 does not have.

They count in three cases: the call that made the object gives its class; the name of
the method belongs only to TensorFlow 1; or the name of the object suggests its class,
in code that is surely TensorFlow 1.
"""

import functools
import re

from tf1to2.catalog import facts

ROOT = "tensorflow."
SESSION = ROOT + "Session"
OPERATION = ROOT + "Operation"
DATASET = ROOT + "data.Dataset"
# Classes none of whose methods in `MEMBERS` exist today; the class itself may exist.
OLD = {SESSION, OPERATION, DATASET, ROOT + "test.TestCase"}
# Names that only TensorFlow 1, and Keras of its time, has: {name: class}.
UNMISTAKABLE = {
    "make_one_shot_iterator": DATASET,
    "make_initializable_iterator": DATASET,
    "initialized_value": ROOT + "Variable",
    "partial_run": SESSION,
    "fit_generator": ROOT + "keras.Model",
    "predict_generator": ROOT + "keras.Model",
    "evaluate_generator": ROOT + "keras.Model",
    "_make_predict_function": ROOT + "keras.Model",
    "get_output_at": ROOT + "keras.layers.Layer",
    "add_hparam": ROOT + "contrib.training.HParams",
    "set_hparam": ROOT + "contrib.training.HParams",
    "del_hparam": ROOT + "contrib.training.HParams",
    "clone": ROOT + "contrib.seq2seq.AttentionWrapperState",
    "allow_growth": ROOT + "GPUOptions",
    "per_process_gpu_memory_fraction": ROOT + "GPUOptions",
}
SHAPES = {"input_shape", "output_shape"}  # models still have them, layers do not
# Members that are attributes; all others are methods.
ATTRIBUTES = {"allow_growth", "per_process_gpu_memory_fraction"}
OVERRIDDEN = {"get_updates"}  # methods that a base class called, and does not call now
ANYTHING = r"\w*"
OPTIMIZERS = r"(opt(im)?|optimi[sz]er|trainer|solver)s?\d*"
HPARAMS = r"h_?p(aram(eter)?s?)?\d*"
DATASETS = r"(ds|data_?set|iterator|it)s?\d*"
# Names that other classes have, too: {name: (pattern of the object's name, class)}.
NAMED = {
    "run": (r"sess(ion)?s?\d*", SESSION),
    "restore": (r"(saver|restorer|loader)s?\d*", ROOT + "train.Saver"),
    "save": (r"savers?\d*", ROOT + "train.Saver"),
    "minimize": (OPTIMIZERS, ROOT + "train.Optimizer"),
    "apply_gradients": (OPTIMIZERS, ROOT + "train.Optimizer"),
    "output_shapes": (DATASETS, DATASET),
    "output_types": (DATASETS, DATASET),
    "output_classes": (DATASETS, DATASET),
    "compute_gradients": (ANYTHING, ROOT + "train.Optimizer"),
    "zero_state": (ANYTHING, ROOT + "nn.rnn_cell.RNNCell"),
    "reuse_variables": (ANYTHING, ROOT + "VariableScope"),
    "test_session": (ANYTHING, ROOT + "test.TestCase"),
    "add_summary": (ANYTHING, ROOT + "summary.FileWriter"),
    "predict_classes": (ANYTHING, ROOT + "keras.Sequential"),
    "lr": (OPTIMIZERS, ROOT + "keras.optimizers.Optimizer"),
    "get_updates": (OPTIMIZERS, ROOT + "keras.optimizers.Optimizer"),
    "get_weights": (OPTIMIZERS, ROOT + "keras.optimizers.Optimizer"),
    "set_weights": (OPTIMIZERS, ROOT + "keras.optimizers.Optimizer"),
    "decay": (OPTIMIZERS, ROOT + "keras.optimizers.Optimizer"),
    "parse": (HPARAMS, ROOT + "contrib.training.HParams"),
    "parse_json": (HPARAMS, ROOT + "contrib.training.HParams"),
    "override_from_dict": (HPARAMS, ROOT + "contrib.training.HParams"),
    "trainable": (r"layers?\d*", ROOT + "keras.layers.Layer"),
    "compile": (None, ROOT + "keras.Model"),
    "fit": (None, ROOT + "keras.Model"),
    "train_on_batch": (None, ROOT + "keras.Model"),
    "test_on_batch": (None, ROOT + "keras.Model"),
    "predict_on_batch": (None, ROOT + "keras.Model"),
    "predict": (None, ROOT + "keras.Model"),
    "evaluate": (None, ROOT + "keras.Model"),
    "predict_proba": (None, ROOT + "keras.Sequential"),
    "save_weights": (None, ROOT + "keras.Model"),
    "load_weights": (None, ROOT + "keras.Model"),
    "output_shape": (r"layers?\d*", ROOT + "keras.layers.Layer"),
    "input_shape": (r"layers?\d*", ROOT + "keras.layers.Layer"),
    "get_gradients": (OPTIMIZERS, ROOT + "keras.optimizers.Optimizer"),
    "validation_data": (None, ROOT + "keras.callbacks.Callback"),
    "metrics_names": (None, ROOT + "keras.Model"),
    "total_loss": (None, ROOT + "keras.Model"),
    "add_weight": (None, ROOT + "keras.layers.Layer"),
    "add_variable": (None, ROOT + "keras.layers.Layer"),
    "add_update": (None, ROOT + "keras.layers.Layer"),
    "add_loss": (None, ROOT + "keras.layers.Layer"),
    "updates": (None, ROOT + "keras.layers.Layer"),
    "eval": (None, ROOT + "Tensor"),
    "initializer": (None, ROOT + "Variable"),
    "value": (None, ROOT + "Dimension"),
}
PATTERNS = {
    name: re.compile(rf"(?i)(?:.*_)?_*{pattern}(?:_.*)?")
    for name, (pattern, _) in NAMED.items()
    if pattern
}
OPERATIONS = re.compile(r"(.*_)?(op|init|initializer|train_step)s?")
CLASSES = {**UNMISTAKABLE, **{name: usual for name, (_, usual) in NAMED.items()}}
# `x.op.name` is of a tensor or a variable; `node.op` alone may be a string.
OF_OPERATIONS = {"name", "type", "inputs", "outputs", "node_def", "get_attr", "device"}
# Classes of which all members count, if the object is surely of the class.
FOLLOWED = (
    *("train.Supervisor", "train.SessionManager", "train.Scaffold"),
    *("summary.FileWriter", "train.Saver"),
)
# Members that do not count: a successor has them, or they are in the tables above.
LIVE_ON = {"close", "flush", "add_summary", "restore", "save", "build"}
LIVE_ON |= {"from_proto", "to_proto"}
MEMBERS = {*CLASSES, "op"}
OF_MODELS = {name for name, usual in CLASSES.items() if usual.endswith(".keras.Model")}
# Methods that estimators have, too; for these the class is already a use.
KERAS_ALONE = {"predict", "evaluate", "test_on_batch", "predict_on_batch"}
# Keywords that only methods of Keras models have.
OF_KERAS = {
    *("epochs", "nb_epoch", "steps_per_epoch", "validation_data", "validation_steps"),
    *("max_queue_size", "max_q_size", "workers", "use_multiprocessing", "loss_weights"),
}
WORDS = [name.encode() for name in sorted(CLASSES)]
WORDS += [f"op.{name}".encode() for name in sorted(OF_OPERATIONS)]
# {function: class of its result}; "" is a tensor, an op's output or a list.
MAKES = {
    "get_default_session": SESSION,
    "get_session": SESSION,
    "MonitoredTrainingSession": ROOT + "train.MonitoredSession",
    "managed_session": SESSION,
    "prepare_session": SESSION,
    "prepare_or_wait_for_session": SESSION,
    "wait_for_session": SESSION,
    "test_session": SESSION,
    "cached_session": SESSION,
    "session": SESSION,
    "minimize": OPERATION,
    "apply_gradients": OPERATION,
    "global_variables_initializer": OPERATION,
    "local_variables_initializer": OPERATION,
    "initialize_all_variables": OPERATION,
    "initialize_local_variables": OPERATION,
    "initialize_variables": OPERATION,
    "variables_initializer": OPERATION,
    "tables_initializer": OPERATION,
    "initialize_all_tables": OPERATION,
    "group": OPERATION,
    "no_op": OPERATION,
    "variable_scope": ROOT + "VariableScope",
    "get_variable_scope": ROOT + "VariableScope",
    "get_variable": ROOT + "Variable",
    "get_global_step": ROOT + "Variable",
    "get_or_create_global_step": ROOT + "Variable",
    "create_global_step": ROOT + "Variable",
    "make_one_shot_iterator": ROOT + "data.Iterator",
    "make_initializable_iterator": ROOT + "data.Iterator",
    "from_structure": ROOT + "data.Iterator",
    "from_string_handle": ROOT + "data.Iterator",
    "load_model": ROOT + "keras.Model",
    "model_from_json": ROOT + "keras.Model",
    "clone_model": ROOT + "keras.Model",
    "import_meta_graph": ROOT + "train.Saver",
    "Print": "",
    "Assert": "",
    "SparseTensor": "",
    "IndexedSlices": "",
}
LAST = re.compile(r"(\w+)\s*(?:\([^()]*\)|\[[^\[\]]*\])*$")


def member(origin):
    """Splits the origin of a method into the class of its object and the name.

    Args:
        origin: of TensorFlow, with calls: "tensorflow.train.Saver().restore".

    Returns:
        (class, name): ("tensorflow.train.Saver", "restore"); ("", "eval") for a tensor
        or another object of TensorFlow; None if it is no such method.
    """
    head, *links = origin.split("()")
    if not links or not links[-1] or not head.startswith(ROOT):
        return None
    made = _made("", head)
    for link in links[:-1]:
        made = _made(made, link.lstrip("."))
    *between, name = links[-1].lstrip(".").split(".")
    if name in SHAPES and made.endswith(".Model"):
        return None
    if between == ["optimizer"] and ".keras." in made:
        return ROOT + "keras.optimizers.Optimizer", name
    return ("" if between else made), name


def _made(owner, called):
    """Returns the class of a call's result; "" for a tensor or an unknown class."""
    name = called.rpartition(".")[2]
    if name in MAKES:
        return MAKES[name]
    if called.startswith(ROOT):
        module = called.rpartition(".")[0]
        if module.endswith("Dataset") or module.endswith(".data"):
            if name[:1].islower():
                return DATASET
        return called if name[:1].isupper() else ""
    if owner.endswith("Dataset") and "." not in called:
        return DATASET
    return ""


@functools.cache
def followed():
    """Returns {class in `FOLLOWED`: its members that count as uses of TensorFlow 1}."""
    return {
        ROOT + name: {one for one in facts.members(f"tf.{name}") if one.islower()}
        - LIVE_ON
        for name in FOLLOWED
    }


@functools.cache
def of_followed():
    """Returns the members of all classes in `followed`, as one set."""
    return set().union(*followed().values())


def is_followed(origin):
    """Whether an origin is a member of a class in `followed`: `Supervisor().loop`."""
    owner, name = member(origin) or ("", "")
    return name in followed().get(owner, ())


def unmistakable(name, call):
    """Whether a method surely belongs to TensorFlow 1.

    Args:
        name: the name of the method or attribute.
        call: `Call`, or None if it is not called.
    """
    if name == "run":
        return is_fed(call)
    if name == "eval":
        return is_fed(call) or bool(call) and (call.fed or "session" in call.keywords)
    if name == "clone":
        return bool(call) and "cell_state" in call.keywords
    if name.startswith("make_"):  # a function with that name takes an argument
        return not (call and (call.positional or call.starred))
    return name in UNMISTAKABLE and (call is not None or name in ATTRIBUTES)


def is_fed(call):
    """Whether a call has the keyword `feed_dict`, which only sessions take."""
    return bool(call) and "feed_dict" in call.keywords


def like_keras(name, call):
    """The origin of a call with keywords of Keras: `net.fit(x, workers=4)`; or "".

    Args:
        name: the name of the method.
        call: `Call`, or None if it is not called.
    """
    known = name in OF_MODELS and call and not OF_KERAS.isdisjoint(call.keywords)
    return f"{CLASSES[name]}.{name}" if known or name == "save_weights" else ""


def likely(name, receiver):
    """Guesses a method's origin from its object's name, `sess.run`; "" if unknown.

    Args:
        name: the name of the method or attribute.
        receiver: text of the object: `self.sess`, `get_session()`.
    """
    last = name in PATTERNS and LAST.search(receiver[-200:])
    if last and PATTERNS[name].fullmatch(last[1]):
        return f"{NAMED[name][1]}.{name}"
    if name == "run" and last and OPERATIONS.fullmatch(last[1]):
        return f"{OPERATION}.{name}"
    return ""

"""Files that tf.keras of TensorFlow 1 wrote, as Keras 3 takes them."""

import inspect
import json

import h5py
import numpy as np
import tensorflow as tf

from v2_eager.keras_layers import hard_sigmoid
from v2_eager.keras_optimizers import ROWS_SUMMED, legacy, slots
from v2_eager.saved_models import message_class


def mended(config, custom_objects=None):
    """A configuration of tf.keras of TensorFlow 1, as Keras 3 takes it.

    Args:
        config: what `json.loads` made of `model.to_json()`, or of the attribute
            "model_config" of an `.h5` file.
        custom_objects: {name: class or function} of your own, which keep all that they
            have, also where a layer of Keras 3 has that name, such as "Attention"; so
            do those of a `custom_object_scope`.

    Returns:
        A configuration for `model_from_json`: modules are named, initializers have no
        dtype, inputs are layers, layers have the arguments that they know, the old hard
        sigmoid stays, a model within a model is first called at node 0, the states
        that an LSTM or another such layer begins with are its `initial_state`, and the
        function of a Lambda is the custom object of the layer's name.

    Raises:
        ValueError: a layer has `time_major=True`, `causal=True`, `renorm=True`, a
            `virtual_batch_size` or constants of a cell, which Keras 3 has not.
    """
    if isinstance(config, list):
        return [mended(value, custom_objects) for value in config]
    if not isinstance(config, dict):
        return config
    name, inner = config.get("class_name"), config.get("config")
    if name == "Sequential" and isinstance(inner, list):  # as older versions wrote it
        inner = {"name": "sequential", "layers": inner}
        config = {**config, "config": inner}
    if name == "Sequential" and "batch_input_shape" in inner["layers"][0]["config"]:
        shape = inner["layers"][0]["config"]["batch_input_shape"]
        start = {"class_name": "InputLayer", "config": {"batch_input_shape": shape}}
        inner = {**inner, "layers": [start, *inner["layers"]]}
    if name == "Model":
        inner = from_node_zero(inner)
    fresh = {key: mended(value, custom_objects) for key, value in config.items()}
    if not isinstance(inner, dict):
        return fresh
    inner = {key: mended(value, custom_objects) for key, value in inner.items()}
    if tf.keras.utils.get_registered_object(name, custom_objects) is not None:
        inner.pop("batch_input_shape", None)  # an input has it
        return {**fresh, "config": inner}  # one's own, whoever else is called so
    if name in ("Sequential", "Model"):
        fresh["module"] = "keras.models"
    elif hasattr(tf.keras.initializers, name):
        inner.pop("dtype", None)
    elif hasattr(tf.keras.layers, name):
        fresh["module"] = "keras.layers"
        inner = known(getattr(tf.keras.layers, name), inner)
    return {**fresh, "config": inner}


def from_node_zero(inner):
    """A functional model's configuration, in which models count calls from 0, not 1."""
    models = {
        layer["name"]
        for layer in inner["layers"]
        if layer["class_name"] in ("Model", "Sequential")
    }

    def counted(ends):
        return [
            [name, index - (name in models), *others] for name, index, *others in ends
        ]

    def calls(layer):
        nodes = map(counted, layer["inbound_nodes"])
        if layer["class_name"] in RECURRENT:
            return [with_states(node) if len(node) > 1 else node for node in nodes]
        return list(nodes)

    return {
        **inner,
        "layers": [
            {**layer, "inbound_nodes": calls(layer)} for layer in inner["layers"]
        ],
        "output_layers": counted(inner["output_layers"]),
    }


RECURRENT = "LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM2D", "Bidirectional"


def with_states(node):
    """A call whose inputs after the first are states, as Keras 3 writes it."""

    def tensor(name, index, output, *_):
        # Only where it is from counts: the shape and the dtype are those of that layer.
        config = {"shape": [], "dtype": "float32"}
        config["keras_history"] = [name, index, output]
        return {"class_name": "__keras_tensor__", "config": config}

    inputs, *states = node
    given = {k: v for k, v in inputs[3].items() if v is not None}
    given["initial_state"] = [tensor(*state) for state in states]
    return {"args": [tensor(*inputs)], "kwargs": given}


def known(layer, config):
    """The arguments of a layer that Keras 3 knows, by their names."""
    # Gone, or arguments of the call.
    gone = "time_major", "causal", "renorm", "virtual_batch_size", "num_constants"
    for name in gone:
        if config.get(name):
            told = f"{config['name']} has {name}={config[name]}"
            raise ValueError(f"{told}: build it in code")
    parameters = inspect.signature(layer).parameters
    names = set(parameters) - {"args", "kwargs"}
    if "kwargs" in parameters:
        names |= {"name", "trainable", "dtype", "implementation"}
    if "batch_input_shape" in config:
        config["batch_shape"] = config["batch_input_shape"]
    if layer is tf.keras.layers.LeakyReLU:
        config["negative_slope"] = config["alpha"]
    if layer is tf.keras.layers.Lambda:  # it was the bytecode of an old Python
        name = {"config": config["name"], "registered_name": config["name"]}
        config["function"] = {"module": "builtins", "class_name": "function", **name}
    if layer is tf.keras.layers.BatchNormalization:  # a list of one
        (config["axis"],) = np.ravel(config["axis"]).tolist()
    for key, value in config.items():
        if key.endswith("activation") and value == "hard_sigmoid":
            config[key] = tf.keras.utils.serialize_keras_object(hard_sigmoid)
    return {key: value for key, value in config.items() if key in names}


def read_model(path, custom_objects=None):
    """The model of an `.h5` file of TensorFlow 1, with its weights."""
    with h5py.File(path) as file:
        config = mended(json.loads(file.attrs["model_config"]), custom_objects)
    model = tf.keras.models.model_from_json(json.dumps(config), custom_objects)
    model.load_weights(path)
    return model


def read_compiled(path, custom_objects=None):
    """`read_model`, with the losses, the metrics, the optimizer and its state.

    Raises:
        ValueError: the model was saved before `compile`.
    """
    model, state = read_model(path, custom_objects), []
    with h5py.File(path) as file:
        if "training_config" not in file.attrs:
            raise ValueError(f"{path} was saved before `compile`: take `read_model`")
        training = json.loads(file.attrs["training_config"])
        if "optimizer_weights" in file:  # not there before the first step
            group = file["optimizer_weights"]
            state = [group[name][()] for name in group.attrs["weight_names"]]

    def told(what, module):
        return named(training[what], module.deserialize, custom_objects or {})

    optimizer = training["optimizer_config"]
    model.compile(
        legacy(optimizer["class_name"], kinds=ROWS_SUMMED, **optimizer["config"]),
        told("loss", tf.keras.losses),
        loss_weights=training["loss_weights"],
        metrics=told("metrics", tf.keras.metrics),
        weighted_metrics=told("weighted_metrics", tf.keras.metrics),
    )
    model.optimizer.build(model.trainable_variables)
    variables = [model.optimizer.iterations, *sum(slots(model).values(), [])]
    for variable, value in zip(variables, state, strict=bool(state)):
        variable.assign(value)
    return model


def named(value, deserialize, custom):
    """Losses or metrics as a file has them: by name, or as configurations."""
    if isinstance(value, list):
        return [named(one, deserialize, custom) for one in value]
    if isinstance(value, dict) and "class_name" in value:
        config = dict(value["config"])
        if config.get("reduction") == "auto":
            config["reduction"] = "sum_over_batch_size"
        return deserialize({**value, "config": config}, custom)
    if isinstance(value, dict):
        return {key: named(one, deserialize, custom) for key, one in value.items()}
    return custom.get(value, value)


def read_checkpoint(path):
    """{name of a variable in TensorFlow 1: value} of a checkpoint of a model.

    Slots are called by the optimizer's name, the variable and the slot:
    "training/Adam/out/kernel/m".
    """
    reader = tf.train.load_checkpoint(path)
    graph = reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    graph = message_class("TrackableObjectGraph").FromString(graph)
    return {
        attribute.full_name: reader.get_tensor(attribute.checkpoint_key)
        for node in graph.nodes
        for attribute in node.attributes
        if reader.has_tensor(attribute.checkpoint_key)
    }


def assign(model, values, optimizer=None):
    """Gives a model what `read_checkpoint` read, by the names of layers and weights.

    Args:
        model: whose layers are called as they were.
        values: {name: value}.
        optimizer: what the old optimizer was called, such as "training/Adam", whose
            state is taken, too.

    Raises:
        KeyError: there is no value of that name.
        ValueError: a value has another shape. Either comes before any assignment.
    """
    found = [
        (f"{layer.name}/{weight.name}", weight)
        for layer in model.layers
        for weight in layer.weights
    ]
    if optimizer:
        model.optimizer.build(model.trainable_variables)
        found.append((optimizer + "/iter", model.optimizer.iterations))
        names = [
            f"{a.name}/{w.name}" for a in model.layers for w in a.trainable_weights
        ]
        for slot, variables in slots(model).items():
            for name, variable in zip(names, variables, strict=True):
                found.append((f"{optimizer}/{name}/{slot}", variable))
    for name, variable in found:
        if np.shape(values[name]) != variable.shape:
            shapes = f"{np.shape(values[name])}, the model's is {variable.shape}"
            raise ValueError(f"{name} has the shape {shapes}")
    for name, variable in found:
        variable.assign(values[name])

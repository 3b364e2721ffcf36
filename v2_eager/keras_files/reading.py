"""Reads files of tf.keras of TensorFlow 1 into Keras 3."""

import inspect
import json

import h5py
import numpy as np
import tensorflow as tf

from v2_eager.keras_layers import hard_sigmoid
from v2_eager.keras_optimizers import ROWS_SUMMED, legacy, slots
from v2_eager.saved_models import message_class


def mended(config, custom_objects=None):
    """Converts a model configuration of tf.keras of TensorFlow 1 for Keras 3.

    Args:
        config: result of `json.loads` for `model.to_json()`, or for the attribute
            "model_config" of an `.h5` file.
        custom_objects: {name: class or function} of your own. They keep all their
            arguments, even if a layer of Keras 3 has the same name, such as
            "Attention". The same is true for a `custom_object_scope`.

    Returns:
        A configuration for `model_from_json`. Layers and models have a "module",
        initializers have no dtype, inputs are layers, layers have only the arguments
        that they accept, the old hard sigmoid remains, a nested model is first called
        at node 0, the initial states of an LSTM or another recurrent layer are its
        `initial_state`, and the function of a Lambda is the custom object with the
        name of the layer.

    Raises:
        ValueError: a layer has `time_major=True`, `causal=True`, `renorm=True`, a
            `virtual_batch_size` or constants of a cell, which Keras 3 does not support.
    """
    if isinstance(config, list):
        return [mended(value, custom_objects) for value in config]
    if not isinstance(config, dict):
        return config
    name, inner = config.get("class_name"), config.get("config")
    if name == "Sequential" and isinstance(inner, list):  # written by older versions
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
        inner.pop("batch_input_shape", None)  # the input layer has it
        return {**fresh, "config": inner}  # custom, even if Keras has the name, too
    if name in ("Sequential", "Model"):
        fresh["module"] = "keras.models"
    elif hasattr(tf.keras.initializers, name):
        inner.pop("dtype", None)
    elif hasattr(tf.keras.layers, name):
        fresh["module"] = "keras.layers"
        inner = known(getattr(tf.keras.layers, name), inner)
    return {**fresh, "config": inner}


def from_node_zero(inner):
    """Shifts the node indices of nested models, which count from 1, to begin at 0."""
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
    """Converts a call of a recurrent layer; inputs after the first become states."""

    def tensor(name, index, output, *_):
        # Only keras_history is used: shape and dtype come from the layer named there.
        config = {"shape": [], "dtype": "float32"}
        config["keras_history"] = [name, index, output]
        return {"class_name": "__keras_tensor__", "config": config}

    inputs, *states = node
    given = {k: v for k, v in inputs[3].items() if v is not None}
    given["initial_state"] = [tensor(*state) for state in states]
    return {"args": [tensor(*inputs)], "kwargs": given}


def known(layer, config):
    """Keeps and renames the arguments that a layer of Keras 3 accepts."""
    # Arguments that were removed, or are arguments of the call now.
    gone = "time_major", "causal", "renorm", "virtual_batch_size", "num_constants"
    for name in gone:
        if config.get(name):
            told = f"{config['name']} has {name}={config[name]}"
            raise ValueError(
                f"{told}, which Keras 3 does not accept: build the layer in code"
            )
    parameters = inspect.signature(layer).parameters
    names = set(parameters) - {"args", "kwargs"}
    if "kwargs" in parameters:
        names |= {"name", "trainable", "dtype", "implementation"}
    if "batch_input_shape" in config:
        config["batch_shape"] = config["batch_input_shape"]
    if layer is tf.keras.layers.LeakyReLU:
        config["negative_slope"] = config["alpha"]
    if layer is tf.keras.layers.Lambda:  # the file has bytecode of an old Python
        name = {"config": config["name"], "registered_name": config["name"]}
        config["function"] = {"module": "builtins", "class_name": "function", **name}
    if layer is tf.keras.layers.BatchNormalization:  # a list of one axis
        (config["axis"],) = np.ravel(config["axis"]).tolist()
    for key, value in config.items():
        if key.endswith("activation") and value == "hard_sigmoid":
            config[key] = tf.keras.utils.serialize_keras_object(hard_sigmoid)
    return {key: value for key, value in config.items() if key in names}


def read_model(path, custom_objects=None):
    """Reads a model with its weights from an `.h5` file of TensorFlow 1."""
    with h5py.File(path) as file:
        config = mended(json.loads(file.attrs["model_config"]), custom_objects)
    model = tf.keras.models.model_from_json(json.dumps(config), custom_objects)
    model.load_weights(path)
    return model


def read_compiled(path, custom_objects=None):
    """Reads a compiled model from an `.h5` file, with losses, metrics and optimizer.

    Raises:
        ValueError: the model was saved before `compile`.
    """
    model, state = read_model(path, custom_objects), []
    with h5py.File(path) as file:
        if "training_config" not in file.attrs:
            raise ValueError(f"{path} was saved before `compile`: use `read_model`")
        training = json.loads(file.attrs["training_config"])
        if "optimizer_weights" in file:  # missing before the first step
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
    """Deserializes losses or metrics of a file, given by name or as configurations."""
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
    """Reads {name of a variable in TensorFlow 1: value} from a checkpoint of a model.

    The name of a slot has the names of the optimizer, the variable and the slot:
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
    """Assigns values of `read_checkpoint` to a model, by names of layers and weights.

    Args:
        model: a model whose layers have the old names.
        values: {name: value}.
        optimizer: name of the old optimizer, such as "training/Adam", to assign its
            state, too.

    Raises:
        KeyError: a value is missing.
        ValueError: a value has another shape. Both are raised before any assignment.
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
            shapes = f"{np.shape(values[name])} in the file, not {variable.shape}"
            raise ValueError(f"{name} has the shape {shapes}")
    for name, variable in found:
        variable.assign(values[name])

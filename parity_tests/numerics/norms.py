"""Layer, instance and group normalization of contrib: see the topic contrib_norms."""

DESCRIPTORS = {
    "LayerNorm": "contrib_norms.make_layer_norm",
    "InstanceNorm": "contrib_norms.make_instance_norm",
    "GroupNorm": "contrib_norms.make_group_norm",
}

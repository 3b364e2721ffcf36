"""The modules of canned estimators: the pairs of `canned_estimators` prove them."""

DESCRIPTORS = {
    "classifier_head": "canned_estimators.evaluate",
    "BinaryHead": "canned_estimators.evaluate",
    "MultiClassHead": "canned_estimators.evaluate",
    "RegressionHead": "canned_estimators.evaluate",
    "Linear": "canned_estimators.linear_classifier",
    "DNN": "canned_estimators.dnn_classifier",
    "Baseline": "canned_estimators.baseline_classifier",
    "Estimator": "canned_estimators.linear_classifier",
}

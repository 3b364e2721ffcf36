"""What canned estimators are made of: the pairs of `canned_estimators` prove it."""

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

"""Scores of scikit-learn and scipy for predictions of many kinds. Usage: make_reference.py OUTPUT.json

Each case has its predictions and references, and by metric and options what `evaluate` would return, whose metrics call these
functions. NaN is written as null, infinity as a text.
"""

import math
import os
import sys
import warnings

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    precision_score,
    recall_score,
)

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import write_reference  # noqa: E402

TOLERANCE = 1e-13  # correlations are sums of products, in the order of the vector unit
FRACTIONS = {"f1": f1_score, "precision": precision_score, "recall": recall_score}
AVERAGES = ("binary", "micro", "macro", "weighted", None)


def integers(seed, size, limit):
    """Numbers below `limit` that do not depend on a library's generator."""
    state, numbers = seed, []
    for _ in range(size):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((state >> 33) % limit)
    return numbers


def class_cases():
    yield "two classes", integers(1, 30, 2), integers(2, 30, 2)
    yield "all right", [0, 1, 1, 0], [0, 1, 1, 0]
    yield "all wrong", [1, 0, 0, 1], [0, 1, 1, 0]
    yield "one sample, right", [1], [1]
    yield "one sample, wrong", [0], [1]
    yield "one class", [0, 0, 0], [0, 0, 0]
    yield "one class, not 0 or 1", [3, 3], [3, 3]
    yield "never predicted", [0, 0, 0, 0], [0, 1, 0, 1]
    yield "never right", [0, 1, 0, 1], [0, 0, 0, 0]
    yield "a class predicted only", [0, 2, 0, 2], [0, 0, 1, 1]
    yield "negative labels", [-1, 1, -1, 1, 1], [-1, -1, 1, 1, 1]
    yield "three classes", integers(3, 50, 3), integers(4, 50, 3)
    yield "seven classes", integers(5, 200, 7), integers(6, 200, 7)
    yield "forty classes", integers(7, 500, 40), integers(8, 500, 40)
    yield "three hundred classes", integers(9, 2000, 300), integers(10, 2000, 300)
    yield "large labels", [10**12, 5, 10**12], [10**12, 10**12, 5]


def value_cases():
    x = [number / 1000 - 0.5 for number in integers(11, 100, 1000)]
    y = [a + number / 2000 for a, number in zip(x, integers(12, 100, 1000))]
    yield "a hundred numbers", x, y
    yield "many numbers", [n / 7 for n in integers(13, 5000, 10000)], [n / 3 for n in integers(14, 5000, 10000)]
    yield "ties", [n / 2 for n in integers(15, 60, 5)], [n / 4 for n in integers(16, 60, 4)]
    yield "two samples", [1.0, 2.0], [3.0, 7.0]
    yield "two samples, against each other", [1.0, 2.0], [7.0, 3.0]
    yield "a line", [1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0]
    yield "a falling line", [1.0, 2.0, 3.0, 4.0], [8.0, 6.0, 4.0, 2.0]
    yield "constant predictions", [1.0, 1.0, 1.0], [1.0, 2.0, 3.0]
    yield "constant references", [1.0, 2.0, 3.0], [0.5, 0.5, 0.5]
    yield "far from zero", [1e6 + a for a in x], y
    yield "very large", [a * 1e200 for a in x], [b * 1e-200 for b in y]
    yield "one sample", [1.5], [2.0]


def number(value):
    return None if math.isnan(value) else "inf" if math.isinf(value) else float(value)


def numbers(value):
    return [number(v) for v in value] if isinstance(value, np.ndarray) else number(value)


def fractions(predictions, references):
    """By the options given: each fraction, or why there is none."""
    classes = sorted(set(predictions) | set(references))
    some = classes[:2] + [99]
    results = []
    for average in AVERAGES[:-1] if len(classes) > 10 else AVERAGES:
        for labels in ([],) if average == "binary" else ([], some):
            for zero_division in (0.0, 1.0, math.nan):
                for pos_label in (0, 1) if average == "binary" else (1,):
                    options = {"average": average, "zero_division": zero_division, "pos_label": pos_label}
                    scores = {}
                    for name, function in FRACTIONS.items():
                        try:
                            scores[name] = numbers(function(references, predictions, labels=labels or None, **options))
                        except ValueError:
                            scores[name] = "error"
                    options["zero_division"] = number(zero_division)
                    results.append({"options": options | {"labels": labels}, "scores": scores})
    return results


def of_classes(name, predictions, references):
    return {
        "name": name,
        "predictions": predictions,
        "references": references,
        "accuracy": accuracy_score(references, predictions),
        "right": float(accuracy_score(references, predictions, normalize=False)),
        "matthews_correlation": matthews_corrcoef(references, predictions),
        "fractions": fractions(predictions, references),
    }


def of_values(name, predictions, references):
    mse = mean_squared_error(references, predictions)
    return {
        "name": name,
        "predictions": predictions,
        "references": references,
        "pearsonr": "error" if len(predictions) < 2 else number(pearsonr(references, predictions)[0]),
        "spearmanr": number(spearmanr(references, predictions)[0]),
        "mse": number(mse),
        "rmse": number(math.sqrt(mse)),
        "mae": float(mean_absolute_error(references, predictions)),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_reference(
        {
            "tolerance": TOLERANCE,
            "classes": [of_classes(*case) for case in class_cases()],
            "values": [of_values(*case) for case in value_cases()],
        }
    )

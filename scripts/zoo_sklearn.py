"""The models of the zoo that skl2onnx exports: fitted to random numbers, with tensors alone as inputs and outputs."""

from functools import partial

import numpy as np
from skl2onnx import to_onnx
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

OPSETS = {"": 18, "ai.onnx.ml": 3}
FEATURES = 6


def data(classes, dtype):
    """Points of a dtype and what is to be said of them: numbers, or one of so many classes. Integers are spread, so that not most are 0."""
    random = np.random.default_rng(0)
    x = random.normal(size=(120, FEATURES)).astype(np.float32)
    if np.issubdtype(dtype, np.integer):
        x *= 4
    x = x.astype(dtype)
    y = x @ random.normal(size=FEATURES) + 0.1 * random.normal(size=len(x))
    if classes:
        y = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
    return x, y


PIPELINES = {
    "scaler_logistic": (2, make_pipeline(StandardScaler(), LogisticRegression())),
    "scaler_logistic_3": (3, make_pipeline(StandardScaler(), LogisticRegression())),
    "linear": (0, make_pipeline(MinMaxScaler(), LinearRegression())),
    "poly_ridge": (0, make_pipeline(RobustScaler(), PolynomialFeatures(2), Ridge())),
    "pca_ridge": (0, make_pipeline(StandardScaler(), PCA(3), Ridge())),
    "normalizer_mlp": (3, make_pipeline(Normalizer(), MLPClassifier((8,), max_iter=30, random_state=0))),
    "mlp": (0, make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(8, 8), max_iter=30, random_state=0))),
    "tree": (3, DecisionTreeClassifier(max_depth=4, random_state=0)),
    "tree_numbers": (0, DecisionTreeRegressor(max_depth=4, random_state=0)),
    "forest": (3, RandomForestClassifier(8, max_depth=4, random_state=0)),
    "forest_numbers": (0, RandomForestRegressor(8, max_depth=4, random_state=0)),
    "boosting": (0, GradientBoostingRegressor(n_estimators=10, max_depth=3, random_state=0)),
    "kmeans": (0, KMeans(4, n_init=1, random_state=0)),
    "neighbours": (0, KNeighborsRegressor(3)),
    "svr": (0, make_pipeline(StandardScaler(), SVR())),
}


# Exported once more, for features of other dtypes. Those are left out whose export declares other types than its operators give.
OTHERS = {
    np.int64: ["scaler_logistic", "scaler_logistic_3", "poly_ridge", "normalizer_mlp", "forest", "forest_numbers", "svr"],
    np.float64: ["scaler_logistic_3", "mlp", "forest", "kmeans"],
}


def write(pipeline, classes, dtype, file):
    """Fits a pipeline and exports it. A map of probabilities by class is no tensor, so there is none."""
    x, y = data(classes, dtype)
    pipeline.fit(x, y)
    options = {"zipmap": False} if classes else None
    file.write_bytes(to_onnx(pipeline, x[:1], target_opset=OPSETS, options=options).SerializeToString(deterministic=True))


def exports():
    """Names, and what writes each to a file."""
    for name, (classes, pipeline) in PIPELINES.items():
        yield f"sklearn_{name}", partial(write, pipeline, classes, np.float32)
    for dtype, names in OTHERS.items():
        for name in names:
            classes, pipeline = PIPELINES[name]
            yield f"sklearn_{name}_{np.dtype(dtype).name}", partial(write, pipeline, classes, dtype)

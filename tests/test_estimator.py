"""The scikit-learn estimator."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import strod
from strod.datasets.planted import Planted, plant, recovery_error
from strod.estimator import TopicHierarchy
from strod.extras import install
from strod.model.options import TreeOptions
from strod.values.topic import walk
from tests.planted_text import PARENTS, planted_texts
from tests.tree.helpers import grow_matrix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PICKED = [3, 0, 700, 41]


@parametrize_with_checks([  # type: ignore[untyped-decorator]
    TopicHierarchy(),
    TopicHierarchy(children=2, thin=0, clip=0, n_jobs=2),
])  # fmt: skip
def test_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def planted() -> Planted:
    return plant(1, documents=4_000, children=3, words=600)


@pytest.fixture(scope="module")
def model(planted: Planted) -> TopicHierarchy:
    return TopicHierarchy(children=3).fit(planted.counts)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return planted_texts(600)


@pytest.fixture(scope="module")
def reader(texts: list[str]) -> TopicHierarchy:
    return TopicHierarchy(children=3).fit(texts)


def level(model: TopicHierarchy, number: int) -> list[int]:
    return [i for i, topic in enumerate(model.topics_) if topic.level == number]


# The tree


def test_finds_the_planted_tree(model: TopicHierarchy, planted: Planted) -> None:
    assert recovery_error(model.components_[level(model, 1)], planted.parents) < 0.35
    assert recovery_error(model.components_[level(model, 2)], planted.leaves) < 0.4
    assert model.components_.shape == (12, 600)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_is_the_tree_of_strod(model: TopicHierarchy, planted: Planted) -> None:
    tree, _ = grow_matrix(planted.counts, TreeOptions(children=3))
    names = [name for _, name in walk(tree.nodes)][1:]
    expected = np.stack([tree.nodes[name].words for name in names])
    np.testing.assert_array_equal(model.components_, expected)
    weights = [tree.nodes[name].weight for name in names]
    assert [topic.weight for topic in model.topics_] == weights


def test_topics_are_in_the_order_of_their_paths(model: TopicHierarchy) -> None:
    names = model.get_feature_names_out().tolist()
    assert names[:4] == ["o/1", "o/2", "o/3", "o/1/1"]
    assert [topic.path for topic in model.topics_] == names
    assert model.topics_[3].parent == "o/1"
    assert model.topics_[0].parent == "o"
    weights = [topic.weight for topic in model.topics_]
    assert weights[0] >= weights[1] >= weights[2]


def test_columns_have_no_names_in_a_matrix(model: TopicHierarchy) -> None:
    topic = model.topics_[0]
    assert len(topic.columns) == 20
    assert topic.words == ()
    assert model.words_ is None


# Shares


def test_children_add_up_to_their_parent(model: TopicHierarchy, planted: Planted) -> None:
    shares = model.transform(planted.counts)
    assert shares.shape == (4_000, 12)
    np.testing.assert_allclose(shares[:, level(model, 1)].sum(axis=1), 1, atol=1e-6)
    for i in level(model, 1):
        path = model.topics_[i].path
        below = [j for j, topic in enumerate(model.topics_) if topic.parent == path]
        np.testing.assert_allclose(shares[:, below].sum(axis=1), shares[:, i], atol=1e-6)
    np.testing.assert_allclose(shares.mean(axis=0), [t.weight for t in model.topics_], atol=1e-9)


def test_transform_is_fit_transform(model: TopicHierarchy, planted: Planted) -> None:
    both = clone(model).fit_transform(planted.counts)
    np.testing.assert_array_equal(model.transform(planted.counts), both)


def test_batches_do_not_matter(model: TopicHierarchy, planted: Planted) -> None:
    whole = model.transform(planted.counts)
    parts = [model.transform(planted.counts[i : i + 999]) for i in range(0, 4_000, 999)]
    np.testing.assert_array_equal(np.vstack(parts), whole)
    one_by_one = [model.transform(planted.counts[i : i + 1])[0] for i in PICKED]
    np.testing.assert_array_equal(one_by_one, whole[PICKED])


def test_many_shards(
    model: TopicHierarchy, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = model.transform(planted.counts)
    monkeypatch.setattr("strod.tree.matrix.SHARD", 700)
    threads = clone(model).set_params(n_jobs=3).fit(planted.counts)
    np.testing.assert_allclose(threads.transform(planted.counts), whole, atol=1e-3)
    alone = clone(model).fit(planted.counts)
    np.testing.assert_array_equal(
        threads.transform(planted.counts), alone.transform(planted.counts)
    )


@pytest.mark.parametrize("kind", ["dense", "in two parts", "unsorted", "float32", "pickled"])
def test_the_form_of_the_matrix_does_not_matter(
    model: TopicHierarchy, planted: Planted, kind: str
) -> None:
    some = planted.counts[:50].copy()
    expected = model.transform(some)
    given: Any = some
    if kind == "dense":
        given = some.toarray()
    elif kind == "in two parts":  # every count c as c - 1 and 1: zeros, twice the same column
        parts = np.stack([some.data - 1, np.ones_like(some.data)], axis=1).ravel()
        given = csr_array((parts, some.indices.repeat(2), 2 * some.indptr), shape=some.shape)
    elif kind == "unsorted":
        ends = np.repeat(some.indptr[1:] + some.indptr[:-1] - 1, np.diff(some.indptr))
        order = ends - np.arange(some.nnz)
        given = csr_array((some.data[order], some.indices[order], some.indptr), shape=some.shape)
    elif kind == "float32":
        given = some.astype(np.float32)
    elif kind == "pickled":
        model = pickle.loads(pickle.dumps(model))
    before = pickle.dumps(given)
    np.testing.assert_array_equal(model.transform(given), expected)
    assert pickle.dumps(given) == before


def test_empty_rows_get_the_weights(model: TopicHierarchy) -> None:
    shares = model.transform(csr_array((2, 600)))
    np.testing.assert_array_equal(shares[0], shares[1])
    np.testing.assert_allclose(shares[0], [t.weight for t in model.topics_], atol=0.05)


def test_empty_rows_do_no_harm(model: TopicHierarchy, planted: Planted) -> None:
    padded = vstack([planted.counts, csr_array((100, 600))]).tocsr()
    words = clone(model).fit(padded).components_
    assert recovery_error(words, model.components_) < 1e-6


def test_predict_goes_down_the_largest_child(model: TopicHierarchy, planted: Planted) -> None:
    shares, leaves = model.transform(planted.counts), model.predict(planted.counts)
    names = model.get_feature_names_out()
    assert set(leaves) <= set(level(model, 2))
    for row in PICKED:
        parent = names[shares[row, level(model, 1)].argmax()]
        below = [i for i, topic in enumerate(model.topics_) if topic.parent == parent]
        assert leaves[row] == below[int(shares[row, below].argmax())]


# Values


def test_fractional_counts_find_the_tree_too(model: TopicHierarchy, planted: Planted) -> None:
    half = clone(model).fit(planted.counts * 0.5)
    assert recovery_error(half.components_[level(half, 1)], planted.parents) < 0.35
    np.testing.assert_allclose(half.tree_.nodes["o"].words.sum(), 1)


def test_weights_of_a_sensible_scale(model: TopicHierarchy, planted: Planted) -> None:
    weights = TfidfTransformer().fit_transform(planted.counts)
    scaled = clone(model).fit(weights * 8)
    assert recovery_error(scaled.components_[level(scaled, 1)], planted.parents) < 0.5


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 0.02, 0.1, 0.3, 1.5, 1e9, 1e30])
@pytest.mark.parametrize("clip", [0, 3])
def test_any_scale_gives_numbers(planted: Planted, scale: float, clip: int) -> None:
    model = TopicHierarchy(children=3, clip=clip)
    shares = model.fit_transform(planted.counts[:300] * scale)
    assert np.isfinite(shares).all()
    assert np.isfinite(model.components_).all()


def test_rows_that_sum_to_one_stay_a_root(model: TopicHierarchy, planted: Planted) -> None:
    rows = planted.counts / planted.counts.sum(axis=1)[:, None]
    assert clone(model).fit_transform(rows).shape == (4_000, 1)


def test_negative_values_are_refused(model: TopicHierarchy, planted: Planted) -> None:
    for method in (clone(model).fit, model.transform, model.predict):
        with pytest.raises(ValueError, match="Negative values"):
            method(-planted.counts)


@pytest.mark.parametrize(
    "table", [[[1, 2], [3, 4]], [[0, 0], [0, 0]], [[5]], np.ones((30, 1)), np.eye(30)]
)
def test_what_cannot_be_split_is_a_root(table: Any) -> None:
    model = TopicHierarchy()
    np.testing.assert_array_equal(model.fit_transform(table), np.ones((len(table), 1)))
    assert model.get_feature_names_out().tolist() == ["o"]
    assert model.predict(table).tolist() == [0] * len(table)
    assert model.topics_[0][:4] == ("o", "", 0, 1.0)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_height_zero_is_a_root(planted: Planted) -> None:
    assert TopicHierarchy(height=0).fit_transform(planted.counts[:20]).shape == (20, 1)


# Parameters


def test_parameters_are_only_stored() -> None:
    model = TopicHierarchy(children=-1, random_state=None)
    assert clone(model).get_params()["children"] == -1
    assert model.set_params(children=4).children == 4
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("children", 1),
        ("children", "many"),
        ("height", -1),
        ("alpha0", 0),
        ("polish", 2.5),
        ("random_state", -1),
        ("random_state", "x"),
        ("n_jobs", 0),
    ],
)
def test_bad_parameters_are_value_errors(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"^[^-]") as caught:
        TopicHierarchy(**{name: value}).fit(np.ones((3, 3)))
    assert "--" not in str(caught.value)


def test_numpy_parameters(planted: Planted) -> None:
    grid = {"children": np.array([2, 3]), "height": np.array([1]), "lookahead": np.array([True])}
    for chosen in ParameterGrid(grid):
        model = TopicHierarchy(**chosen).fit(planted.counts[:500])
        assert len(model.topics_) == chosen["children"]


@pytest.mark.parametrize("state", [0, np.int64(7), None, np.random.RandomState(1)])
def test_random_states(planted: Planted, state: Any) -> None:
    model = TopicHierarchy(children=3, height=1, random_state=state).fit(planted.counts)
    assert recovery_error(model.components_, planted.parents) < 0.35


def test_later_parameters_do_not_change_a_fitted_tree(
    model: TopicHierarchy, planted: Planted
) -> None:
    copy = pickle.loads(pickle.dumps(model)).set_params(clip=1, thin=0.1, language="xx", height=5)
    some = planted.counts[:20] * 3
    np.testing.assert_array_equal(copy.transform(some), model.transform(some))


def test_tags() -> None:
    tags = get_tags(TopicHierarchy()).input_tags
    assert tags.sparse
    assert tags.positive_only
    assert tags.string


def test_not_fitted() -> None:
    for method in (TopicHierarchy().transform, TopicHierarchy().predict):
        with pytest.raises(NotFittedError):
            method([[1]])
    with pytest.raises(NotFittedError):
        TopicHierarchy().get_feature_names_out()


# Texts


def test_texts(reader: TopicHierarchy, texts: list[str]) -> None:
    assert len(reader.topics_) == 12
    stems = {topic.words[0][:5] for topic in reader.topics_[:3]}
    assert stems == set(PARENTS)
    assert reader.words_ is not None
    assert reader.components_.shape[1] == len(reader.words_) == reader.n_features_in_
    shares = reader.transform(texts)
    np.testing.assert_array_equal(clone(reader).fit_transform(iter(texts)), shares)
    np.testing.assert_array_equal(reader.transform(np.array(texts[:9])), shares[:9])
    np.testing.assert_array_equal(
        np.vstack([reader.transform(texts[i : i + 1]) for i in range(9)]), shares[:9]
    )


def test_texts_have_the_tree_of_build(
    reader: TopicHierarchy, texts: list[str], tmp_path: Path
) -> None:
    tree = strod.build(texts, out=tmp_path / "w", children=3, phrases=False).tree
    expected = np.stack([tree[topic.path].distribution for topic in reader.topics_])
    np.testing.assert_array_equal(reader.components_, expected)
    best = [[word for word, _ in tree[topic.path].words] for topic in reader.topics_]
    assert [list(topic.words) for topic in reader.topics_] == best


def test_texts_without_words(reader: TopicHierarchy, texts: list[str]) -> None:
    new = ["", texts[3], "  ", "unheard of", "12 13", texts[5], "\ud800"]
    shares = reader.transform(new)
    known = reader.transform([texts[3], texts[5]])
    np.testing.assert_array_equal(shares[[1, 5]], known)
    nothing = reader.transform(csr_array((1, reader.n_features_in_)))
    for row in (0, 2, 3, 4, 6):
        np.testing.assert_array_equal(shares[row], nothing[0])
    np.testing.assert_array_equal(reader.transform([""]), nothing)


def test_texts_or_a_matrix(
    reader: TopicHierarchy, model: TopicHierarchy, texts: list[str], planted: Planted
) -> None:
    with pytest.raises(ValueError, match="fitted on a matrix"):
        model.transform(texts)
    with pytest.raises(ValueError, match="features"):
        reader.transform(planted.counts)
    with pytest.raises(ValueError, match="single string"):
        clone(reader).fit("a text")
    with pytest.raises(ValueError, match="item 1 is no string"):
        clone(reader).fit(["a text", None])
    with pytest.raises(ValueError, match="no word is left"):
        clone(reader).fit(["the", "of"])
    with pytest.raises(ValueError, match="language"):
        clone(reader).set_params(language="xx").fit(texts)
    again = pickle.loads(pickle.dumps(reader)).fit(planted.counts)
    assert again.vocabulary_ is None
    assert again.words_ is None


def test_few_texts() -> None:
    shares = TopicHierarchy().fit_transform(["Topics of text", "Trees of topics"])
    np.testing.assert_array_equal(shares, np.ones((2, 1)))


# Company


def test_pipeline(texts: list[str]) -> None:
    pipeline = make_pipeline(CountVectorizer(), TopicHierarchy(children=3))
    shares = pipeline.fit_transform(texts)
    np.testing.assert_array_equal(pipeline.transform(texts), shares)
    names = pipeline[0].get_feature_names_out()
    stems = {names[topic.columns[0]][:5] for topic in pipeline[-1].topics_[:3]}
    assert stems == set(PARENTS)
    assert pipeline.get_feature_names_out()[0] == "o/1"
    assert pipeline.predict(texts[:5]).shape == (5,)


def test_pandas(model: TopicHierarchy, planted: Planted, texts: list[str]) -> None:
    pandas = pytest.importorskip("pandas")
    names = [f"word{i}" for i in range(600)]
    frame = pandas.DataFrame(planted.counts.toarray(), columns=names)
    named = clone(model).set_output(transform="pandas").fit(frame)
    shares = named.transform(frame)
    assert shares.columns.tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(shares.to_numpy(), model.transform(planted.counts))
    topic = named.topics_[0]
    assert topic.words == tuple(names[column] for column in topic.columns)
    series = pandas.Series(texts[:300], index=range(7, 307))
    found = TopicHierarchy(children=3).set_output(transform="pandas").fit_transform(series)
    assert found.index.tolist() == series.index.tolist()


def test_the_same_in_another_process(model: TopicHierarchy, planted: Planted) -> None:
    code = (
        "import sys; from strod.estimator import TopicHierarchy as T;"
        "from strod.datasets.planted import plant;"
        "X = plant(1, documents=4_000, children=3, words=600).counts;"
        "sys.stdout.buffer.write(T(children=3, n_jobs=2).fit_transform(X).tobytes())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert run.stdout == model.transform(planted.counts).tobytes()


def test_without_scikit_learn() -> None:
    code = "import sys; sys.modules['sklearn'] = None\nimport strod.estimator"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: strod.TopicHierarchy needs scikit-learn")
    assert last.endswith(install("sklearn"))
    assert run.stderr.count("Traceback") == 1


def test_strod_does_not_import_scikit_learn() -> None:
    code = "import sys, strod; strod.build; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

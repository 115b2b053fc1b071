"""Models as bytes and in open files, and the version that a pickle keeps."""

import contextlib
import io
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import linear_model, metrics, model_selection, neural_network
from sklearn.exceptions import InconsistentVersionWarning

import perceptron_rs
from perceptron_rs import MultilayerPerceptron, Perceptron, VotedPerceptron, load, load_predictor
from perceptron_rs.engines import get_engine

FULL = Path("/dev/full")
X, Y = np.array([[1.0, 0], [0, 1], [2, 1]]), ["a", "b", "a"]


def test_models_are_written_to_and_read_from_bytes_and_files(tmp_path):
    model, file = Perceptron().fit(X, Y), io.BytesIO()
    assert model.save(tmp_path / "m") is None
    assert model.save(file) is None
    data = (tmp_path / "m").read_bytes()
    assert model.save() == file.getvalue() == data
    file.seek(0)
    with (tmp_path / "m").open("rb") as opened:
        for source in (data, bytearray(data), memoryview(data), file, opened):
            assert load(source).save() == data
    assert load_predictor(data).predict(X).tolist() == Y


class Slow(io.RawIOBase):
    """A file without a buffer, which takes some bytes at a time, and no more than it has room for."""

    def __init__(self, room):
        self.data, self.room = b"", room

    def writable(self):
        return True

    def write(self, data):
        taken = bytes(data)[: min(7, self.room - len(self.data))]
        self.data += taken
        return len(taken) or None


def test_a_file_without_a_buffer_gets_all_or_an_error():
    model, file, full = Perceptron().fit(X, Y), Slow(10**6), Slow(30)
    model.save(file)
    assert file.data == model.save()
    with pytest.raises(BlockingIOError, match="takes no more, so what is in it is no model"):
        model.save(full)
    with pytest.raises(TypeError, match="path must be a file that is open in binary mode"):
        model.save(io.StringIO())


@pytest.mark.skipif(not FULL.exists(), reason="this system has no disk that is always full")
def test_a_full_disk_is_told_of_by_save():
    file = FULL.open("wb")  # to close it fails, too
    with pytest.raises(OSError, match="No space left"):
        Perceptron().fit(X, Y).save(file)
    with contextlib.suppress(OSError):
        file.close()


@pytest.mark.parametrize("read", [load, load_predictor])
def test_what_is_no_model_is_refused_alike(read):
    with pytest.raises(ValueError, match=r"cannot load 4 bytes: it has 4 bytes"):
        read(b"none")
    with pytest.raises(TypeError, match="open in binary mode, got one of text; open it with 'rb'"):
        read(io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(TypeError, match="got int"):
        read(3)


@pytest.mark.parametrize("kind", ["estimator", "predictor"])
def test_a_pickle_of_another_version_warns_as_scikit_learns_do(kind, monkeypatch):
    model = Perceptron().fit(X, Y)
    model = model if kind == "estimator" else load_predictor(model.save())
    data = pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(data).predict(X).tolist() == Y
    monkeypatch.setattr("perceptron_rs.prediction.predictor.__version__", "99.0")
    said = f"{perceptron_rs.__version__} when using version 99.0"
    with pytest.warns(InconsistentVersionWarning, match=said):
        assert pickle.loads(data).predict(X).tolist() == Y


def test_logarithms_are_where_probabilities_are():
    voted = VotedPerceptron(prediction="vote").fit(X, Y)
    for model in (voted, load_predictor(voted.save()), MultilayerPerceptron(max_iter=5, tol=None).fit(X, Y)):
        found = model.predict_proba(X)
        logarithms = get_engine("reference").elementary(found.reshape(-1), function="log")
        assert model.predict_log_proba(X).tobytes() == logarithms.tobytes()
    assert not hasattr(VotedPerceptron(prediction="average").fit(X, Y), "predict_log_proba")


def test_names_of_scikit_learn_stay_its_own():
    theirs = {*linear_model.__all__, *metrics.__all__, *model_selection.__all__, *neural_network.__all__}
    assert theirs & set(perceptron_rs.__all__) == {"Perceptron"}
    assert perceptron_rs.LeaveOneOut is not model_selection.LeaveOneOut

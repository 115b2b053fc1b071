"""Texts, by whole processes: time and accuracy beside fastText and scikit-learn, and the memory of a pipe.

The texts are the words of 20 Newsgroups and of SpamAssassin's mail, drawn from their counts, and 46,000
sentences of the Brown corpus in 15 genres, in the folder named by PERCEPTRON_RS_DATA: one thread, unigrams.
Epochs, and what else may be chosen, are those of the most right answers on every tenth text of the training,
held out, of both alike: --choose tries them all (minutes), and the constants below are what came out. With
--choose also come the sizes and accuracies of files that ``--dtype`` and ``--prune`` make, and ``quantize``
of fastText, run by the Python that PERCEPTRON_RS_FASTTEXT names (`pip install fasttext-numpy2-wheel`).

A table of 100,000 rows has two texts of those sentences, three categories, four numbers, and four classes of
genres; every fifth row, of other sentences, is held out. scikit-learn learns from it by a
``ColumnTransformer`` and ``SGDClassifier``. Then a million short texts come through a pipe to
``train --stream``. Figures: the processor time of the other process beside ours (training and a test), and
the peak memory of what reads the pipe beside 300 MB.

    PERCEPTRON_RS_DATA=folder PERCEPTRON_RS_FASTTEXT=python python benches/words.py [--choose] [--write]
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import bars
import data
import numpy as np

USUAL = ("--tol", "none", "--keep-words", "0", "--quiet")
#: What --choose came to, with the fewest epochs: 0.927, 0.996 and 0.530 of the held-out texts are right.
OURS = dict.fromkeys(("news", "mail"), ("--tf-idf", "--binary", "--epochs", "5"))
OURS["genres"] = ("--tf-idf", "--epochs", "10")
OUR_TRIES = [
    (*weights, "--epochs", epochs)
    for weights in (("--tf-idf",), ("--tf-idf", "--binary"))
    for epochs in ("5", "10", "20")
]
#: Epochs and rate of fastText: 0.888, 0.991 and 0.492.
PEER = {"news": (25, 0.5), "mail": (5, 1.0), "genres": (10, 0.5)}
PEER_TRIES = [(epochs, rate) for rate in (0.5, 1.0) for epochs in (5, 10, 25)]
FASTTEXT = """
import fasttext, json, os, sys
train, test, epochs, rate, *small = sys.argv[1:]
options = {"input": train, "epoch": int(epochs), "lr": float(rate), "thread": 1, "verbose": 0}
model = fasttext.train_supervised(bucket=0, **options)
found = {"accuracy": model.test(test)[1], "sizes": []}
if small:
    model.save_model(small[0] + ".whole")
for cutoff in small and (0, 20000, 2000):
    model = fasttext.load_model(small[0] + ".whole")
    model.quantize(qnorm=True, retrain=cutoff > 0, cutoff=cutoff, **options)
    model.save_model(small[0])
    found["sizes"].append((cutoff, os.path.getsize(small[0]), model.test(test)[1]))
print(json.dumps(found))
"""
#: How scikit-learn learns from the table.
SGD = """
import sys
import numpy, pandas
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

table = pandas.read_csv(sys.argv[1])
kinds, held = table.pop("kind"), numpy.arange(len(table)) % 5 == 4
columns = [(name, HashingVectorizer(n_features=2**18), name) for name in ("title", "body")]
columns += [("categories", OneHotEncoder(handle_unknown="ignore"), ["shop", "city", "seller"])]
columns += [("numbers", StandardScaler(), ["age", "price", "count", "share"])]
model = make_pipeline(ColumnTransformer(columns), SGDClassifier(random_state=0))
print(model.fit(table[~held], kinds[~held]).score(table[held], kinds[held]))
"""
ROWS, TRAINED = 100_000, 46_000
#: The classes of the table.
KINDS = {"press": "news editorial reviews", "general": "religion hobbies lore belles_lettres"}
KINDS |= {"learned": "government learned", "tale": "fiction mystery science_fiction adventure romance humor"}
#: Of the news, as in the guide.
SMALLER = (
    (),
    ("--dtype", "float16"),
    ("--dtype", "float16", "--prune", "0.19"),
    ("--dtype", "float16", "--prune", "0.62"),
)
TEXTS, BAR = 1_000_000, 300 * 1024


def of_counts(rows):
    """Give texts of words as often as they are counted, in a drawn order."""
    random = np.random.default_rng(data.SEED)
    for words, counts in rows:
        drawn = random.permutation(np.repeat(words, counts.astype(int))).tolist()
        yield " ".join(f"w{word}" for word in drawn)


def texts(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the files of texts to learn from and to test, as fastText has them."""
    found = []
    for part in ("train", "test"):
        if name == "genres":
            sentences, labels = data.brown()
            order = np.random.default_rng(data.SEED).permutation(len(labels))
            order = order[:TRAINED] if part == "train" else order[TRAINED:]
            drawn = [sentences[i] for i in order]
        elif name == "news":
            with np.load(data.folder() / "news20.npz") as parts:
                labels = parts[f"{part}_y"]
                arrays = [parts[f"{part}_{array}"] for array in ("indices", "data")]
                ends = parts[f"{part}_indptr"][1:-1]
            rows = list(zip(*(np.split(array, ends) for array in arrays), strict=True))
        else:
            lines = gzip.decompress((data.folder() / f"spam.{part}.svm.gz").read_bytes()).decode()
            pairs = [line.split() for line in lines.splitlines()]
            labels = np.array([pair[0] for pair in pairs])
            entries = [np.array([entry.split(":") for entry in pair[1:]], dtype=float) for pair in pairs]
            rows = [(entry.reshape(-1, 2)[:, 0].astype(int), entry.reshape(-1, 2)[:, 1]) for entry in entries]
        if name != "genres":
            order = np.random.default_rng(data.SEED).permutation(len(labels))
            drawn = of_counts(rows[i] for i in order)
        found.append(folder / f"{name}.{part}.ft")
        lines = (f"__label__{label} {text}\n" for label, text in zip(labels[order], drawn, strict=True))
        found[-1].write_text("".join(lines))
    return found[0], found[1]


def table(path: Path) -> None:
    """Write the table: what tells the class is the sentences, a third of the categories, numbers a little."""
    random, (sentences, genres) = np.random.default_rng(data.SEED), data.brown()
    is_held = random.random(len(genres)) < 0.2
    own = [np.isin(genres, names.split()) for names in KINDS.values()]
    pools = [[np.flatnonzero(one & (is_held == held)) for one in own] for held in (False, True)]
    classes = random.integers(0, len(KINDS), ROWS).tolist()
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(
            [*("title", "body", "shop", "city", "seller", "age", "price", "count", "share", "kind")]
        )
        for i, k in enumerate(classes):
            title, *body = (sentences[j] for j in random.choice(pools[i % 5 == 4][k], 4))
            near = [int(random.integers(0, n) * 0.25 + k * n / 4) for n in (8, 40, 1000)]
            codes = [
                own if random.random() < 0.3 else int(random.integers(0, n))
                for own, n in zip(near, (8, 40, 1000), strict=True)
            ]
            numbers = [random.normal(40 + 2 * k, 10), np.exp(random.normal(3 + k / 10, 1)), random.random()]
            age, price, share = (round(float(number), 2) for number in numbers)
            codes = [f"{name}{code}" for name, code in zip("abc", codes, strict=True)]
            words = [" ".join(title.split()[:8]), " ".join(body)]
            rows.writerow([*words, *codes, age, price, int(random.poisson(3 + k / 4)), share, list(KINDS)[k]])


#: Modules are compiled once, as where they are installed.
environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(*command: object) -> tuple[float, str]:
    """Return the processor time of a process, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = {"check": True, "capture_output": True, "text": True, "env": environment}
    said = subprocess.run(list(map(str, command)), **options).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def ours(train: Path, test: Path, model: Path, *options: object) -> tuple[float, float]:
    """Return the time of training and of a test, and the accuracy."""
    program = (sys.executable, "-m", "perceptron_rs")
    learning, _ = seconds(*program, "train", "averaged", train, *USUAL, *options, "--model", model)
    testing, said = seconds(*program, "evaluate", model, test, "--json")
    return learning + testing, json.loads(said)["accuracy"]


def beside_sgd(folder: Path, figures: bars.Figures) -> None:
    """Learn from the table, as scikit-learn does."""
    path, out = folder / "table.csv", folder / "table.model"
    table(path)
    options = ("--text-columns", "title,body", "--scale", "maxabs", "--epochs", "5", "--holdout", "0.2")
    command = (sys.executable, "-m", "perceptron_rs", "train", "averaged", path, *options, *USUAL, "--json")
    seconds(*command, "--model", out)  # compiles
    own, said = seconds(*command, "--model", out)
    other, score = seconds(sys.executable, "-c", SGD, path)
    accuracy = json.loads(said)["holdout"]["accuracy"]
    more = {"accuracy": accuracy, "accuracy of scikit-learn": float(score), "seconds": own}
    print(
        f"table: ours {own:.1f} s, accuracy {accuracy:.4f}; scikit-learn {other:.1f} s, {float(score):.4f};",
        end=" ",
    )
    print(figures.hold("scikit-learn beside ours, table", other / own, **more), flush=True)


def fasttext(peer: str, train: Path, test: Path, *settings: object) -> tuple[float, dict]:
    """Return the time of fastText's process, and what it says of itself."""
    spent, said = seconds(peer, "-c", FASTTEXT, train, test, *settings)
    return spent, json.loads(said)


def choose(peer: str, train: Path, model: Path) -> None:
    """Print how right all tries are on every tenth text, by models that have learnt from the others."""
    lines = train.read_text().splitlines(keepends=True)
    known, held = train.with_suffix(".known.ft"), train.with_suffix(".held.ft")
    held.write_text("".join(lines[9::10]))
    known.write_text("".join(line for i, line in enumerate(lines) if i % 10 != 9))
    for options in OUR_TRIES:
        print(f"  ours {' '.join(options)}: {ours(known, held, model, *options)[1]:.4f}", flush=True)
    for settings in PEER_TRIES:
        print(
            f"  fastText {settings}: {fasttext(peer, known, held, *settings)[1]['accuracy']:.4f}", flush=True
        )


def piped(model: Path) -> tuple[int, float]:
    """Return the peak memory of what learns from a pipe, in KiB, and its seconds."""
    words = ["buy", "cheap", "now", "see", "you", "lunch", "report", "watches", "free", "due"]
    command = [sys.executable, "-m", "perceptron_rs", "train", "averaged", "-", "--text", "--stream"]
    command += ["--classes", "ham,spam", "--max-iter", "1", "--tol", "none", "--quiet", "--model", str(model)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    random = np.random.default_rng(data.SEED)
    for _ in range(TEXTS // 1000):
        some = random.integers(0, 10, (1000, 6)).tolist()
        kinds = random.integers(0, 2, 1000).tolist()
        process.stdin.write(
            "".join(
                f"{('ham', 'spam')[kind]}\t{' '.join(words[(j + 5 * kind) % 10] for j in row)} {i}\n"
                for i, (kind, row) in enumerate(zip(kinds, some, strict=True))
            )
        )
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return used.ru_maxrss, used.ru_utime + used.ru_stime


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--choose", action="store_true", help="try what is to be chosen, and smaller files")
    arguments = parser.parse_args()
    figures, peer = bars.Figures("words", write=arguments.write), os.environ.get("PERCEPTRON_RS_FASTTEXT")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memory, used = piped(folder / "piped.model")
        case = f"memory of {TEXTS} texts from a pipe, beside 300 MB"
        print(f"{case}: {memory / 1024:.0f} MB, {used:.1f} s,", end=" ")
        print(
            figures.hold(case, memory / BAR, at_most=True, megabytes=memory / 1024, seconds=used), flush=True
        )
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        if data.folder() is not None:
            beside_sgd(folder, figures)
        if data.folder() is None or peer is None:
            print("skipped beside fastText: set PERCEPTRON_RS_DATA and PERCEPTRON_RS_FASTTEXT")
            return figures.end()
        for kind, settings in PEER.items():
            train, test = texts(folder, kind)
            seconds(peer, "-c", "import fasttext")
            ours(test, test, folder / "m", *OURS[kind])  # compiles
            if arguments.choose:
                print(kind)
                choose(peer, train, folder / "m")
            own, right = ours(train, test, folder / "m", *OURS[kind])
            other, said = fasttext(peer, train, test, *settings)
            accuracy = said["accuracy"]
            more = {"accuracy": right, "accuracy of fastText": accuracy, "seconds": own}
            print(
                f"{kind}: ours {own:.1f} s, accuracy {right:.4f}; fastText {other:.1f} s, {accuracy:.4f};",
                end=" ",
            )
            print(figures.hold(f"fastText beside ours, {kind}", other / own, **more), flush=True)
            if arguments.choose and kind == "news":
                for options in SMALLER:
                    _, right = ours(train, test, folder / "m", *OURS[kind], *options)
                    print(
                        f"  {' '.join(options)}: {(folder / 'm').stat().st_size} bytes, {right:.4f}",
                        flush=True,
                    )
                for cutoff, size, right in fasttext(peer, train, test, *settings, folder / "q")[1]["sizes"]:
                    print(f"  quantize -cutoff {cutoff}: {size} bytes, {right:.4f}", flush=True)
    return figures.end()


if __name__ == "__main__":
    raise SystemExit(main())

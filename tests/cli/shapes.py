"""Files of the shapes that people have, drawn small: each has a name, and writes itself to a path."""

from __future__ import annotations

import bz2
import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

GOOD, BAD = (
    ["great", "wonderful", "lovely", "perfect", "brilliant"],
    ["awful", "boring", "terrible", "poor", "dull"],
)
PLAIN = [
    "the",
    "film",
    "was",
    "a",
    "story",
    "with",
    "actors",
    "and",
    "music",
    "in",
    "an",
    "old",
    "house",
    "by",
    "the",
    "sea",
    "for",
    "two",
    "hours",
]
CALLED = ("Smith, Mr. John {}", "Doe, Mrs. Anne {}", "Brown, Miss. Eve {}")

#: The name of the file, and what writes it.
SHAPES: dict[str, tuple[str, Callable[[Path], None]]] = {}


def shape(name: str) -> Callable[[Callable[[Path], None]], None]:
    """Name the file that a function writes."""

    def add(write: Callable[[Path], None]) -> None:
        SHAPES[write.__name__] = (name, write)

    return add


def reviews(n: int = 300) -> Iterator[tuple[int, str]]:
    """Give labels and texts: two of ten words tell the label, but for one text in thirty."""
    draw = random.Random(0)
    for _ in range(n):
        label = draw.randrange(2)
        words = draw.choices(PLAIN, k=8) + draw.choices(GOOD if label else BAD, k=2)
        draw.shuffle(words)
        yield label if draw.random() < 0.97 else 1 - label, " ".join(words)


def people(n: int = 120) -> Iterator[tuple[int, int, int, float, str, str]]:
    """Give a number that counts, a label, age, fare, sex, which tell the label, and port."""
    draw = random.Random(1)
    for i in range(n):
        age, fare = draw.randint(1, 80), round(draw.uniform(5, 900), 2)
        sex, port = draw.choice(("male", "female")), draw.choice("SCQ")
        label = age / 80 + fare / 900 + 0.3 * (sex == "female") > 1.15
        yield i + 1, int(label), age, fare, sex, port


def table(
    rows: Any, head: Any, delimiter: str = ",", end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL
) -> str:
    """Return a table as text; without names, if there is no ``head``."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    if head:
        writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


@shape("train.csv")
def titanic(path: Path) -> None:
    rows = [
        (
            i,
            s,
            1 + i % 3,
            CALLED[i % 3].format(i),
            x,
            "" if i % 9 == 0 else a,
            f"A/5 {i}",
            f,
            "" if i % 3 else f"C{i}",
            e,
        )
        for i, s, a, f, x, e in people()
    ]
    path.write_text(
        table(
            rows,
            [
                "PassengerId",
                "Survived",
                "Pclass",
                "Name, full",
                "Sex",
                "Age",
                'Ticket, "no"',
                "Fare",
                "Cabin",
                "Embarked",
            ],
        )
    )


@shape("spam.csv")
def spam_latin1(path: Path) -> None:
    rows = [("spam" if y else "ham", t + " £5", "", "", "") for y, t in reviews()]
    path.write_bytes(table(rows, ["v1", "v2", "", "", ""], end="\r\n").encode("latin-1"))


@shape("IMDB Dataset.csv")
def imdb(path: Path) -> None:
    path.write_text(
        table(
            [(t.capitalize() + ".<br /><br />", "positive" if y else "negative") for y, t in reviews()],
            ["review", "sentiment"],
            quoting=csv.QUOTE_ALL,
        )
    )


@shape("labels_first.csv")
def label_then_text(path: Path) -> None:
    path.write_text(table([(y, t) for y, t in reviews()], ["label", "text"]))


@shape("iris.csv")
def iris(path: Path) -> None:
    from sklearn.datasets import load_iris

    d = load_iris()
    rows = [
        (i + 1, *x, "Iris-" + d.target_names[y])
        for i, (x, y) in enumerate(zip(d.data, d.target, strict=False))
    ]
    path.write_text(
        table(rows, ["Id", "SepalLengthCm", "SepalWidthCm", "PetalLengthCm", "PetalWidthCm", "Species"])
    )


@shape("iris.data")
def iris_uci(path: Path) -> None:
    from sklearn.datasets import load_iris

    d = load_iris()
    path.write_text(
        table([(*x, "Iris-" + d.target_names[y]) for x, y in zip(d.data, d.target, strict=False)], None)
        + "\n"
    )


@shape("adult.data")
def adult(path: Path) -> None:
    path.write_text(
        "".join(
            f"{a}, {'Private' if i % 4 else '?'}, {int(f * 1000)}, {s}, {e}, {'>50K' if y else '<=50K'}\n"
            for i, y, a, f, s, e in people()
        )
    )


@shape("mnist_train.csv")
def mnist(path: Path) -> None:
    from sklearn.datasets import load_digits

    d = load_digits()
    path.write_text(
        table(
            [(y, *map(int, x)) for x, y in zip(d.data[:300], d.target, strict=False)],
            ["label", *[f"{i}x{j}" for i in range(8) for j in range(8)]],
        )
    )


@shape("winequality-red.csv")
def wine(path: Path) -> None:
    path.write_text(
        table(
            [(f, a, y + 5) for i, y, a, f, *_ in people()],
            ["fixed acidity", "volatile acidity", "quality"],
            ";",
            quoting=csv.QUOTE_NONNUMERIC,
        )
    )


@shape("export.csv")
def excel_utf8_bom(path: Path) -> None:
    path.write_bytes(
        b"\xef\xbb\xbf"
        + table([(a, f, y) for _, y, a, f, *_ in people()], ["age", "fare", "bought"], end="\r\n").encode()
    )


@shape("unicode.txt")
def excel_utf16(path: Path) -> None:
    path.write_bytes(
        table(
            [(a, f, "yes" if y else "no") for _, y, a, f, *_ in people()],
            ["age", "fare", "bought"],
            "\t",
            end="\r\n",
        ).encode("utf-16")
    )


@shape("sep.csv")
def excel_sep_line(path: Path) -> None:
    path.write_text(
        "sep=;\r\n"
        + table([(a, f, y) for _, y, a, f, *_ in people()], ["age", "fare", "bought"], ";", end="\r\n")
    )


@shape("pandas.csv")
def pandas_index(path: Path) -> None:
    path.write_text(table([(i - 1, a, f, y) for i, y, a, f, *_ in people()], ["", "age", "fare", "label"]))


@shape("nan.csv")
def pandas_nan(path: Path) -> None:
    path.write_text(
        table([(a if i % 8 else "nan", f, y) for i, y, a, f, *_ in people()], ["age", "fare", "label"])
    )


@shape("r.csv")
def r_na(path: Path) -> None:
    path.write_text(
        table(
            [(str(i), a if i % 8 else "NA", f, s, y) for i, y, a, f, s, _ in people()],
            ["", "age", "fare", "sex", "label"],
            quoting=csv.QUOTE_ALL,
        )
    )


@shape("bool.csv")
def booleans(path: Path) -> None:
    path.write_text(
        table([(s == "male", a, y == 1) for _, y, a, f, s, _ in people()], ["male", "age", "survived"])
    )


@shape("target_middle.csv")
def target_middle(path: Path) -> None:
    path.write_text(
        table([(a, "yes" if y else "no", f) for _, y, a, f, *_ in people()], ["age", "label", "fare"])
    )


@shape("dates.csv")
def dates(path: Path) -> None:
    path.write_text(
        table(
            [(f"2024-{1 + i % 12:02}-{1 + i % 28:02}", f, s, y) for i, y, a, f, s, _ in people()],
            ["date", "amount", "sex", "fraud"],
        )
    )


@shape("tickets.tsv")
def tsv_text(path: Path) -> None:
    path.write_text(
        table([(t, "billing" if y else "support") for y, t in reviews()], ["text", "label"], "\t")
    )


@shape("SMSSpamCollection")
def sms(path: Path) -> None:
    path.write_text("".join(f"{'spam' if y else 'ham'}\t{t}\n" for y, t in reviews()))


@shape("cooking.train")
def fasttext_odd(path: Path) -> None:
    path.write_text("".join(f"__label__{'pos' if y else 'neg'} {t}\n" for y, t in reviews()))


@shape("reviews.ft.txt.bz2")
def fasttext_bz2(path: Path) -> None:
    path.write_bytes(bz2.compress("".join(f"__label__{1 + y} {t}\n" for y, t in reviews()).encode()))


@shape("tags.txt")
def fasttext_many(path: Path) -> None:
    path.write_text(
        "".join(
            f"__label__{'pos' if y else 'neg'}{' __label__long' if i % 5 == 0 else ''} {t}\n"
            for i, (y, t) in enumerate(reviews())
        )
    )


@shape("a9a")
def libsvm_bare(path: Path) -> None:
    path.write_text(
        "".join(f"{'+1' if y else '-1'} 1:{a} 2:{f} {3 + (s == 'male')}:1\n" for _, y, a, f, s, _ in people())
    )


@shape("rank.dat")
def svmlight_qid(path: Path) -> None:
    path.write_text(
        "".join(
            f"{y} qid:{i // 10 + 1} 1:{a} 2:{f} {3 + (s == 'male')}:1 # doc {i}\n"
            for i, y, a, f, s, _ in people()
        )
    )


@shape("multilabel.svm")
def libsvm_many(path: Path) -> None:
    path.write_text(
        "".join(
            f"{y}{',2' if s == 'male' else ''} 1:{a} {3 + (s == 'male')}:1\n" for i, y, a, f, s, _ in people()
        )
    )


@shape("train.vw.txt")
def vw(path: Path) -> None:
    path.write_text("".join(f"{2 * y - 1} |w {t}\n" for y, t in reviews()))


@shape("eng.train")
def conll2003(path: Path) -> None:
    path.write_text(
        "-DOCSTART- -X- -X- O\n\n"
        + "".join(
            f"John{i} NNP I-NP B-PER\nlives VBZ I-VP O\nin IN I-PP O\n"
            f"{'Paris' if i % 2 else 'London'} NNP I-NP B-LOC\n\n"
            for i in range(40)
        )
    )


@shape("en_ewt-ud-train.conllu")
def conllu(path: Path) -> None:
    path.write_text(
        "".join(
            f"# sent_id = {i}\n1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n"
            f"2\tdog{i}\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
            for i in range(40)
        )
    )


@shape("reviews.jsonl")
def jsonl_text(path: Path) -> None:
    path.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for y, t in reviews()))


@shape("reviews.json")
def json_lines_as_json(path: Path) -> None:
    path.write_text(
        "".join(
            json.dumps({"reviewText": t, "overall": 1 + 4 * y, "asin": f"B{i}"}) + "\n"
            for i, (y, t) in enumerate(reviews())
        )
    )


@shape("access.log")
def log_apache(path: Path) -> None:
    path.write_text(
        "".join(
            f"10.0.0.{i} - - [10/Oct/2024:13:55:{i % 60:02}] "
            f'"GET /{"admin" if y else "index"} HTTP/1.1" {200 + 203 * y} 23\n'
            for i, y, *_ in people()
        )
    )


@shape("events.log")
def log_json(path: Path) -> None:
    path.write_text(
        "".join(
            json.dumps({"level": "ERROR" if y else "INFO", "msg": t, "ts": i}) + "\n"
            for i, (y, t) in enumerate(reviews())
        )
    )


@shape("pandas.parquet")
def parquet_pandas(path: Path) -> None:
    import pandas as pd

    df = pd.DataFrame(list(people()), columns=["id", "survived", "age", "fare", "sex", "port"])
    df["sex"] = df["sex"].astype("category")
    df[["id", "age", "fare", "sex", "port", "survived"]].set_index("id").to_parquet(path)


@shape("polars.parquet")
def parquet_polars(path: Path) -> None:
    import polars as pl

    pl.DataFrame(
        {"text": [t for _, t in reviews()], "label": [["neg", "pos"][y] for y, _ in reviews()]}
    ).write_parquet(path)


@shape("spark")
def parquet_spark(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir()
    rows = list(people())
    (path / "_SUCCESS").write_text("")
    for k in range(2):
        part = rows[k::2]
        pq.write_table(
            pa.table(
                {
                    "features": [[float(r[2]), r[3], float(r[4] == "male")] for r in part],
                    "label": [float(r[1]) for r in part],
                }
            ),
            path / f"part-0000{k}-abc-c000.snappy.parquet",
        )


@shape("model.arrow")
def feather(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.feather as f

    rows = list(people())
    f.write_feather(
        pa.table({"age": [r[2] for r in rows], "fare": [r[3] for r in rows], "y": [r[1] for r in rows]}),
        str(path),
    )

"""Files of more shapes: those of exports, logs and other programs, and those made by hand."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from .shapes import SHAPES, people, reviews, shape, table

__all__ = ["SHAPES"]


@shape("turned.txt")
def texts_with_a_label_behind_a_tab(path: Path) -> None:
    path.write_text("".join(f"{t}\t{('bad', 'good')[y]}\n" for y, t in reviews()))


@shape("flowers.txt")
def numbers_between_blanks(path: Path) -> None:
    path.write_text(
        "".join(f"{a}  {f} {x}\n" for _, _, a, f, x, _ in people(300) if (a > 40) == (x == "male"))
    )


@shape("bars.csv")
def bars_between_columns(path: Path) -> None:
    rows = [(a, f, x, e, s) for _, s, a, f, x, e in people()]
    path.write_text(table(rows, ["age", "fare", "sex", "port", "y"], "|"))


@shape("twice.csv")
def two_columns_of_one_name(path: Path) -> None:
    rows = [(a, f, x, s) for _, s, a, f, x, _ in people()]
    path.write_text(table(rows, ["of/all & more", "of/all & more", "sex", "y"]))


@shape("titled.csv")
def a_title_above_the_names(path: Path) -> None:
    rows = [(a, f, x, s) for _, s, a, f, x, _ in people()]
    path.write_text("# passengers of 1912\n\n# all\n\n" + table(rows, ["age", "fare", "sex", "y"]))


@shape("reviews.csv.gz")
def packed_latin1(path: Path) -> None:
    rows = [(("bad", "good")[y], t + " £5") for y, t in reviews()]
    path.write_bytes(gzip.compress(table(rows, ["label", "text"]).encode("latin-1")))


@shape("app.log")
def lines_of_a_log(path: Path) -> None:
    lines = (
        f"2024-03-{1 + i % 9:02d} 10:00:01,{i % 1000:03d} {('WARN', 'INFO')[y]} [main-{i % 4}] {t}\n"
        for i, (y, t) in enumerate(reviews())
    )
    path.write_text("".join(lines))


@shape("essays.csv")
def very_long_texts(path: Path) -> None:
    rows = [((t + " ") * 3000, y) for y, t in reviews(120)]
    path.write_text(table(rows, ["essay", "y"]))


@shape("nested.jsonl")
def objects_in_objects(path: Path) -> None:
    records = (
        {"id": f"a{i}", "doc": {"text": t, "of": {"n": i % 7}}, "tags": [i], "label": y}
        for i, (y, t) in enumerate(reviews())
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@shape("tokens.jsonl")
def lists_of_tokens_and_tags(path: Path) -> None:
    record = {"tokens": ["the", "dog", "barks"], "ner_tags": ["DET", "NOUN", "VERB"]}
    path.write_text((json.dumps(record) + "\n") * 20)


@shape("archive.zip")
def a_table_in_an_archive(path: Path) -> None:
    rows = [(("bad", "good")[y], t) for y, t in reviews()]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("of/reviews.csv", table(rows, ["label", "text"]))
        archive.writestr("readme.md", "Reviews")


@shape("gaps.csv")
def labels_that_are_missing(path: Path) -> None:
    rows = [(a, f, x, "" if i % 9 == 0 else ("no", "yes")[s]) for i, s, a, f, x, _ in people()]
    path.write_text(table([*rows, ("Total", "", "", "")], ["age", "fare", "sex", "bought"]))


@shape("umsatz.csv")
def excel_german(path: Path) -> None:
    rows = (
        f"{i};{a};{1000 * f:,.2f} €;{s};{'ja' if y else 'nein'}".translate({44: 46, 46: 44})
        for i, y, a, f, s, _ in people()
    )
    lines = ["Kunde;Alter;Betrag;Geschlecht;gekauft", *rows, ""]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())


@shape("sales.csv")
def money_and_percent(path: Path) -> None:
    rows = [(f"${100 * f:,.2f}", f"{a}%" if i % 8 else "-", y) for i, y, a, f, *_ in people()]
    path.write_text(table(rows, ["price", "discount", "bought"]))


@shape("unicode.csv")
def utf16_without_a_mark(path: Path) -> None:
    rows = [(a, f, "yes" if y else "no") for _, y, a, f, *_ in people()]
    path.write_bytes(table(rows, ["age", "fare", "bought"], end="\r\n").encode("utf-16-le"))


@shape("onehot.csv")
def a_column_for_each_class(path: Path) -> None:
    rows = [(a, f, 0, 1 - y, y) for _, y, a, f, *_ in people()]
    path.write_text(table([*rows, (1, 1, 1, 0, 0), (2, 1, 1, 0, 0)], ["age", "fare", "none", "no", "yes"]))


@shape("toxic.csv")
def a_column_for_each_label_of_texts(path: Path) -> None:
    rows = [(f"{i}e999", t, 1 - y, int("sea" in t)) for i, (y, t) in enumerate(reviews())]
    path.write_text(table(rows, ["id", "comment", "toxic", "wet"]))


@shape("nested.json")
def a_long_list_of_nested_objects(path: Path) -> None:
    records = [
        {"id": i, "of": {"text": t, "more": "x" * 900}, "label": y} for i, (y, t) in enumerate(reviews())
    ]
    path.write_text(json.dumps(records, indent=1))


@shape("wrapped.json")
def a_list_in_an_object(path: Path) -> None:
    path.write_text(json.dumps({"data": [{"text": t, "label": y} for y, t in reviews()], "n": 300}))


@shape("columns.json")
def columns_as_pandas_writes_them(path: Path) -> None:
    texts = {str(i): (t, ("bad", "good")[y]) for i, (y, t) in enumerate(reviews())}
    path.write_text(
        json.dumps({name: {i: x[k] for i, x in texts.items()} for k, name in enumerate(("text", "y"))})
    )


@shape("split.json")
def rows_as_pandas_writes_them(path: Path) -> None:
    path.write_text(
        json.dumps({"columns": ["text", "y"], "index": [], "data": [(t, y) for y, t in reviews()]})
    )


@shape("numbers.jsonl")
def objects_of_numbers(path: Path) -> None:
    records = ({"age": a, "fare": f, "sex": s, "survived": y == 1} for _, y, a, f, s, _ in people(300))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@shape("lists.jsonl")
def lists_of_labels(path: Path) -> None:
    records = ({"text": t, "labels": ["good"] * y + ["wet"] * ("sea" in t)} for y, t in reviews())
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@shape("numbers.vw")
def vw_of_numbers(path: Path) -> None:
    lines = (f"{2 * y - 1} 1.0 'of{i}|n age:{a} fare:{f} |c sex={s}\n" for i, y, a, f, s, _ in people(300))
    path.write_text("".join(lines))


@shape("tagged.txt")
def tokens_with_slashes(path: Path) -> None:
    path.write_text("".join(f"The/DET dog{i}/NOUN 1/2/NUM barks/VERB ./PUNCT\n" for i in range(60)))


@shape("labels.csv")
def fasttext_with_commas(path: Path) -> None:
    path.write_text("".join(f"__label__{('bad', 'good')[y]},{t}\n" for y, t in reviews()))


@shape("trailing.csv")
def a_delimiter_behind_each_row(path: Path) -> None:
    path.write_text("age;fare;y\r\n" + "".join(f"{a};{f};{y};\r\n" for _, y, a, f, *_ in people()))


@shape("frame.txt")
def a_table_of_r(path: Path) -> None:
    rows = (f'"{i}" {a} {f} "{s}" "{("no", "yes")[y]}"\n' for i, y, a, f, s, _ in people())
    path.write_text('"age" "fare" "sex" "y"\n' + "".join(rows))


@shape("packed.tar.gz")
def a_table_in_a_tar(path: Path) -> None:
    data = table([(t, y) for y, t in reviews()], ["text", "y"]).encode()
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("reviews.csv")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))


@shape("packed.csv.zst")
def a_table_packed_by_zstd(path: Path) -> None:
    import pyarrow as pa

    with pa.output_stream(str(path), compression="zstd") as out:
        out.write(table([(t, y) for y, t in reviews()], ["text", "y"]).encode())


@shape("reviews")
def a_folder_for_each_label(path: Path) -> None:
    for i, (y, t) in enumerate(reviews()):
        folder = path / ("bad", "good")[y]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.txt").write_text(t.replace(" film ", "\n"))


@shape("behind.txt")
def labels_behind_their_texts(path: Path) -> None:
    lines = (f"film{' or story' * (i % 3)} {t} __label__{2 * y}\n" for i, (y, t) in enumerate(reviews()))
    path.write_text("".join(lines))


@shape("tweets.csv")
def a_label_between_other_columns(path: Path) -> None:
    rows = [(i, ("bad", "good")[y], t, ("", "Rome", "Oslo")[i % 3]) for i, (y, t) in enumerate(reviews())]
    path.write_text(table(rows, ["tweet_id", "airline_sentiment", "text", "tweet_location"]))


@shape("Reviews.csv")
def scores_of_texts(path: Path) -> None:
    rows = [(f"user {i % 20}", 1 + 4 * y, t) for i, (y, t) in enumerate(reviews())]
    path.write_text(table(rows, ["ProfileName", "Score", "Text"]))


@shape("mushrooms.data")
def letters_without_names(path: Path) -> None:
    rows = [("ep"[y], s[0], "abcd"[a // 21], "abcd"[int(f) // 226], e) for _, y, a, f, s, e in people(400)]
    path.write_text(table([(*row, "abc"[i % 3]) for i, row in enumerate(rows)], None))


@shape("german.data")
def codes_between_blanks(path: Path) -> None:
    path.write_text(
        "".join(
            f"C{i % 2} B{i % 3} {a} A{int(f)} A{s == 'male':d} {1 + y} \n" for i, y, a, f, s, _ in people()
        )
    )


@shape("units.csv")
def units_behind_numbers(path: Path) -> None:
    rows = [(f"{a} kg", f"{f}GB" if i % 9 else "NA", s, y) for i, y, a, f, s, _ in people()]
    path.write_text(table(rows, ["weight", "size", "sex", "churn"]))


def sentences(n: int = 60) -> list[list[tuple[str, str, str]]]:
    """Return tokens with their tags, which the last one tells."""
    cities = ("Zürich", "Basel")
    kinds = [("B-geo", "lies"), ("B-org", "plays")]
    return [[*((city, "NNP", tag) for city in cities), (verb, "VB", "O")] for tag, verb in kinds * (n // 2)]


@shape("ner_dataset.csv")
def tokens_whose_sentence_is_named_once(path: Path) -> None:
    rows = [
        (f"Sentence: {i + 1}" if k == 0 else "", *token)
        for i, sentence in enumerate(sentences())
        for k, token in enumerate(sentence)
    ]
    path.write_bytes(table(rows, ["Sentence #", "Word", "POS", "Tag"]).encode("latin-1"))


@shape("ner.csv")
def sentences_with_lists_of_tags(path: Path) -> None:
    columns = [list(zip(*sentence, strict=True)) for sentence in sentences()]
    rows = [(i, " ".join(words), str([*tags]), str([*ner])) for i, (words, tags, ner) in enumerate(columns)]
    path.write_text(table(rows, ["Sentence #", "Sentence", "POS", "Tag"]), encoding="utf-8")


@shape("mnist.npz")
def arrays_of_keras(path: Path) -> None:
    from sklearn.datasets import load_digits

    d = load_digits()
    parts = {"x_train": d.images[:400], "y_train": d.target[:400], "x_test": d.images[400:500]}
    np.savez(path, **parts, y_test=d.target[400:500])


@shape("money.parquet")
def strings_of_money(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [(f"${100 * f:,.2f}", a, y) for _, y, a, f, *_ in people()]
    pq.write_table(pa.table(dict(zip(("price", "age", "label"), zip(*rows, strict=True), strict=True))), path)


@shape("money.jsonl")
def objects_of_money(path: Path) -> None:
    records = ({"of": {"price": f"${100 * f:,.2f}"}, "age": a, "label": y} for _, y, a, f, *_ in people())
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@shape("errors.log")
def lines_that_begin_like_json(path: Path) -> None:
    lines = (
        f"[Sun Dec 04 04:47:{i % 60:02d} 2005] [{('error', 'notice')[y]}] {t}{' or' * (i % 3)}\n"
        for i, (y, t) in enumerate(reviews())
    )
    path.write_text("".join(lines))


@shape("commas.txt")
def labels_before_a_comma(path: Path) -> None:
    lines = (f"{('bad', 'good')[y]}, {t}{', or so' * (i % 3)}\n" for i, (y, t) in enumerate(reviews()))
    path.write_text("".join(lines))


def numbers(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return two columns of numbers, and labels that they tell."""
    X = np.random.default_rng(0).random((n, 2))
    return X, (X.sum(axis=1) > 1).astype(int)


@shape("matrix.npy")
def labels_in_the_last_column_of_an_array(path: Path) -> None:
    np.save(path, np.column_stack(numbers()))


@shape("X_train.npy")
def labels_in_an_array_beside(path: Path) -> None:
    X, y = numbers()
    np.save(path, X)
    np.save(path.with_name("y_train.npy"), y)
    np.save(path.with_name("y_test.npy"), y[:9])


@shape("pair.pkl")
def a_pickle_of_two_arrays(path: Path) -> None:
    path.write_bytes(pickle.dumps(numbers()))


@shape("dict.pickle")
def a_pickle_of_named_arrays(path: Path) -> None:
    X, y = numbers()
    path.write_bytes(pickle.dumps({"labels": y, "n": 3, "train_x": X}))


@shape("frame.pkl")
def a_pickle_of_a_data_frame(path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = numbers()
    pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).to_pickle(path)


@shape("table.orc")
def a_table_of_orc(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.orc

    pytest.importorskip("pandas")
    X, y = numbers()
    pyarrow.orc.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), str(path))


@shape("stream.arrow")
def a_stream_of_arrow(path: Path) -> None:
    import pyarrow as pa

    pytest.importorskip("pandas")
    X, y = numbers()
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


@shape("chat.txt")
def lines_of_a_chat(path: Path) -> None:
    lines = (
        f"12/31/23, 9:{i % 60:02} PM - {('Anna', 'Ben S.')[y]}: {t}\n" for i, (y, t) in enumerate(reviews())
    )
    path.write_text("".join(lines))


@shape("talks.jsonl")
def talks_that_end_in_a_label(path: Path) -> None:
    turns = (
        [{"role": "user", "content": t}, {"role": "assistant", "content": ("bad", "good")[y]}]
        for y, t in reviews()
    )
    path.write_text("".join(json.dumps({"messages": messages}) + "\n" for messages in turns))


@shape("intents.json")
def texts_in_lists_of_a_label(path: Path) -> None:
    intents = [{"tag": tag, "patterns": [t for y, t in reviews() if y == k]} for k, tag in enumerate("ab")]
    path.write_text(json.dumps({"of": {"version": 1}, "intents": intents}, indent=1))


@shape("bio.tsv")
def tokens_with_an_empty_column(path: Path) -> None:
    path.write_text("".join(f"Anna{i}\t\tB-PER\nlives\t\tO\nin\t\tO\nRome\t\tB-LOC\n\n" for i in range(40)))


@shape("aclImdb")
def folders_of_training_and_test(path: Path) -> None:
    for i, (y, t) in enumerate(reviews()):
        folder = path / ("train", "test")[i % 4 == 0] / ("neg", "pos")[y]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.txt").write_text(t)


@shape("fraud.csv")
def a_flag_behind_a_category(path: Path) -> None:
    rows = (
        (
            f"2024-01-{1 + i % 28:02} {i % 24:02}:00",
            f"C{7919 * i % 9973}",
            ("gas", "net")[s == "male"],
            a,
            f,
            y,
        )
        for i, y, a, f, s, _ in people()
    )
    path.write_text(table(rows, ["when", "customer_id", "category", "age", "amt", "is_fraud"]))


@shape("people.sqlite")
def a_table_of_a_database(path: Path) -> None:
    pytest.importorskip("pandas")
    with sqlite3.connect(path) as base:
        base.execute("create table [of 1912] (age, fare, sex, label)")
        base.executemany(
            "insert into [of 1912] values (?, ?, ?, ?)",
            ((a, f, s, y) for _, y, a, f, s, _ in people()),
        )
    base.close()


@shape("matrix.mtx")
def labels_in_the_last_column_of_a_sparse_matrix(path: Path) -> None:
    import scipy.io
    import scipy.sparse

    scipy.io.mmwrite(path, scipy.sparse.csr_matrix(np.column_stack(numbers())))


@shape("arrays.h5")
def arrays_of_hdf(path: Path) -> None:
    h5py, (X, y) = pytest.importorskip("h5py"), numbers()
    with h5py.File(path, "w") as file:
        file["train_set_x"], file["train_set_y"] = X, y


@shape("list.yaml")
def a_list_of_yaml(path: Path) -> None:
    pytest.importorskip("yaml")
    path.write_text("".join(f"- text: {t}\n  label: {y}\n" for y, t in reviews()))


@shape("table.md")
def a_table_of_markdown(path: Path) -> None:
    rows = (f"| {a} | {f} | {('no', 'yes')[y]} |\n" for _, y, a, f, *_ in people())
    path.write_text("# Passengers\n\n| age | fare | y |\n|----:|-----:|:--|\n" + "".join(rows))

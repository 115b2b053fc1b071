"""Wrong usage: exit status 2 and one line that says what to do, before anything is read or written."""

import re
import shlex
from itertools import combinations_with_replacement

import pytest

from perceptron_rs.cli import main
from perceptron_rs.cli.options import parse_arguments

from .support import X, Y, svmlight

CALLS = [
    ("", "required: COMMAND"),
    ("fly", "invalid choice: 'fly'"),
    ("trian x.svm", "invalid choice: 'trian'; did you mean train?"),
    ("inspect m -- --json", "unrecognized arguments: --json"),
    ("predict m", "required: DATA"),
    ("separable a.svm --max-ratio 1", "--max-ratio: must be a number above 1, got '1'"),
    ("margin a.svm --gamma 1", "--gamma has no effect without --kernel rbf or poly"),
    ("separable a.svm --kernel poly --coef0=-1", "must be a finite number of at least 0, got '-1'"),
    ("margin a.svm --kernel sigmoid", "choose from linear, poly, rbf, precomputed"),
    ("separable x.svm --tol 1", "unrecognized option --tol; see perceptrons separable --help"),
    ("train", "required: DATA"),
    ("train x.svm --model m --learner svm", "as in: train averaged DATA"),
    ("train averged x.svm --model m", "did you mean averaged?"),
    ("train avg x.svm --model m", "invalid choice: 'avg'; choose from perceptron, averaged"),
    ("train x.svm --mod m", "unrecognized option --mod; did you mean --model?"),
    ("predict m x.svm --proba", "--proba; did you mean --probabilities?"),
    ("train x.svm --model m --max-itr 3", "--max-itr; did you mean --max-iter?"),
    ("train x.txt --text --ngrams 2", "argument --ngrams: needs 2 values; write --ngrams N M"),
    ("train x.svm --format", "argument --format: needs a value; write --format VALUE"),
    ("train x.svm --model=", "--model: must be the name of a file, got ''"),
    ("train x.svm --continue=", "--continue: must be the name of a file, got ''"),
    ("train x.svm --calibrate=", "--calibrate: must be the name of a file, got ''"),
    ("train x.svm --stream --cache=", "--cache: must be the name of a file, got ''"),
    ("predict '' x.svm", "MODEL: must be the name of a file, got ''"),
    ("margin a.svm --multilabel", "--multilabel is about lists of labels"),
    # what makes no sense beside another option
    ("train x.svm --model m --stream --checkpoint-every 9", "without --checkpoint"),
    ("train x.svm --model m --cache c", "--cache has no effect without --stream"),
    ("train - --model m --format svmlight --stream --scale maxabs", "can be read only once"),
    ("train x.csv --model m --delimiter '\"'", "must be one character of ASCII"),
    ("train x.csv --model m --format csv --columns a --drop b --labels plain", "--drop has no effec"),
    ("train x.svm --model m --no-audit --audit-key x", "no effect with --no-audit"),
    ("online plain x.svm --no-audit", "add --save"),
    ("online plain x.svm --save-every 2", "--save-every has no effect without --save"),
    ("predict plain - --unlabelled --target a", "have no effect"),
    ("predict plain - --labelled --unlabelled", "--unlabelled"),
    ("train a.svm --model m --stream --cache c --checkpoint ./c", "checkpoint name the same file; name two"),
    ("train a.svm a.csv --model m", "is csv, but a.svm is svmlight; name files of one format, or --format"),
    ("train a.arff --model m", "a.arff: unknown suffix '.arff'; the suffix must be one of .svm, .libsvm, "),
    ("train a.npz.gz --model m", ".csv, .tsv, .ft, .fasttext, .vw, .jsonl, .ndjson may b"),
    ("train a.svm --model m --scale minmax", "of sparse examples; set --scale maxabs, which keeps them"),
    ("train - --model m --format safetensors --target y", "tensors are mapped into memory, which a pipe can"),
    # what a stream cannot have
    ("train a.svm --model m --stream --early-stopping", "--early-stopping is not available with --stream"),
    ("train a.svm --model m --stream --n-partitions 2", "--n-partitions 2 is not available with --stream"),
    ("train a.svm --model m --stream --shuffle", "add --cache FILE"),
    ("train voted a.svm --model m --stream --continue votes", "--continue is not available with --stream"),
    ("train budgeted-kernel a.svm --model m --stream --kernel rbf --gamma scale", "--gamma scale is not"),
    ("tag-train a.tsv --model m --stream --shuffle", "add --cache FILE"),
    # weights of classes
    ("train a.svm --model m --class-weight 1", "must be LABEL=X, or balanced, got '1'"),
    ("train a.svm --model m --class-weight 1=2 --class-weight 1=3", "names a class twice; give each one"),
    ("train a.svm --model m --class-weight 1=nan", "must be a finite number of at least 0, got 'nan'"),
    ("train a.svm --model m --class-weight balanced --class-weight 1=1", "cannot be combined"),
    # the options of some learners, before the data is opened
    ("train x.svm --model m --joint-update uniform",
     "--joint-update has no effect without --multi-class joint"),
    ("train perceptron x.svm --model m --alpha 1", "--alpha has no effect without --penalty l2 or l1 or el"),
    ("train x.svm --model m --no-early-stopping --validation-fraction 0.2", "without --early-stopping"),
    ("train x.svm --model m --mixing uniform", "--mixing has no effect without --n-partitions N"),
    ("train x.svm --model m --multi-class one", "invalid choice: 'one'"),
    ("train x.svm --model m --seed -1", "from 0 to 4294967295"),
    ("train x.svm --model m --epochs two", "must be a whole number from 1 to 2147483647, got 'two'"),
    ("train x.svm --model m --threads 0", "must not be 0"),
    ("train kernel x.svm --model m --gamma 0", "must be scale, auto or a finite number above 0, got '0'"),
    ("train kernel x.svm --model m --prediction longest", "invalid choice: 'longest'"),
    ("train multilayer x.svm --model m --hidden-layer-sizes 5,0", "must be a whole number from 1"),
    ("train multilayer x.svm --model m --eta0 1",
     "the learner multilayer has no option --eta0; leave it out"),
    ("train a.svm --model m --stream --class-weight 1=2", "name them by --classes"),
    # models of other commands
    ("predict tags a.svm", "labels sequences; use the commands tag-train, tag and tag-evaluate"),
    ("tag-evaluate plain a.tsv", "plain: holds an AveragedPerceptron, which does not label sequences; use"),
    ("train a.svm --model m --continue tags", "labels sequences; use the commands tag-train, tag and tag-ev"),
    # what the model keeps
    ("train kernel a.svm --model m --continue plain",
     "holds the learner averaged; write train averaged instead of train k"),
    ("train a.svm --model m --continue plain --scale maxabs", "--scale is kept in the model"),
    ("train a.svm --model m --continue plain --stream --classes 1,2", "--classes is kept in the model"),
    ("train a.txt --model m --continue words --text --ngrams 1 2", "--ngrams is kept in the model"),
    ("tag-train a.tsv --model m --continue tags --window 1", "--window is kept in the model"),
    ("tag-train a.tsv --model m --continue tags --hash-columns 8", "--hash-columns is kept in the model"),
    ("train a.svm --model m --continue plain --features 9", "--features is kept in the model"),
    ("train a.svm --model m --continue plain --multi-class joint", "had 'ovr'; leave the option out, or"),
    # what is for another kind of data; also a default
    ("reproduce plain x.svm --tag-column 1", "--tag-column is about tagged sentences"),
    ("reproduce tags a.tsv --target y", "--target is about examples"),
    ("train a.csv --model m --target y --no-multilabel", "--multilabel is for svmlight"),
    ("train a.csv --model m --target y --zero-based auto", "--zero-based is for svmlight"),
    ("train a.csv --model m --target y --norm l2", "--norm is about texts, and no column is said to hold"),
    ("train a.txt --model m --text --tf-idf --stream", "--stream"),
    ("train a.txt --model m --text --tf-idf --scale maxabs", "--scale cannot"),
    ("train a.txt --model m --tf-idf --format svmlight", "and a.txt is svmlight; add --text, or leave"),
    ("train a.txt --model m --keep-words 3 --format svmlight", "and a.txt is svmlight; add --text, or"),
    ("train a.csv --model m --keep-words 3", "no effect without --hash-bits or --text-columns"),
    ("train a.txt --model m --text --ngrams 1 x", "must be a whole number from 1 to 100, got 'x'"),
    ("train a.txt --model m --text --ngrams 2 1", "--ngrams must be two whole numbers"),
    ("train a.txt --model m --text --stop-words english --analyzer char", "--stop-words are left out"),
    ("train a.txt --model m --tokens", "--tokens"),
    # sentences
    ("tag-train x.tsv --model m --template columns --window 1", "--window has no effect"),
    ("tag-train x.tsv --model m --update early", "--update has no effect without --beam N"),
    ("tag-train x.tsv --model m --n-iter-no-change 1", "no effect without --held-out X"),
    ("tag-train x.tsv --model m --min-count 2 --hash-columns 9", "keeps no counts"),
    ("tag-train x.tsv --model m --columns 1,2 --tag-column 2", "is one of --columns"),
    ("tag-train x.tsv --model m --columns 1,2,1", "must name each number once, got '1,2,1'"),
    ("tag-train x.tsv --model m --stream --held-out 0.5", "--held-out cannot be combined with --stream"),
    ("tag-train - --model m --stream", "standard input can be read only once"),
]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        "--epochs 3 voted a.svm --model m",
        "--text --no-shuffle voted a.svm",
        "a.svm voted --epochs=3",
        "--epochs=3 voted a.svm",
        "voted a.svm",
    ],
)
def test_options_stand_before_the_learner(words):
    found = parse_arguments(["train", *words.split()])
    assert (found.learner, found.data, found.is_named) == ("voted", ["a.svm"], True)


def test_the_value_of_an_option_is_no_learner():
    found = parse_arguments(["train", "--target", "voted", "a.csv"])
    assert (found.learner, found.target, found.is_named) == ("averaged", "voted", False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data, and models of it."""
    path = tmp_path_factory.mktemp("usage")
    (path / "a.svm").write_text(svmlight(X, Y))
    (path / "a.csv").write_text("y,a\n1,1\n0,2\n")
    (path / "a.txt").write_text("ham\tmilk bread\nspam\twin money\n")
    (path / "a.tsv").write_text("the\tD\ndog\tN\n\n")
    for words in (
        "train {path}/a.svm --model plain",
        "train voted {path}/a.svm --model votes",
        "train {path}/a.txt --text --model words",
        "tag-train {path}/a.tsv --model tags",
    ):
        *options, model = shlex.split(words.format(path=path))
        assert main([*options, str(path / model), "--quiet"]) == 0
    return path


@pytest.mark.parametrize(("words", "text"), CALLS)
def test_wrong_usage(refused, folder, monkeypatch, words, text):
    monkeypatch.chdir(folder)
    before = set(folder.iterdir())
    assert text in refused(*shlex.split(words), status=2)
    assert set(folder.iterdir()) == before


def test_a_word_that_is_no_file_is_not_told_about_suffixes(refused):
    assert refused("train", "mydata") == "mydata: no such file or directory"


@pytest.mark.parametrize(
    ("command", "words", "options"),
    [
        ("tag", "m a b", "--tags-only --tag-column=2"),
        ("online", "m a", "--quiet --save-every 2"),
        ("predict", "m a b", "--scores --threads -1"),
        ("train averaged", "a b", "--ngrams 1 2 --model m"),
        ("inspect", "m", "--top 3"),
        ("parity", "a - b", "--seed 1"),
        ("reproduce", "m a", "--engine reference --json"),
        ("tag-train", "a b", "--columns 1,2 --model m"),
    ],
)
def test_options_stand_before_between_and_behind_the_words(command, words, options):
    words, options = words.split(), re.split(" (?=--)", options)
    expected = parse_arguments([*command.split(), *words, *shlex.split(" ".join(options))])
    for places in combinations_with_replacement(range(len(words) + 1), len(options)):
        mixed = words.copy()
        for place, option in reversed(list(zip(places, options, strict=True))):
            mixed[place:place] = option.split()
        assert parse_arguments([*command.split(), *mixed]) == expected


def test_words_behind_two_dashes_are_no_options():
    assert parse_arguments(["tag", "--tags-only", "--", "m", "--json"]).data == ["--json"]


def test_a_learner_that_reads_no_streams_says_so(refused, folder, tmp_path):
    said = refused("train", "kernel", "a.csv", "--model", tmp_path / "m", "--stream", status=2)
    assert said.startswith("the learner kernel has no option --stream; leave it out, or choose the learner ")


def test_articles_fit_their_nouns(call, refused, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n-1,1\n")
    for learner, text in (
        ("pocket", "holds a PocketPerceptron, which learns from all examples at once; train a perceptron"),
        ("multilayer", "holds a MultilayerPerceptron, which answers and learns from many examples at once"),
    ):
        argv = ("train", learner, tmp_path / "a.csv", "--model", tmp_path / "m", "--quiet")
        assert call(*argv).status == 0
        assert text in refused("online", tmp_path / "m", tmp_path / "a.csv", status=2)
    assert call("train", "averaged", tmp_path / "a.csv", "--model", tmp_path / "m", "--quiet").status == 0
    assert "holds an AveragedPerceptron, which" in refused(
        "tag", tmp_path / "m", tmp_path / "a.csv", status=2
    )

"""How long does it take to make columns of texts? Ours against scikit-learn's ``HashingVectorizer``.

The texts are the sentences of the Brown corpus from the folder named by PERCEPTRON_RS_DATA. The rows are
compared bit by bit first. Figures: the time of ``HashingVectorizer`` beside ours, of words and characters.

    PERCEPTRON_RS_DATA=folder python benches/text.py [--runs 3] [--write]
"""

from __future__ import annotations

import bars
import data
from alternate import alternate
from sklearn.feature_extraction.text import HashingVectorizer

from perceptron_rs.features.text import HashedText, hashed_rows, normalized

BITS = 18


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    if data.folder() is None:
        print("skipped: set PERCEPTRON_RS_DATA to the folder with the real data")
        return 0
    texts, _ = data.brown()
    figures = bars.Figures("text", write=arguments.write)
    for analyzer, ngrams in (("word", (1, 2)), ("char_wb", (3, 3))):
        peer = HashingVectorizer(n_features=1 << BITS, analyzer=analyzer, ngram_range=ngrams)
        options = HashedText(analyzer=analyzer, ngrams=ngrams)

        def ours(options=options):
            return normalized(hashed_rows(texts, options, 1 << BITS), options.norm)

        rows, expected = ours(), peer.transform(texts)
        assert rows.data.tobytes() == expected.data.tobytes()
        assert rows.indices.tolist() == expected.indices.tolist()
        own, other = alternate(arguments.runs, ours, lambda peer=peer: peer.transform(texts))
        name = f"HashingVectorizer beside ours, {analyzer} {ngrams[0]} to {ngrams[1]}"
        print(f"{analyzer}: ours {own:.2f} s, scikit-learn {other:.2f} s for {len(texts)} texts")
        print(f"{name}:", figures.hold(name, other / own))
    return figures.end()


if __name__ == "__main__":
    raise SystemExit(main())

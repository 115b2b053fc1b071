use perceptron_rs::monitor::NUMBERS;
use perceptron_rs::text::{Analyzer, Grams, Hashing, Letters, Norm, SparseView, added, hashed, normalized};

use super::at_each_question;

#[test]
fn rows_of_texts_that_are_hashed_normed_and_added() {
    const ROWS: usize = 10;
    const EACH: usize = NUMBERS / 8;
    let letters = Letters::new("").expect("little");
    let grams =
        Grams { analyzer: Analyzer::Char, sizes: (1, 1), lowercase: true, letters, stop_words: [].into() };
    let (texts, hashing) =
        (vec!["a".repeat(EACH); ROWS], Hashing { columns: 64, before: b"", binary: false });
    let values = vec![1.0; ROWS * EACH];
    let columns: Vec<i64> = (0..ROWS * EACH).map(|i| (i % EACH) as i64).collect();
    let ends: Vec<i64> = (0..=ROWS).map(|i| (i * EACH) as i64).collect();
    let rows = || SparseView { values: &values, columns: &columns, ends: &ends };
    let asked = [
        at_each_question(|monitor| hashed(&texts, &grams, hashing, None, monitor).is_err()),
        at_each_question(|monitor| normalized(&values, &ends, Norm::L2, monitor).is_err()),
        at_each_question(|monitor| added(&[rows(), rows()], monitor).is_err()),
    ];
    assert!(asked.iter().all(|asked| (4..=ROWS + 3).contains(asked)), "{asked:?}");
}

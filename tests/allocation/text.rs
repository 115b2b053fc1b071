//! The reader of svmlight text. What decompresses is not ours, and asks for constant sizes.

use std::cell::Cell;
use std::path::PathBuf;
use std::{env, fs, process};

use perceptron_rs::error::Error;
use perceptron_rs::text::{Base, Rules, read};

use super::every_request_refused;

#[test]
fn lines_across_blocks() {
    let path = env::temp_dir().join(format!("perceptrons-memory-{}.svm", process::id()));
    let long = format!("1 {}\n", "7:0.25 # far beyond a block ".repeat(40));
    let text = format!("{}{long}{long}", "-1 1:2 # a comment\n\n+1 3:4.5e0\n".repeat(40));
    fs::write(&path, text).expect("the temporary folder can be written to");
    let paths: [PathBuf; 2] = [path.clone(), path.clone()];
    let rules = Rules { base: Base::Auto, refuse_query_ids: false, max_ratio: 250.0 };
    let requests = every_request_refused(|| {
        let read = read(&paths, rules, 1, 64, &())?;
        assert_eq!(read.labels.len(), 2 * 82);
        Ok(read)
    });
    fs::remove_file(path).expect("it is there");
    assert!(requests > 20, "{requests}");
}

/// The column and the value lose theirs in copies. That there is no room for one is told with its place.
#[test]
fn numbers_with_underscores() {
    let path = env::temp_dir().join(format!("perceptrons-underscores-{}.svm", process::id()));
    fs::write(&path, "1 1_0:2_5.5\n").expect("the temporary folder can be written to");
    let rules = Rules { base: Base::Zero, refuse_query_ids: false, max_ratio: 250.0 };
    let told = Cell::new(0);
    every_request_refused(|| {
        let read = read(std::slice::from_ref(&path), rules, 1, 64, &()).map_err(|error| match error {
            Error::Invalid(text) if text.contains("is longer than the memory that is left") => {
                told.set(told.get() + 1);
                Error::Memory
            }
            other => other,
        })?;
        assert_eq!((&read.columns[..], &read.values[..]), (&[10][..], &[25.5][..]));
        Ok(read)
    });
    fs::remove_file(path).expect("it is there");
    assert_eq!(told.get(), 2);
}

//! The svmlight reader without Python: where blocks are cut, and how many threads read them,
//! changes neither the examples nor the error.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, process};

use perceptron_rs::error::{Error, Result};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::text::{Base, CsrArrays, Rules, read};

const LINES: usize = if cfg!(miri) { 6 } else { 300 };
/// A block that holds a whole file.
const WHOLE: usize = if cfg!(miri) { 1 << 10 } else { 1 << 18 };

/// Bytes that are read at once.
const BLOCKS: &[usize] = if cfg!(miri) { &[9, 64] } else { &[1, 2, 7, 8, 9, 63, 64, 1000, WHOLE] };

/// A file that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &[u8]) -> Self {
        let path = env::temp_dir().join(format!("perceptrons-{}-{name}", process::id()));
        fs::write(&path, text).expect("the temporary folder can be written to");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn load(files: &[&Scratch], base: Base, threads: usize, block: usize) -> Result<CsrArrays> {
    let paths: Vec<PathBuf> = files.iter().map(|file| file.0.clone()).collect();
    read(&paths, Rules { base, refuse_query_ids: false, max_ratio: 250.0 }, threads, block, &())
}

/// Lines by rule, with what they must be read as: labels, row starts, columns from 0, values.
fn lines(count: usize, lowest: i32) -> (String, CsrArrays) {
    let mut random = SplitMix64::new(7);
    let (mut text, mut table) = (String::new(), CsrArrays { starts: vec![0], ..CsrArrays::default() });
    for row in 0..count {
        if random.below(4) == 0 {
            text += ["\n", " \t\r\n", "# 1 2:3\n", "\x0b#\n"][random.below(4) as usize];
        }
        let label = random.below(7) as f64 - 3.0;
        table.labels.push(label);
        write!(text, "{label}").unwrap();
        let mut column = -1;
        for _ in 0..random.below(9) {
            let most = 10_u64.pow(random.below(5) as u32);
            // The first is the lowest, by which the base is known.
            column += if table.columns.is_empty() { 1 } else { 1 + random.below(most) as i32 };
            let value =
                (random.below(2_000_001) as f64 - 1e6) / [1.0, 10.0, 1024.0][random.below(3) as usize];
            write!(text, "{}{}:{value}", [" ", "\t", "  "][random.below(3) as usize], column + lowest)
                .unwrap();
            table.columns.push(column);
            table.values.push(value);
            table.width = table.width.max(column as u64 + 1);
        }
        table.starts.push(table.columns.len() as i64);
        text += ["\n", " # 5:6\n", "\r\n"][if row + 1 == count { 0 } else { random.below(3) as usize }];
    }
    (text, table)
}

fn assert_equal(got: &CsrArrays, expected: &CsrArrays, what: &str) {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&got.labels), bits(&expected.labels), "{what}");
    assert_eq!(got.starts, expected.starts, "{what}");
    assert_eq!(got.columns, expected.columns, "{what}");
    assert_eq!(bits(&got.values), bits(&expected.values), "{what}");
    assert_eq!(got.width, expected.width, "{what}");
}

#[test]
fn blocks_and_threads_change_nothing() {
    for (lowest, base) in [(0, Base::Auto), (0, Base::Zero), (1, Base::Auto), (1, Base::One)] {
        let (text, expected) = lines(LINES, lowest);
        assert!(text.len() > 30 * LINES);
        let file = Scratch::new(&format!("{lowest}{base:?}"), text.as_bytes());
        for &block in BLOCKS {
            for threads in [1, 2, 3] {
                let got = load(&[&file], base, threads, block).unwrap();
                assert_equal(&got, &expected, &format!("{base:?} block {block} threads {threads}"));
            }
        }
    }
}

#[test]
fn every_cut_into_two_files_at_a_line_end() {
    let (text, expected) = lines(12, 0);
    for (cut, _) in text.match_indices('\n') {
        let first = Scratch::new("first", &text.as_bytes()[..cut]); // without its last line end
        let second = Scratch::new("second", &text.as_bytes()[cut + 1..]);
        let got = load(&[&first, &second], Base::Zero, 2, 5).unwrap();
        assert_equal(&got, &expected, &format!("cut at {cut}"));
    }
}

#[test]
fn the_first_error_is_reported_whatever_the_threads_and_blocks() {
    let (text, _) = lines(LINES, 0);
    let good = Scratch::new("good", text.as_bytes());
    let bad = Scratch::new("bad", format!("{text}1 5:1 x:2\n{text}oops\n").as_bytes());
    let missing = Scratch(env::temp_dir().join("perceptrons-is-not-there"));
    let line = text.matches('\n').count() + 1;
    let place = format!("{}, line {line}, column 7: \"x:2\" is not", bad.0.display());
    for block in [1, 50, 1000, WHOLE] {
        for threads in [1, 2, 4] {
            match load(&[&good, &bad, &missing], Base::Zero, threads, block) {
                Err(Error::Invalid(text)) => assert!(text.starts_with(&place), "{text}"),
                other => panic!("{other:?}"),
            }
            match load(&[&good, &missing, &bad], Base::Zero, threads, block) {
                Err(Error::File { path, .. }) => assert_eq!(path, missing.0),
                other => panic!("{other:?}"),
            }
        }
    }
}

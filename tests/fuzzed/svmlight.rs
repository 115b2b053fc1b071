//! svmlight text: the reader, in blocks and on threads, against a slow one by `str::parse`.

use std::path::PathBuf;
use std::{env, fs, process};

use perceptron_rs::error::Error;
use perceptron_rs::text::{Base, CsrArrays, Rules, read};

use super::draws::Draws;

/// What other kinds of files begin with.
const NO_TEXT: [&[u8]; 4] = [b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"];
/// A byte order mark, which is left out.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A block that holds a whole file.
const WHOLE: usize = if cfg!(miri) { 1 << 10 } else { 1 << 18 };

pub fn run(data: &[u8]) {
    let (settings, text) = data.split_at(data.len().min(3));
    let mut draws = Draws::new(settings);
    let rules = Rules {
        base: draws.one_of(&[Base::Auto, Base::Zero, Base::One]),
        refuse_query_ids: draws.below(2) == 1,
        max_ratio: 250.0,
    };
    let block = usize::from(draws.byte()) + 1;
    let path = scratch();
    fs::write(&path, text).expect("the temporary folder can be written to");
    let paths = [path];
    let expected = by_parse(text.strip_prefix(MARK).unwrap_or(text), rules);
    for (threads, block) in [(1, block), (1, WHOLE), (2, block)] {
        let what = format!("{rules:?}, block {block}, {threads} threads");
        match (read(&paths, rules, threads, block, &()), &expected) {
            (Ok(table), Ok(expected)) => is_table(&table, expected, &what),
            (Err(Error::Invalid(text)), Err(place)) => {
                let place = place.map(|(line, column)| format!("line {line}, column {column}: "));
                assert!(
                    place.is_none_or(|place| text.contains(&place)),
                    "{what}: {text}, not at {expected:?}"
                );
            }
            (got, _) => panic!("{what}: {got:?}, not {expected:?}"),
        }
    }
    let _ = fs::remove_file(&paths[0]);
}

/// In memory where the system has a place for that.
fn scratch() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() && !cfg!(miri) { memory } else { env::temp_dir() };
    folder.join(format!("perceptrons-fuzzed-{}", process::id()))
}

fn is_table(got: &CsrArrays, expected: &CsrArrays, what: &str) {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&got.labels), bits(&expected.labels), "{what}");
    assert_eq!(got.starts, expected.starts, "{what}");
    assert_eq!(got.columns, expected.columns, "{what}");
    assert_eq!(bits(&got.values), bits(&expected.values), "{what}");
    assert_eq!(got.width, expected.width, "{what}");
}

/// Where the first mistake is, if it is one of a line.
type Place = Option<(usize, usize)>;

fn by_parse(text: &[u8], rules: Rules) -> Result<CsrArrays, Place> {
    if NO_TEXT.iter().any(|magic| text.starts_with(magic)) {
        return Err(None);
    }
    let mut table = CsrArrays { starts: vec![0], ..CsrArrays::default() };
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        read_line(line, rules, &mut table).map_err(|at| Some((number + 1, at + 1)))?;
    }
    let from_zero = rules.base == Base::Zero || (rules.base == Base::Auto && table.columns.contains(&0));
    if !from_zero {
        table.columns.iter_mut().for_each(|column| *column -= 1);
    }
    table.width = table.columns.iter().max().map_or(1, |&widest| widest as u64 + 1);
    Ok(table)
}

/// Appends the example of a line, with its columns as they are written; or says where it is wrong.
fn read_line(line: &[u8], rules: Rules, table: &mut CsrArrays) -> Result<(), usize> {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    let mut tokens = line
        .split(|byte| b" \t\r\x0b\x0c".contains(byte))
        .filter(|token| !token.is_empty())
        .map(|token| (token.as_ptr() as usize - line.as_ptr() as usize, token));
    let Some((at, label)) = tokens.next() else { return Ok(()) };
    table.labels.push(number(label).ok_or(at)?);
    let (mut last, mut is_first) = (-1, true);
    for (at, token) in tokens {
        let colon = token.iter().position(|&byte| byte == b':').ok_or(at)?;
        let is_query_id = is_first && token.starts_with(b"qid") && !token.contains(&0);
        is_first = false;
        if is_query_id {
            if rules.refuse_query_ids {
                return Err(at);
            }
            continue;
        }
        let column = column(&token[..colon]).ok_or(at)?;
        if column == 0 && rules.base == Base::One {
            return Err(at);
        }
        let value = number(&token[colon + 1..]).ok_or(at + colon + 1)?;
        if column <= last {
            return Err(at);
        }
        last = column;
        table.columns.push(column);
        table.values.push(value);
    }
    table.starts.push(table.columns.len() as i64);
    Ok(())
}

/// Without the underscores that Python lets stand between two digits.
fn digits_only(token: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(token).ok()?;
    let parts: Vec<&str> = text.split('_').collect();
    let ends = |part: &str| part.ends_with(|c: char| c.is_ascii_digit());
    let starts = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    parts.windows(2).all(|pair| ends(pair[0]) && starts(pair[1])).then(|| parts.concat())
}

fn number(token: &[u8]) -> Option<f64> {
    digits_only(token)?.parse().ok().filter(|value: &f64| value.is_finite())
}

fn column(token: &[u8]) -> Option<i32> {
    digits_only(token)?.parse().ok().filter(|column| *column >= 0)
}

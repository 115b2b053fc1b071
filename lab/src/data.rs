//! Points of the plane: those of lectures, and some that are drawn by a rule.

use std::ops::Range;

use perceptron_rs::order::SplitMix64;
use serde::Serialize;

use crate::request::number;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// 0, 1 or 2. Of two classes the lower one is the negative one.
    pub class: u8,
}

/// Hundredths: they are the same in a link, in Python and here.
fn hundredths(x: i64, y: i64, class: u8) -> Point {
    Point { x: x as f64 / 100.0, y: y as f64 / 100.0, class }
}

/// The data of a name; some have as many points as are asked for.
pub fn named(name: &str, n: Option<usize>) -> Result<Vec<Point>, String> {
    let table = |rows: &[(i64, i64, u8)]| {
        rows.iter().map(|&(x, y, class)| hundredths(100 * x, 100 * y, class)).collect()
    };
    Ok(match name {
        // A table of a lecture, which starts without an intercept.
        "six" => table(&[(-1, 2, 0), (1, 0, 1), (1, 1, 1), (-1, 0, 0), (-1, -2, 0), (1, -1, 1)]),
        // Printed as if one pass converged.
        "four" => table(&[(1, 1, 1), (2, 2, 1), (1, 2, 0), (2, 1, 0)]),
        "xor" => table(&[(0, 0, 1), (1, 1, 1), (0, 1, 0), (1, 0, 0)]),
        "line" => line(n.unwrap_or(85)),
        "moons" => moons(n.unwrap_or(100)),
        "noise" => clouds(n.unwrap_or(200), &[(-100, 0), (100, 0)]),
        "three" => clouds(n.unwrap_or(60), &[(0, 300), (-300, -200), (300, -200)]),
        _ => {
            return Err(format!(
                "data must be one of six, four, xor, line, moons, noise, three, own, got {name:?}"
            ));
        }
    })
}

/// Whether there can be any number of points of that name.
pub fn has_any_number(name: &str) -> bool {
    matches!(name, "line" | "moons" | "noise" | "three")
}

fn between(random: &mut SplitMix64, range: Range<i64>) -> i64 {
    range.start + random.below((range.end - range.start) as u64) as i64
}

/// Points beside a line, none closer than a little, and not around the origin: 85 of them take 2 to 25
/// epochs, as their order is. A lecture that drew as many saw 9, 15, 8 and 14.
fn line(n: usize) -> Vec<Point> {
    let (mut random, mut points) = (SplitMix64::new(85), Vec::new());
    while points.len() < n {
        let [x, y] = [0, 1].map(|_| between(&mut random, 0..301));
        let side = 3 * x + 4 * y - 1050;
        if side.abs() >= 5 * NEAREST {
            points.push(hundredths(x, y, u8::from(side > 0)));
        }
    }
    points
}

/// In hundredths.
const NEAREST: i64 = 4;

/// Two half rings, each of which reaches into the other.
fn moons(n: usize) -> Vec<Point> {
    let (mut random, mut points) = (SplitMix64::new(2), Vec::new());
    while points.len() < n {
        let (x, y) = (between(&mut random, -120..121), between(&mut random, 0..121));
        if (80 * 80..=120 * 120).contains(&(x * x + y * y)) {
            let upper = points.len() % 2 == 0;
            points.push(if upper { hundredths(x, y, 1) } else { hundredths(100 - x, 40 - y, 0) });
        }
    }
    points
}

/// As many points around each centre, as bells.
fn clouds(n: usize, centres: &[(i64, i64)]) -> Vec<Point> {
    let mut random = SplitMix64::new(3);
    let mut bell = || (0..6).map(|_| between(&mut random, -50..51)).sum::<i64>();
    let place = |i: usize| {
        let (x, y) = centres[i % centres.len()];
        hundredths(x + bell(), y + bell(), (i % centres.len()) as u8)
    };
    (0..n).map(place).collect()
}

/// How many examples turn.
const TURNED: usize = 20;

/// Twenty examples, of which so many have turned: each has a direction of its own, the others are points of
/// the plane. The rows, how many features they have, and the classes.
pub fn turned(count: usize) -> (Vec<f64>, usize, Vec<u8>) {
    let (d, mut random) = (2 + TURNED, SplitMix64::new(20));
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    while classes.len() < TURNED {
        let [x, y] = [0, 1].map(|_| between(&mut random, -100..101));
        let side = 3 * x + 4 * y;
        if x * x + y * y <= 100 * 100 && side.abs() >= 5 * 15 {
            let (mut row, i) = (vec![0.0; d], classes.len());
            if i < count {
                row[2 + i] = 1.0;
            } else {
                row[..2].copy_from_slice(&[x, y].map(|v| v as f64 / 100.0));
            }
            rows.extend(row);
            classes.push(u8::from(side > 0));
        }
    }
    (rows, d, classes)
}

/// Reads `x,y,class;x,y,class`.
pub fn parse(text: &str) -> Result<Vec<Point>, String> {
    let point = |text: &str| {
        let parts: Vec<&str> = text.split(',').collect();
        let [x, y, class] = parts[..] else {
            return Err(format!("a point must be x,y,class, got {text:?}"));
        };
        let [x, y] = [x, y].map(|part| number("a coordinate", part, -1e6..=1e6));
        Ok(Point { x: x? + 0.0, y: y? + 0.0, class: number("a class", class, 0..=2)? })
    };
    text.split(';').filter(|part| !part.is_empty()).map(point).collect()
}

//! The vectors of a run on new rows: the last one, the average, the vote, one that was drawn; each from
//! the same kernel values, which are computed once.

use super::gram::{Dots, Finish, GramForm, Side, same_columns, square_of, squares, squares_of};
use super::kernels::Kernel;
use crate::arith::average::{average, timed};
use crate::arith::environment::standard;
use crate::arith::gram::vote;
use crate::arith::kernel::{add, normalised};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{Error, Monitor, Result, bail, choice, collected, ensure, filled, tried, with_room};
use crate::online::voted::Log;
use crate::rows::{Matrix, Tie};
use crate::threads::each;

/// Rows that are judged at a time: their kernel values with all stored rows are kept meanwhile.
const BLOCK: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// S of the last vector.
    Sum,
    Last,
    Average,
    /// The votes of all vectors: their counts, or minus them.
    Vote,
    /// In a joint decision: the counts of the vectors that give this class alone the largest score.
    JointVote,
    Drawn,
    NormalisedLast,
    NormalisedAverage,
    NormalisedDrawn,
}

impl Answer {
    pub fn new(name: &str) -> Result<Self> {
        let answers = [
            ("sum", Self::Sum),
            ("last", Self::Last),
            ("average", Self::Average),
            ("vote", Self::Vote),
            ("joint vote", Self::JointVote),
            ("drawn", Self::Drawn),
            ("normalised last", Self::NormalisedLast),
            ("normalised average", Self::NormalisedAverage),
            ("normalised drawn", Self::NormalisedDrawn),
        ];
        choice("answers", name, &answers)
    }
}

/// All vectors of K planes: b of the start, the log of the mistakes that made the others with their
/// `t`; how many votes each has and its N, those of a plane one after another, the start vector first.
#[derive(Clone, Copy)]
pub struct SupportVectors<'a> {
    pub stored: &'a dyn Matrix,
    pub kernel: Kernel,
    pub log: Log<'a>,
    pub t: &'a [i64],
    pub intercept: &'a [f64],
    pub seen: &'a [i64],
    pub counts: &'a [i64],
    /// Whether a vector votes for at an activation of 0.
    pub tie: Tie,
    pub norms: &'a [f64],
    /// The vector of each plane that was drawn.
    pub drawn: &'a [i64],
}

impl SupportVectors<'_> {
    fn check(&self, rows: &dyn Matrix) -> Result<()> {
        same_columns(self.kernel, rows, self.stored)?;
        let planes = self.log.planes();
        let entries = self.log.entries(planes - 1).end;
        let vectors = entries + planes;
        let lengths = [
            ("log_t", self.t.len(), entries),
            ("intercept", self.intercept.len(), planes),
            ("seen", self.seen.len(), planes),
            ("log_count", self.counts.len(), vectors),
            ("log_norm", self.norms.len(), vectors),
            ("drawn", self.drawn.len(), planes),
        ];
        for (name, got, needed) in lengths {
            ensure!(got == needed, "{name} must have {needed} entries, got {got}");
        }
        let mut numbers = self.t.iter().chain(self.seen).chain(self.counts).chain(self.drawn);
        if let Some(number) = numbers.find(|number| **number < 0) {
            bail!("counts must be at least 0, got {number}");
        }
        let total = self.counts.iter().try_fold(0_i64, |total, &count| total.checked_add(count));
        ensure!(total.is_some(), "log_count must add up to less than 2^63");
        Ok(())
    }

    /// The mistakes of all planes in the order of their examples, for a joint vote: t, plane, place in the
    /// log.
    fn together(&self) -> Result<Vec<(i64, usize, usize)>> {
        let seen = self.seen[0];
        if let Some(other) = self.seen.iter().find(|other| **other != seen) {
            bail!("seen must be one number in a joint vote, got {seen} and {other}");
        }
        if let Some(t) = self.t.iter().find(|t| !(1..=seen).contains(*t)) {
            bail!("log_t must be from 1 to seen, {seen}, in a joint vote, got {t}");
        }
        let mut all = with_room(self.t.len())?;
        for plane in 0..self.log.planes() {
            all.extend(self.log.entries(plane).map(|place| (self.t[place], plane, place)));
        }
        all.sort_unstable();
        Ok(all)
    }
}

/// The answers for every row, into `out` (rows x answers x planes).
///
/// # Panics
/// If `out` has another length.
pub fn predict(
    rows: &dyn Matrix,
    vectors: &SupportVectors,
    answers: &[Answer],
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [f64],
) -> Result<()> {
    standard(|| {
        vectors.check(rows)?;
        let width = answers.len() * vectors.log.planes();
        assert_eq!(out.len(), rows.len() * width);
        if width == 0 {
            return Ok(());
        }
        let SupportVectors { stored, kernel, .. } = *vectors;
        let form = GramForm::of(kernel, &[rows, stored], monitor)?;
        let d = rows.columns();
        let together = answers.contains(&Answer::JointVote).then(|| vectors.together()).transpose()?;
        let step = form.tile(d);
        let numbers = collected(0..stored.len() as u32)?;
        let tile = |numbers| {
            monitor.pause()?;
            Side::tile(form, stored, numbers)
        };
        let tiles = tried(numbers.chunks(step).map(tile))?;
        let judge = Judge {
            rows,
            vectors,
            answers,
            together,
            form,
            step,
            tiles,
            squares: [squares(kernel, rows, threads, monitor)?, squares(kernel, stored, threads, monitor)?],
            monitor,
        };
        let work = |(i, out): (usize, &mut [f64])| judge.block(i * BLOCK, out);
        each(out.chunks_mut(BLOCK * width).enumerate(), threads, monitor, work)
    })
}

struct Judge<'a> {
    rows: &'a dyn Matrix,
    vectors: &'a SupportVectors<'a>,
    answers: &'a [Answer],
    together: Option<Vec<(i64, usize, usize)>>,
    form: GramForm,
    step: usize,
    /// The stored rows.
    tiles: Vec<Side>,
    squares: [Vec<f64>; 2],
    monitor: &'a dyn Monitor,
}

impl Judge<'_> {
    /// The answers for some rows from `first` on.
    fn block(&self, first: usize, out: &mut [f64]) -> Result<()> {
        let planes = self.vectors.log.planes();
        let values = self.values(first, out.len() / (self.answers.len() * planes))?;
        for plane in 0..planes {
            let plane =
                PlaneAnswers { vectors: self.vectors, number: plane, values: &values, answers: self.answers };
            if !dispatch((plane, &mut *out)) {
                return Err(Error::TooLarge(
                    "rows: the activation of a vector is not finite; scale the features".into(),
                ));
            }
        }
        if let Some(together) = &self.together {
            let votes = dispatch(Joint { vectors: self.vectors, together, values: &values })?;
            for (number, out) in out.chunks_mut(planes).enumerate() {
                let (row, answer) = (number / self.answers.len(), number % self.answers.len());
                if self.answers[answer] == Answer::JointVote {
                    for (out, votes) in out.iter_mut().zip(&votes) {
                        *out = votes[row] as f64;
                    }
                }
            }
        }
        Ok(())
    }

    /// Kernel values of some rows with all stored ones, one [`BLOCK`] for each of the latter.
    fn values(&self, first: usize, count: usize) -> Result<Vec<[f64; BLOCK]>> {
        let (stored, kernel) = (self.vectors.stored, self.vectors.kernel);
        let mut values = filled([0.0; BLOCK], stored.len())?;
        if self.form == GramForm::Given {
            for (slot, values) in values.iter_mut().enumerate() {
                for (i, value) in values[..count].iter_mut().enumerate() {
                    *value = self.rows.value(first + i, slot);
                }
            }
            return Ok(values);
        }
        let numbers = collected(first as u32..(first + count) as u32)?;
        let left = Side::left(self.form, self.rows, &numbers, stored, stored.len())?;
        let mut dots = tried(numbers.iter().map(|_| Dots::new(self.form, self.step)))?;
        let mut finished = filled(0.0, self.step)?;
        for ((i, tile), values) in self.tiles.iter().enumerate().zip(values.chunks_mut(self.step)) {
            self.monitor.pause()?;
            let mut parts = collected(dots.iter_mut().map(Dots::all_mut))?;
            left.dots(stored, tile, 0, &mut parts)?;
            let here = i * self.step..i * self.step + values.len();
            for (row, part) in parts.iter_mut().enumerate() {
                let out = &mut finished[..values.len()];
                dispatch(Finish {
                    kernel,
                    dots: Some(&part.sub(0..values.len())),
                    square: square_of(&self.squares[0], first + row),
                    squares: squares_of(&self.squares[1], here.clone()),
                    out: &mut *out,
                });
                for (values, value) in values.iter_mut().zip(out) {
                    values[row] = *value;
                }
            }
        }
        Ok(values)
    }
}

/// The vectors of one plane and the kernel values of a block of rows.
struct PlaneAnswers<'a> {
    vectors: &'a SupportVectors<'a>,
    number: usize,
    values: &'a [[f64; BLOCK]],
    answers: &'a [Answer],
}

/// One number for each row of the block, of each kind.
struct BlockSums {
    s: [f64; BLOCK],
    u: [f64; BLOCK],
    votes: [i64; BLOCK],
    shares: [f64; BLOCK],
    drawn: [f64; BLOCK],
}

impl Leaf for (PlaneAnswers<'_>, &mut [f64]) {
    type Output = bool;

    /// False if an activation is not finite.
    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> bool {
        let (PlaneAnswers { vectors, number, values, answers }, out) = self;
        let wanted = |kinds: &[Answer]| answers.iter().any(|answer| kinds.contains(answer));
        let (averages, votes) = (wanted(&[Answer::Average]), wanted(&[Answer::Vote]));
        let shares = wanted(&[Answer::NormalisedAverage]);
        let mut now = BlockSums {
            s: [0.0; BLOCK],
            u: [0.0; BLOCK],
            votes: [0; BLOCK],
            shares: [0.0; BLOCK],
            drawn: [0.0; BLOCK],
        };
        let (mut b, mut b_u) = (vectors.intercept[number] + 0.0, 0.0);
        let entries = vectors.log.entries(number);
        let first = entries.start + number;
        let (counts, norms) = (&vectors.counts[first..], &vectors.norms[first..]);
        let drawn = vectors.drawn[number] as usize;
        for vector in 0..=entries.len() {
            if vector > 0 {
                let place = entries.start + vector - 1;
                let (row, [c, bias]) = vectors.log.entry(place);
                add(c, &values[row], &mut now.s);
                b += bias;
                if averages {
                    let t = vectors.t[place] as u64;
                    add(timed(t, c), &values[row], &mut now.u);
                    b_u += timed(t, bias);
                }
            }
            if votes {
                let cast = [counts[vector], vectors.tie.votes_at_zero(counts[vector])];
                for (votes, s) in now.votes.iter_mut().zip(&now.s) {
                    *votes += vote(*s + b, cast);
                }
            }
            if shares && counts[vector] > 0 {
                let mut share = now.s;
                for s in &mut share {
                    *s = normalised(*s + b, norms[vector]);
                }
                add(counts[vector] as f64, &share, &mut now.shares);
            }
            if vector == drawn {
                for (drawn, s) in now.drawn.iter_mut().zip(&now.s) {
                    *drawn = *s + b;
                }
            }
        }
        let seen = vectors.seen[number] as u64;
        let mut total = 0;
        for count in &counts[..=entries.len()] {
            total += count;
        }
        let (last_norm, drawn_norm) = (norms[entries.len()], norms[drawn.min(entries.len())]);
        let planes = vectors.log.planes();
        let mut finite = true;
        for (i, out) in out.chunks_mut(answers.len() * planes).enumerate() {
            let a = now.s[i] + b;
            finite &= a.is_finite();
            for (out, answer) in out[number..].iter_mut().step_by(planes).zip(answers) {
                *out = match answer {
                    Answer::Sum => now.s[i],
                    Answer::Last => a,
                    Answer::Average => average(now.s[i], now.u[i], seen) + average(b, b_u, seen),
                    Answer::Vote => now.votes[i] as f64,
                    Answer::JointVote => 0.0, // cast by all planes together, after this
                    Answer::Drawn => now.drawn[i],
                    Answer::NormalisedLast => normalised(a, last_norm),
                    Answer::NormalisedAverage => now.shares[i] / total.max(1_i64) as f64,
                    Answer::NormalisedDrawn => normalised(now.drawn[i], drawn_norm),
                };
                finite &= out.is_finite();
            }
        }
        finite
    }
}

/// The vectors of a joint run, which are changed by its mistakes on all planes at once, and the kernel values
/// of a block of rows.
struct Joint<'a> {
    vectors: &'a SupportVectors<'a>,
    together: &'a [(i64, usize, usize)],
    values: &'a [[f64; BLOCK]],
}

impl Leaf for Joint<'_> {
    type Output = Result<Vec<[i64; BLOCK]>>;

    /// The votes for each plane; after them, those of vectors that no single class has the largest score of.
    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Self::Output {
        let Joint { vectors, together, values } = self;
        let planes = vectors.log.planes();
        let (mut sums, mut votes) = (filled([0.0; BLOCK], planes)?, filled([0; BLOCK], planes + 1)?);
        let mut biases = collected(vectors.intercept.iter().map(|b| b + 0.0))?;
        let mut cast = |count: i64, sums: &[[f64; BLOCK]], biases: &[f64]| {
            let (mut best, mut largest) = ([0; BLOCK], sums[0]);
            for s in &mut largest {
                *s += biases[0];
            }
            for (plane, (sums, b)) in sums.iter().zip(biases).enumerate().skip(1) {
                for ((best, largest), s) in best.iter_mut().zip(&mut largest).zip(sums) {
                    let a = *s + *b;
                    if a > *largest {
                        (*best, *largest) = (plane, a);
                    } else if a == *largest {
                        *best = planes;
                    }
                }
            }
            for (i, plane) in best.into_iter().enumerate() {
                votes[plane][i] += count;
            }
        };
        let mut before = 1;
        for &(t, plane, place) in together {
            if t > before {
                cast(t - before, &sums, &biases);
                before = t;
            }
            let (row, [c, bias]) = vectors.log.entry(place);
            add(c, &values[row], &mut sums[plane]);
            biases[plane] += bias;
        }
        cast(vectors.seen[0] - before + 1, &sums, &biases);
        Ok(votes)
    }
}

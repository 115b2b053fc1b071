//! The core in a browser: what the page `lab` calls.
//!
//! A text goes in by [`input`], and what a function has to say comes out as JSON at [`output`]; it returns
//! the length of that. So the page reads and writes nothing but bytes, and nothing here is unsafe.

mod data;
mod digest;
mod layers;
mod margin;
mod planes;
mod proof;
mod python;
mod request;
mod session;
mod view;

use std::cell::RefCell;

use serde::Serialize;
use serde_json::json;

use session::Session;

#[derive(Default)]
struct Lab {
    input: Vec<u8>,
    output: Vec<u8>,
    session: Option<Session>,
}

thread_local! {
    static LAB: RefCell<Lab> = RefCell::default();
}

/// Room for a text of so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    LAB.with_borrow_mut(|lab| {
        lab.input.clear();
        lab.input.resize(len, 0);
        lab.input.as_mut_ptr()
    })
}

/// What the last function had to say.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    LAB.with_borrow(|lab| lab.output.as_ptr())
}

/// Begins the run of the link that was put in. Says which points there are.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> usize {
    LAB.with_borrow_mut(|lab| {
        let opened =
            std::str::from_utf8(&lab.input).map_err(|error| error.to_string()).and_then(Session::open);
        let said = match opened {
            Ok(session) => {
                let said = json!({"points": session.request.points, "classes": session.data.classes});
                lab.session = Some(session);
                Ok(said)
            }
            Err(error) => {
                lab.session = None;
                Err(error)
            }
        };
        say(lab, said)
    })
}

/// The points of a link, also where nothing can be learnt from them.
#[unsafe(no_mangle)]
pub extern "C" fn points() -> usize {
    LAB.with_borrow_mut(|lab| {
        let text = std::str::from_utf8(&lab.input).map_err(|error| error.to_string());
        let said = text.and_then(request::Request::parse).map(|request| request.points);
        say(lab, said)
    })
}

/// Makes one epoch more. Says how far the run has come, and what mistakes the epoch made.
#[unsafe(no_mangle)]
pub extern "C" fn epoch() -> usize {
    with_session(|session| {
        session.epoch()?;
        let mistakes: Option<i64> = session.mistakes.last().map(|made| made.iter().sum());
        let epochs = session.mistakes.len();
        Ok(json!({"known": session.known(), "epochs": epochs, "mistakes": mistakes, "ended": session.ended}))
    })
}

/// The place after `t` examples, and one plane of it.
#[unsafe(no_mangle)]
pub extern "C" fn view(t: f64, plane: usize) -> usize {
    with_session(|session| session.view(t as u64, plane).map_err(|error| error.to_string()))
}

/// Mistakes of each epoch, by planes.
#[unsafe(no_mangle)]
pub extern "C" fn curve() -> usize {
    with_session(|session| Ok(session.mistakes.clone()))
}

/// The next place at which something was learnt, or the one before: null if it is not known.
#[unsafe(no_mangle)]
pub extern "C" fn update(t: f64, forward: i32) -> usize {
    with_session(|session| Ok(session.update(t as u64, forward != 0)))
}

/// What is certain of the points for a plane.
#[unsafe(no_mangle)]
pub extern "C" fn margin(plane: usize) -> usize {
    with_session(|session| session.margin(plane).map_err(|error| error.to_string()))
}

/// What the proof compares after each mistake up to place `t`, apart from the `from` first ones. `u` has so
/// many numbers: none, two, or three with an intercept.
#[unsafe(no_mangle)]
pub extern "C" fn lengths(t: f64, plane: usize, from: usize, n: usize, u1: f64, u2: f64, u3: f64) -> usize {
    let u = &[u1, u2, u3][..n.min(3)];
    with_session(|session| session.lengths(t as u64, plane, from, u).map_err(|error| error.to_string()))
}

/// Twenty examples of which so many are orthogonal, their run, and what the proof compares.
#[unsafe(no_mangle)]
pub extern "C" fn turned(count: usize) -> usize {
    LAB.with_borrow_mut(|lab| {
        let said = Session::turned(count).and_then(|mut session| {
            let text = |error: perceptron_rs::error::Error| error.to_string();
            let margin = session.margin(0).map_err(text)?;
            let lengths = session.lengths(session.known(), 0, 0, &margin.u).map_err(text)?;
            let rows: Vec<&[f64]> = session.data.x.chunks(session.data.d).collect();
            Ok(json!({"rows": rows, "labels": session.data.labels, "margin": margin, "lengths": lengths}))
        });
        say(lab, said)
    })
}

/// Python for the run up to there, and the digest.
#[unsafe(no_mangle)]
pub extern "C" fn report(t: f64) -> usize {
    with_session(|session| session.report(t as u64).map_err(|error| error.to_string()))
}

/// What the example behind place `t` does to a plane, and whether a prediction of that is right.
#[unsafe(no_mangle)]
pub extern "C" fn check(t: f64, plane: usize, mistake: i32, w1: f64, w2: f64, b: f64) -> usize {
    let said = (mistake != 0).then_some([w1, w2, b]);
    with_session(|session| session.check(t as u64, plane, said))
}

/// The classes of `count` places from number `first` on, a digit each. The first places are `side` x `side`
/// ones, from the upper left corner on row by row; the points follow.
#[unsafe(no_mangle)]
pub extern "C" fn classes(
    t: f64,
    side: usize,
    left: f64,
    top: f64,
    step: f64,
    first: usize,
    count: usize,
) -> usize {
    with_session(|session| {
        let cells = side * side;
        let place = |i: usize| match i.checked_sub(cells) {
            Some(point) => [session.data.x[2 * point], session.data.x[2 * point + 1]],
            None => [left + (i % side) as f64 * step, top - (i / side) as f64 * step],
        };
        let end = (first + count).min(cells + session.data.len());
        let x: Vec<f64> = (first..end).flat_map(place).collect();
        let classes = session.classes(t as u64, &x).map_err(|error| error.to_string())?;
        Ok(classes.iter().map(|class| char::from(b'0' + class)).collect::<String>())
    })
}

fn with_session<T: Serialize>(f: impl FnOnce(&mut Session) -> Result<T, String>) -> usize {
    LAB.with_borrow_mut(|lab| {
        let said = lab.session.as_mut().ok_or("there is no run".into()).and_then(f);
        say(lab, said)
    })
}

/// `{"ok": ...}` or `{"error": "..."}`.
fn say<T: Serialize>(lab: &mut Lab, said: Result<T, String>) -> usize {
    let said = said.and_then(|said| serde_json::to_value(said).map_err(|error| error.to_string()));
    let text = match said {
        Ok(said) => json!({ "ok": said }),
        Err(error) => json!({ "error": error }),
    };
    lab.output = text.to_string().into_bytes();
    lab.output.len()
}

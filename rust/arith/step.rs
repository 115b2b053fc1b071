//! Rule 4: the step of an update, `c = (eta*s)*y` with `s` = sample weight times class weight,
//! rounded once.

/// The weight `s` of an example.
#[inline(always)]
#[must_use]
pub fn weight(sample_weight: Option<f64>, class_weight: f64) -> f64 {
    match sample_weight {
        Some(weight) => weight * class_weight,
        None => class_weight,
    }
}

#[inline(always)]
#[must_use]
pub fn step(eta: f64, s: f64, positive: bool) -> f64 {
    let size = eta * s;
    if positive { size } else { -size }
}

/// `y*a`: the activation as seen from the example's label. On bits, because a branch on the label
/// would be mispredicted for every second example.
#[inline(always)]
#[must_use]
pub fn signed(a: f64, positive: bool) -> f64 {
    f64::from_bits(a.to_bits() ^ (u64::from(!positive) << 63))
}

/// A start weight: −0.0 becomes +0.0 (no state vector ever holds −0.0).
#[inline(always)]
#[must_use]
pub fn start(w: f64) -> f64 {
    w + 0.0
}

/// How far one update with this step moves the activation of an example of this squared norm.
#[must_use]
pub fn moved_by(step: f64, square: f64, fit_intercept: bool) -> f64 {
    step * if fit_intercept { square + 1.0 } else { square }
}

/// After as many updates or fewer the example is still wrong.
#[must_use]
pub fn updates_needed(m: f64, shift: f64) -> f64 {
    -m / shift
}

//! The digest of a model, as ARITHMETIC.md defines it: that of `perceptron_rs.digest`.

use std::collections::BTreeMap;
use std::fmt::Write;

use perceptron_rs::audit::row_digests;
use perceptron_rs::error::Result;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::planes::{Planes, Vectors};
use crate::request::{Learner, Request};
use crate::session::{Data, Run, Session};

enum Numbers {
    Floats(Vec<f64>),
    Integers(Vec<i64>),
    Bytes(Vec<u8>),
}

/// Arrays by name, with their shapes.
#[derive(Default)]
struct Arrays(BTreeMap<String, (Vec<usize>, Numbers)>);

impl Arrays {
    fn floats(&mut self, name: &str, shape: &[usize], values: &[f64]) {
        self.0.insert(name.into(), (shape.into(), Numbers::Floats(values.into())));
    }

    fn integers(&mut self, name: &str, values: &[i64]) {
        self.0.insert(name.into(), (vec![values.len()], Numbers::Integers(values.into())));
    }
}

impl Session {
    /// The digest of what has been learnt from `t` examples.
    pub fn digest(&mut self, t: u64) -> Result<String> {
        let Self { request, data, run, .. } = self;
        let (mut settings, mut arrays) = (Map::new(), Arrays::default());
        let classes = json!({"type": "int64", "values": data.values()});
        settings.insert("classes_".into(), classes);
        settings.insert("n_features_in_".into(), json!(2));
        match run {
            Run::Layers(run) => {
                settings.insert("learner".into(), json!("multilayer"));
                settings.insert("activation".into(), json!(request.activation_name()));
                let mut before = 2;
                for (i, layer) in run.network(data, t)?.layers.iter().enumerate() {
                    arrays.floats(&format!("coef_{i}"), &[layer.neurons(), before], &layer.coef);
                    arrays.floats(&format!("intercept_{i}"), &[layer.neurons()], &layer.intercept);
                    before = layer.neurons();
                }
            }
            Run::Planes(run) => {
                settings.insert("tie".into(), json!(request.tie_name()));
                match request.learner {
                    Learner::Kernel => of_kernel(request, data, run, t, &mut settings, &mut arrays)?,
                    Learner::Voted => of_votes(request, data, run, t, &mut settings, &mut arrays)?,
                    _ => of_lines(request, data, run, t, &mut settings, &mut arrays)?,
                }
            }
        }
        Ok(digest(&settings, &arrays))
    }
}

fn of_lines(
    request: &Request,
    data: &Data,
    run: &mut Planes,
    t: u64,
    settings: &mut Map<String, Value>,
    arrays: &mut Arrays,
) -> Result<()> {
    let planes = run.planes();
    let (coef, intercept) = run.answer(request.learner, data, t)?;
    arrays.floats("coef_", &[planes, 2], &coef);
    arrays.floats("intercept_", &[planes], &intercept);
    arrays.integers("n_seen_", &run.vectors(t).seen);
    if request.learner == Learner::Averaged {
        let sums = run.sums(data, t)?;
        arrays.floats("last_coef_", &[planes, 2], &sums.coef);
        arrays.floats("last_intercept_", &[planes], &sums.intercept);
        arrays.floats("_coef_u", &[planes, 2], &sums.coef_u);
        arrays.floats("_intercept_u", &[planes], &sums.intercept_u);
    }
    settings.insert("learner".into(), serde_json::to_value(request.learner).unwrap_or_default());
    Ok(())
}

fn of_votes(
    request: &Request,
    data: &Data,
    run: &mut Planes,
    t: u64,
    settings: &mut Map<String, Value>,
    arrays: &mut Arrays,
) -> Result<()> {
    let planes = run.planes();
    let (last, start, vectors) = (run.sums(data, t)?, run.first().clone(), run.vectors(t));
    arrays.floats("_coef", &[planes, 2], &last.coef);
    arrays.floats("_intercept", &[planes], &last.intercept);
    arrays.integers("n_seen_", &vectors.seen);
    arrays.floats("vectors_coef", &[planes, 2], &start.coef);
    arrays.floats("vectors_intercept", &[planes], &start.intercept);
    arrays.floats("vectors_coef_u", &[planes, 2], &start.coef_u);
    arrays.floats("vectors_intercept_u", &[planes], &start.intercept_u);
    arrays.integers("vectors_first_t", &vec![1; planes]);
    add_log(data, &vectors, "vectors_", arrays)?;
    for (name, value) in
        [("learner", json!("voted")), ("prediction", json!("vote")), ("seed", json!(request.seed))]
    {
        settings.insert(name.into(), value);
    }
    Ok(())
}

fn of_kernel(
    request: &Request,
    data: &Data,
    run: &mut Planes,
    t: u64,
    settings: &mut Map<String, Value>,
    arrays: &mut Arrays,
) -> Result<()> {
    let (planes, vectors) = (run.planes(), run.vectors(t));
    add_log(data, &vectors, "", arrays)?;
    arrays.floats("log_norm", &[vectors.norms.len()], &vectors.norms);
    arrays.integers("log_count", &vectors.counts);
    arrays.floats("intercept", &[planes], &run.first().intercept);
    arrays.integers("seen", &vectors.seen);
    arrays.integers("drawn", &vectors.drawn(u64::from(request.seed)));
    arrays.floats("gamma", &[], &[request.gamma]);
    // Added up mistake by mistake, as the weights are.
    let mut intercept = vec![0.0; planes];
    for (k, pair) in vectors.start.windows(2).enumerate() {
        for bias in &vectors.bias[pair[0] as usize..pair[1] as usize] {
            intercept[k] += bias;
        }
    }
    arrays.floats("intercept_", &[planes], &intercept);
    for (name, value) in [
        ("learner", json!("kernel")),
        ("kernel", json!(request.kernel)),
        ("multi_class", json!("ovr")),
        ("gamma", json!(request.gamma)),
        ("prediction", json!(request.prediction.name())),
        ("normalize", json!(false)),
    ] {
        settings.insert(name.into(), value);
    }
    if request.kernel == "poly" {
        settings.insert("degree".into(), json!(request.degree));
        settings.insert("coef0".into(), json!(request.coef0));
    }
    Ok(())
}

/// The log; in the place of its rows their digests.
fn add_log(data: &Data, vectors: &Vectors, prefix: &str, arrays: &mut Arrays) -> Result<()> {
    let mistakes = vectors.row.len();
    let all = row_digests(&data.rows()?, &())?;
    let rows: Vec<u8> =
        vectors.row.iter().flat_map(|row| &all[32 * *row as usize..][..32]).copied().collect();
    arrays.integers(&format!("{prefix}log_start"), &vectors.start);
    arrays.integers(&format!("{prefix}log_t"), &vectors.t);
    arrays.floats(&format!("{prefix}log_step"), &[mistakes], &vectors.step);
    arrays.floats(&format!("{prefix}log_bias"), &[mistakes], &vectors.bias);
    arrays.0.insert(format!("{prefix}rows"), (vec![mistakes, 32], Numbers::Bytes(rows)));
    Ok(())
}

fn digest(settings: &Map<String, Value>, arrays: &Arrays) -> String {
    let mut parts = Map::new();
    for (name, (shape, numbers)) in &arrays.0 {
        let kind = match numbers {
            Numbers::Floats(_) => "float64",
            Numbers::Integers(_) => "int64",
            Numbers::Bytes(_) => "uint8",
        };
        let columns = some_columns(shape, numbers).map(|columns| columns.len());
        parts.insert(name.clone(), columns.map_or(json!([kind, shape]), |some| json!([kind, shape, some])));
    }
    let mut total = Sha256::new();
    total.update(json!([settings, parts]).to_string());
    for (shape, numbers) in arrays.0.values() {
        let columns = some_columns(shape, numbers);
        for j in columns.iter().flatten() {
            total.update((*j as i64).to_le_bytes());
        }
        let is_left_out = |i: usize| columns.as_ref().is_some_and(|some| !some.contains(&(i % shape[1])));
        match numbers {
            Numbers::Floats(values) => {
                for (_, v) in values.iter().enumerate().filter(|(i, _)| !is_left_out(*i)) {
                    total.update((v + 0.0).to_le_bytes());
                }
            }
            Numbers::Integers(values) => values.iter().for_each(|v| total.update(v.to_le_bytes())),
            Numbers::Bytes(values) => total.update(values),
        }
    }
    total.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The columns of a matrix of floats that hold a number other than 0, if not all do.
fn some_columns(shape: &[usize], numbers: &Numbers) -> Option<Vec<usize>> {
    let ([_, columns], Numbers::Floats(values)) = (shape, numbers) else { return None };
    let is_used = |j: &usize| values.iter().skip(*j).step_by(*columns).any(|v| *v != 0.0);
    let used: Vec<usize> = (0..*columns).filter(is_used).collect();
    (used.len() < *columns).then_some(used)
}

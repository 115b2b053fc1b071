//! Penalties of a model that are pending.

use std::sync::Arc;

use super::Model;
use crate::arith::decay::Decay;
use crate::base::{Monitor, Result, collected, copied, ensure, matrix, pieces};
use crate::online::run::problem::Settings;
use crate::rows::{Chosen, Layout, Table, settle};

/// Penalties that are pending.
#[derive(Clone)]
pub(super) struct Due {
    pub(super) strengths: Strengths,
    /// At which count of examples each weight was last settled, by plane.
    pub(super) settled: Arc<Vec<i64>>,
    /// Whether that is the same for all.
    pub(super) even: bool,
}

/// A penalty, and the rate of the steps that it is taken at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strengths {
    pub eta: f64,
    pub l1: f64,
    pub l2: f64,
}

impl Strengths {
    /// Those of a run.
    pub fn of(settings: &Settings) -> Option<Self> {
        settings.penalty.map(|penalty| Self { eta: settings.eta, l1: penalty.l1, l2: penalty.l2 })
    }

    pub(super) fn decay(self) -> Result<Decay> {
        Decay::new(self.eta, self.l1, self.l2, 0)
    }
}

impl Model {
    /// Says that of each weight so many examples are pending.
    pub fn put_under(&mut self, strengths: Strengths, ages: &[i64]) -> Result<()> {
        let Strengths { eta, l1, l2 } = strengths;
        let sound = |size: f64| (0.0..f64::INFINITY).contains(&size) && eta * size < f64::INFINITY;
        ensure!(
            eta > 0.0 && eta < f64::INFINITY && sound(l1) && sound(l2),
            "strengths must be eta0, above 0, and l1 and l2, at least 0, all finite, got {eta}, {l1} and {l2}"
        );
        ensure!(
            !ages.iter().any(|age| *age < 0),
            "ages must have the shape of coef and hold whole numbers of at least 0"
        );
        let (even, d) = (ages.iter().all(|age| *age == ages[0]), self.shape()[1].max(1));
        let settled = ages.iter().enumerate().map(|(i, age)| self.seen[i / d] as i64 - age);
        self.due = Some(Due { strengths, settled: Arc::new(collected(settled)?), even });
        Ok(())
    }

    /// The weights as they stand, and the penalty that is pending on them.
    pub fn pending(&self) -> Option<(&Table, Strengths)> {
        self.due.as_ref().map(|due| (&self.coef, due.strengths))
    }

    /// Writes how many examples each weight has not been settled for, by plane: of all columns, or of some.
    pub fn write_ages(&self, some: Option<&[usize]>, monitor: &dyn Monitor, out: &mut [i64]) -> Result<()> {
        let Some(due) = &self.due else {
            out.fill(0);
            return Ok(());
        };
        let columns = self.shape()[1];
        let width = some.map_or(columns, <[usize]>::len);
        for (k, out) in out.chunks_mut(width.max(1)).enumerate() {
            let (settled, seen) = (&due.settled[k * columns..][..columns], self.seen[k] as i64);
            for piece in pieces(width, 1, monitor) {
                let piece = piece?;
                let out = &mut out[piece.clone()];
                match some {
                    None => out.iter_mut().zip(&settled[piece]).for_each(|(age, at)| *age = seen - at),
                    Some(some) => {
                        out.iter_mut().zip(&some[piece]).for_each(|(age, j)| *age = seen - settled[*j]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Examples that each weight has not been settled for, by plane: of all columns, or of those chosen.
    pub(super) fn ages(&self, chosen: Option<&Chosen>) -> Result<Vec<i64>> {
        let [planes, columns] = self.shape();
        let width = chosen.map_or(columns, Chosen::places);
        let mut ages = matrix(0, planes, width)?;
        let Some(due) = &self.due else { return Ok(ages) };
        for (k, ages) in ages.chunks_mut(width.max(1)).enumerate() {
            let (settled, seen) = (&due.settled[k * columns..][..columns], self.seen[k] as i64);
            match chosen {
                None => ages.iter_mut().zip(settled).for_each(|(age, at)| *age = seen - at),
                Some(chosen) => {
                    ages.fill(seen - settled[0]); // places of no column are as even as the rest
                    for &(column, place) in &chosen.columns {
                        ages[place as usize] = seen - settled[column];
                    }
                }
            }
        }
        Ok(ages)
    }

    /// Weights with all that is pending of them applied.
    pub(super) fn settled(
        &self,
        chosen: Option<&Chosen>,
        layout: Layout,
        monitor: &dyn Monitor,
    ) -> Result<Table> {
        let mut coef = self.coef.taken(chosen, layout, monitor)?;
        let Some(due) = &self.due else { return Ok(coef) };
        coef.stand(Layout::ByPlane, monitor)?;
        settle(coef.own(monitor)?, &self.ages(chosen)?, &due.strengths.decay()?, monitor)?;
        coef.stand(layout, monitor)?;
        Ok(coef)
    }

    /// What is pending after a run that has left these ages.
    pub(super) fn due_after(
        &mut self,
        ages: Option<Vec<i64>>,
        seen: &[u64],
        strengths: Option<Strengths>,
        chosen: Option<&Chosen>,
    ) -> Result<Option<Due>> {
        let (Some(ages), Some(strengths)) = (ages, strengths) else { return Ok(None) };
        if let (Some(due), Some(_)) = (&mut self.due, chosen)
            && Arc::get_mut(&mut due.settled).is_none()
        {
            due.settled = Arc::new(copied(&due.settled, &())?);
        }
        let own = self.due.take_if(|_| chosen.is_some());
        if own.is_none() && ages.iter().all(|&age| age == 0) {
            return Ok(None);
        }
        let [planes, columns] = self.shape();
        let width = ages.len() / planes.max(1);
        let (even, is_new) = (ages.iter().all(|age| *age == ages[0]), own.is_none());
        let mut settled = match own {
            Some(due) => Arc::unwrap_or_clone(due.settled),
            None => matrix(0, planes, columns)?,
        };
        for (k, settled) in settled.chunks_mut(columns.max(1)).enumerate() {
            let (ages, now) = (&ages[k * width..][..width], seen[k] as i64);
            if is_new && chosen.is_some() {
                // The other columns have the age of the run, or 0 if all weights have just been settled.
                let is_settled = ages.iter().all(|&age| age == 0);
                settled.fill(if is_settled { now } else { self.seen[k] as i64 });
            }
            match chosen {
                None => settled.iter_mut().zip(ages).for_each(|(at, age)| *at = now - age),
                Some(chosen) => {
                    for &(column, place) in &chosen.columns {
                        settled[column] = now - ages[place as usize];
                    }
                }
            }
        }
        Ok(Some(Due { strengths, settled: Arc::new(settled), even }))
    }
}

//! Columns that have weights. Most columns of a language never take part in a mistake, or are not in
//! the rows at hand; what is not there needs no memory and no look.

const NONE: u32 = u32::MAX;
const LANES: usize = crate::arith::dot::LANES;

/// The place of the weights of each column that has some. A place is equal to its column modulo
/// eight, so that rule 3 finds its lane by either.
pub(super) struct Slots {
    of: Vec<u32>,
    /// How many slots of each remainder are taken.
    taken: [u32; LANES],
}

impl Slots {
    pub fn new(columns: usize) -> Self {
        Self { of: vec![NONE; columns], taken: [0; LANES] }
    }

    #[inline(always)]
    pub fn get(&self, column: i64) -> Option<i64> {
        let slot = self.of[column as usize];
        (slot != NONE).then_some(i64::from(slot))
    }

    /// The slot of a column, a new one if it has none.
    #[inline(always)]
    pub fn take(&mut self, column: i64) -> i64 {
        let of = &mut self.of[column as usize];
        if *of == NONE {
            let lane = column as usize % LANES;
            *of = self.taken[lane] * LANES as u32 + lane as u32;
            self.taken[lane] += 1;
        }
        i64::from(*of)
    }

    /// So many places there are.
    pub fn len(&self) -> usize {
        self.taken.iter().fold(0, |most, taken| most.max(*taken)) as usize * LANES
    }

    pub fn columns(&self) -> usize {
        self.of.len()
    }

    /// Columns with their slots.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let pairs = self.of.iter().enumerate();
        pairs.filter(|(_, slot)| **slot != NONE).map(|(column, slot)| (column, *slot as usize))
    }
}

//! The labels of examples: one class each, or any number of them.

use crate::rows::pass::prefetch::prefetch;

#[derive(Debug, Clone, Copy)]
pub enum Labels<'a> {
    Classes(&'a [u32]),
    /// So many words of every row, one or more: bit `k % 32` of word `k / 32` says whether it has class k.
    Sets(&'a [u32], usize),
}

#[derive(Debug, Clone, Copy)]
pub enum Label<'a> {
    Class(u32),
    Set(&'a [u32]),
}

impl<'a> Labels<'a> {
    pub fn len(self) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Sets(words, width) => words.len() / width,
        }
    }

    #[inline(always)]
    pub fn of(self, row: usize) -> Label<'a> {
        match self {
            Self::Classes(classes) => Label::Class(classes[row]),
            Self::Sets(words, width) => Label::Set(&words[row * width..][..width]),
        }
    }

    /// The class of a row in a joint decision, in which rows have one each.
    #[inline(always)]
    pub fn class(self, row: usize) -> usize {
        match self {
            Self::Classes(classes) => classes[row] as usize,
            Self::Sets(..) => usize::MAX,
        }
    }

    /// Asks for the label of a row that will be visited soon.
    #[inline(always)]
    pub fn prefetch(self, row: usize) {
        match self {
            Self::Classes(classes) => prefetch(&classes[row..=row]),
            Self::Sets(words, width) => prefetch(&words[row * width..][..width]),
        }
    }
}

impl Label<'_> {
    #[inline(always)]
    pub fn has(self, class: u32) -> bool {
        match self {
            Self::Class(own) => own == class,
            Self::Set(words) => words[class as usize / 32] >> (class % 32) & 1 == 1,
        }
    }
}

impl<'a, T: AsRef<[u32]> + ?Sized> From<&'a T> for Labels<'a> {
    fn from(classes: &'a T) -> Self {
        Self::Classes(classes.as_ref())
    }
}

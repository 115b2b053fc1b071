//! Texts taken apart, as the analyzers of scikit-learn's `HashingVectorizer` do.

use std::collections::HashSet;

use crate::base::{Grow, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Analyzer {
    /// Words of two letters or more.
    Word,
    Char,
    /// Characters of words between blanks, each by itself.
    CharWb,
}

#[derive(Debug)]
pub struct Grams {
    pub analyzer: Analyzer,
    /// How many words or characters: the fewest, which are one or more, and the most.
    pub sizes: (usize, usize),
    /// Whether letters of ASCII are made small; others, and blanks, are as the caller wants them.
    pub lowercase: bool,
    pub letters: Letters,
    pub stop_words: HashSet<String>,
}

/// The characters of words beyond ASCII: a bit for each code. Python knows them, whose Unicode may be another.
#[derive(Debug, Default)]
pub struct Letters(Vec<u64>);

impl Letters {
    pub fn new(letters: &str) -> Result<Self> {
        let mut bits = Vec::new();
        for code in letters.chars().map(|letter| letter as usize) {
            bits.try_resize(bits.len().max(code / 64 + 1), 0)?;
            bits[code / 64] |= 1 << (code % 64);
        }
        Ok(Self(bits))
    }

    fn has(&self, letter: char) -> bool {
        self.0.get(letter as usize / 64).is_some_and(|bits| bits >> (letter as usize % 64) & 1 == 1)
    }
}

/// A text as its n-grams are cut from it, and where they may begin; last, where the next would.
#[derive(Debug, Default)]
pub struct Scratch {
    text: Vec<u8>,
    starts: Vec<usize>,
}

impl Grams {
    pub fn each(
        &self,
        text: &str,
        Scratch { text: room, starts }: &mut Scratch,
        mut give: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (least, most) = self.sizes;
        room.clear();
        starts.clear();
        match self.analyzer {
            Analyzer::Word => {
                // One blank behind each word, which a gram of several keeps between them.
                room.try_reserve(text.len() + 1)?;
                self.words(text, |word| {
                    if self.stop_words.is_empty() || !self.is_stop_word(word) {
                        starts.try_push(room.len())?;
                        room.extend_from_slice(word.as_bytes());
                        room.push(b' ');
                    }
                    Ok(())
                })?;
                starts.try_push(room.len())?;
                self.lower(room);
                for n in least..=most.min(starts.len() - 1) {
                    starts.windows(n + 1).try_for_each(|span| give(&room[span[0]..span[n] - 1]))?;
                }
            }
            Analyzer::Char => {
                for (at, _) in text.char_indices() {
                    starts.try_push(at)?;
                }
                starts.try_push(text.len())?;
                room.try_extend(text.bytes())?;
                self.lower(room);
                for n in least..=most.min(starts.len() - 1) {
                    starts.windows(n + 1).try_for_each(|span| give(&room[span[0]..span[n]]))?;
                }
            }
            Analyzer::CharWb => {
                for word in text.split(' ').filter(|word| !word.is_empty()) {
                    room.clear();
                    starts.clear();
                    room.try_push(b' ')?;
                    room.try_extend(word.bytes())?;
                    room.try_push(b' ')?;
                    self.lower(room);
                    starts.try_push(0)?;
                    for (at, _) in word.char_indices() {
                        starts.try_push(at + 1)?;
                    }
                    starts.try_push(room.len() - 1)?;
                    starts.try_push(room.len())?;
                    if starts.len() <= least {
                        give(room)?; // a short word counts once
                    }
                    for n in least..=most.min(starts.len() - 1) {
                        starts.windows(n + 1).try_for_each(|span| give(&room[span[0]..span[n]]))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives the words of a text: runs of two letters, digits or _ or more.
    fn words(&self, text: &str, mut give: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let bytes = text.as_bytes();
        // The letter at a byte that begins a character, and where the next one does.
        let letter = |at: usize| match bytes[at] {
            byte if byte < 128 => (byte.is_ascii_alphanumeric() || byte == b'_', at + 1),
            _ => text[at..]
                .chars()
                .next()
                .map_or((false, at + 1), |c| (self.letters.has(c), at + c.len_utf8())),
        };
        let mut at = 0;
        while at < bytes.len() {
            let (begin, mut end, mut len) = (at, at, 0);
            while at < bytes.len() {
                let (is_letter, next) = letter(at);
                at = next;
                if !is_letter {
                    break;
                }
                (end, len) = (next, len + 1);
            }
            if len > 1 {
                give(&text[begin..end])?;
            }
        }
        Ok(())
    }

    fn is_stop_word(&self, word: &str) -> bool {
        if self.lowercase && word.is_ascii() {
            return self.stop_words.contains(&word.to_ascii_lowercase());
        }
        self.stop_words.contains(word)
    }

    fn lower(&self, room: &mut [u8]) {
        if self.lowercase {
            room.make_ascii_lowercase();
        }
    }
}

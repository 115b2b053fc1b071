//! What must hold for any input. `make fuzz` draws bytes without end; `cargo test` runs the corpus and
//! some drawn bytes, on every architecture that it is run on.

mod draws;
mod epochs;
pub mod states;
pub mod svmlight;
pub mod views;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use perceptron_rs::order::SplitMix64;

    /// Bytes drawn for each target, besides the corpus.
    const DRAWN: usize = if cfg!(miri) { 2 } else { 2000 };
    /// Files of the corpus, at most.
    const FILES: usize = if cfg!(miri) { 4 } else { usize::MAX };

    fn each_input(target: &str, run: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzzed/corpus").join(target);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<_> = files.map(|file| file.expect("a folder that can be read").path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{} holds no corpus", folder.display());
        let corpus: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a file")).collect();
        corpus.iter().take(FILES).for_each(|input| run(input));
        let mut random = SplitMix64::new(3);
        for i in 0..DRAWN {
            let mut input = corpus[random.below(corpus.len() as u64) as usize].clone();
            if i % 2 == 0 {
                input = (0..random.below(400)).map(|_| random.draw() as u8).collect();
            }
            for _ in 0..random.below(4).min(input.len() as u64) {
                let place = random.below(input.len() as u64) as usize;
                input[place] = random.draw() as u8;
            }
            run(&input);
        }
    }

    #[test]
    fn svmlight() {
        each_input("svmlight", super::svmlight::run);
    }

    #[test]
    fn views() {
        each_input("views", super::views::run);
    }

    #[test]
    fn states() {
        each_input("states", super::states::run);
    }
}

//! Where the reference data lies.

/// A file of the reference data, or `None`, with a word to stderr, where it is missing.
pub fn reference(name: &str) -> Option<Vec<u8>> {
    let path = gleaner_testing::shared(&format!("driple/{name}"))?;
    std::fs::read(path).ok()
}

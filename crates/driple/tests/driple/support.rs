//! Reads the reference data.

/// A file of the reference data. `None`, with a message on stderr, if it is missing.
pub fn reference(name: &str) -> Option<Vec<u8>> {
    let path = gleaner_testing::shared(&format!("driple/{name}"))?;
    std::fs::read(path).ok()
}

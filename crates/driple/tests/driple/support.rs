//! Access to the reference data.

/// A file of the reference data. `None` if it is missing, which is noted on stderr.
pub fn reference(name: &str) -> Option<Vec<u8>> {
    let path = gleaner_testing::shared(&format!("driple/{name}"))?;
    std::fs::read(path).ok()
}

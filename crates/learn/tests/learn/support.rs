//! Reads the reference data of the models.

/// The content of a file from the shared data. If the file is missing, prints a message to stderr
/// and returns `None`.
pub fn shared(name: &str) -> Option<String> {
    let path = gleaner_testing::shared(&format!("lucid/{name}"))?;
    std::fs::read_to_string(path).ok()
}

/// A table from a CSV file without quoted cells.
pub struct Sheet {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Reads a CSV file from the shared data; returns `None` if the file is missing.
    pub fn shared(name: &str) -> Option<Self> {
        let content = shared(name)?;
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut rows = content.lines().map(cells);
        Some(Sheet {
            names: rows.next().unwrap(),
            rows: rows.collect(),
        })
    }

    /// The cells of a column.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let index = self.names.iter().position(|other| other == name).unwrap();
        self.rows.iter().map(|row| row[index].as_str()).collect()
    }

    /// The numbers of a column.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let cells = self.texts(name).into_iter();
        cells.map(|cell| cell.parse().unwrap()).collect()
    }
}

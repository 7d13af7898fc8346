//! Reads measured pairs: how fast two workloads run on the same GPUs, as in the original's
//! `colocate_info.csv`.
//!
//! ```csv
//! model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2,gpu_util,gmem
//! MobileNetV3,ImageNet,32,0,0.983,ResNet18,CIFAR-10,32,0,1.034,64.789,5106
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use super::bounds::amount;
use super::words::beside;
use super::workload::WorkloadColumns;
use gleaner_core::domain::Workload;
use gleaner_core::domain::inputs::{LEAST_SPEED, Pair};
use gleaner_core::error::Result;
use gleaner_io::rows::{Cell, CellResult, Col, Header, Row};
use gleaner_io::source::Source;
use gleaner_io::{Gatherer, Loaded};

/// Measured pairs, by their two workloads in the order of the file.
pub type Pairs = BTreeMap<(Workload, Workload), Pair>;

/// Reads measured pairs.
///
/// # Errors
/// The file cannot be read, or has faults, which are reported together: a pair that occurs twice,
/// in either order; a speed that is not from [`LEAST_SPEED`] to 10; other invalid numbers.
pub fn read(path: &Path) -> Result<Loaded<Pairs>> {
    let source = Source::open(path)?;
    let mut header = Header::open(&source)?;
    let columns = Columns::require(&mut header)?;
    let table = header.finish()?;
    let mut pairs = Pairs::new();
    let mut faults = Gatherer::default();
    table.visit(|row| {
        let read = row.and_then(|row| Ok((columns.read(&row)?, row.place())));
        let ((workloads, pair), place) = match read {
            Ok(read) => read,
            Err(fault) => return faults.add(*fault),
        };
        let (first, second) = &workloads;
        let turned = (second.clone(), first.clone());
        if pairs.contains_key(&workloads) || pairs.contains_key(&turned) {
            let found = format!("{} a second time", beside(first, second));
            let fault = source.fault(found, "every pair once, in one order");
            return faults.add(fault.at(place));
        }
        pairs.insert(workloads, pair);
        Ok(())
    })?;
    if pairs.is_empty() && faults.is_empty() {
        faults.add(source.fault("no pair", "at least one row"))?;
    }
    Ok(Loaded {
        value: faults.finish(pairs)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

struct Columns {
    workloads: [WorkloadColumns; 2],
    speeds: [Col; 2],
    gpu_util: Col,
    gmem: Col,
}

impl Columns {
    fn require(header: &mut Header<'_>) -> Result<Self> {
        Ok(Columns {
            workloads: [
                WorkloadColumns::require(header, "1")?,
                WorkloadColumns::require(header, "2")?,
            ],
            speeds: [
                header.require(&["speed1"], "the first one's speed (1 is alone)")?,
                header.require(&["speed2"], "the second one's speed (1 is alone)")?,
            ],
            gpu_util: header.require(&["gpu_util"], "the percentage of compute used")?,
            gmem: header.require(&["gmem"], "the MB of memory held")?,
        })
    }

    fn read(&self, row: &Row<'_>) -> CellResult<((Workload, Workload), Pair)> {
        let [first, second] = &self.workloads;
        let pair = Pair {
            speeds: (
                speed(row.cell(self.speeds[0]))?,
                speed(row.cell(self.speeds[1]))?,
            ),
            gpu_util: amount(&row.cell(self.gpu_util))?,
            gmem: amount(&row.cell(self.gmem))?,
        };
        Ok(((first.read(row)?, second.read(row)?), pair))
    }
}

/// Parses a speed relative to running alone, which must be plausible.
fn speed(cell: Cell<'_>) -> CellResult<f64> {
    let expected = format!("a speed from {LEAST_SPEED} to 10, where 1 is the speed alone");
    let speed = cell.float().ok();
    let sound = speed.filter(|speed| (LEAST_SPEED..=10.0).contains(speed));
    sound.ok_or_else(|| cell.fault(expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault, workload};

    const HEADER: &str = ",model1,dataset1,gpu_num1,batchsize1,amp1,speed1,\
        model2,dataset2,gpu_num2,batchsize2,amp2,speed2,gpu_util,gmem_util,gmem\n";

    fn read_rows(rows: &str) -> Result<Pairs> {
        let input = Input::csv(&format!("{HEADER}{rows}"));
        read(input.path()).map(|loaded| loaded.value)
    }

    fn row(first: &str, second: &str, speed: &str) -> String {
        format!("0,{first},CIFAR-10,1,64,0,{speed},{second},CIFAR-10,1,64,0,1.034,64.5,29,5106\n")
    }

    // Small fixed examples.
    #[test]
    fn pairs_are_keyed_by_workloads() {
        let pairs = read_rows(&(row("VGG", "LSTM", "0.983") + &row("VGG", "VGG", "10"))).unwrap();
        let pair = pairs[&(workload("VGG"), workload("LSTM"))];
        let expected = Pair {
            speeds: (0.983, 1.034),
            gpu_util: 64.5,
            gmem: 5106.0,
        };
        assert_eq!((pair, pairs.len()), (expected, 2));
    }

    #[test]
    fn faults_are_gathered() {
        let rows = [
            row("VGG", "LSTM", "1"),
            row("LSTM", "VGG", "1"),
            row("VGG", "LSTM", "1"),
            row("A", "B", "0.009"),
            row("A", "C", "10.1"),
            row("A", "D", "fast"),
        ];
        assert_has(
            &fault(read_rows(&rows.concat())),
            &[
                "5 faults",
                "line 3: found LSTM on CIFAR-10, batch size 64 beside VGG on CIFAR-10, batch size \
                 64 a second time",
                "line 4: found VGG",
                "line 5, speed1: found \"0.009\", expected a speed from 0.01 to 10",
                "line 6, speed1: found \"10.1\"",
                "line 7, speed1: found \"fast\"",
            ],
        );
        assert_has(&fault(read_rows("")), &["no pair"]);
    }
}

//! Reads the measured speeds of pairs of workloads on the same GPUs, in the format of the original's
//! `colocate_info.csv`.
//!
//! ```csv
//! model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2,gpu_util,gmem
//! MobileNetV3,ImageNet,32,0,0.983,ResNet18,CIFAR-10,32,0,1.034,64.789,5106
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use super::bounds::{AMOUNT, SPEED};
use super::words::beside;
use crate::rows::{Rows, input};
use gleaner_domain::Workload;
use gleaner_domain::error::Result;
use gleaner_domain::inputs::Pair;
use gleaner_io::Loaded;
use gleaner_io::source::Source;

/// Measured pairs, keyed by the two workloads in the order in which the file names them.
pub type Pairs = BTreeMap<(Workload, Workload), Pair>;

input! {
    /// Two workloads that share GPUs.
    pub(super) struct PairRow {
        /// the speed of the first workload
        speed1: f64 as SPEED = "speed1" [""],
        /// the speed of the second workload
        speed2: f64 as SPEED = "speed2" [""],
        /// the percentage of compute used by both workloads together
        gpu_util: f64 as AMOUNT = "gpu_util" ["%"],
        /// the GPU memory used by both workloads together
        gmem: f64 as AMOUNT = "gmem" ["MB"],
        ..workloads: [Workload; 2],
    }
}

/// Reads measured pairs.
///
/// # Errors
/// The file cannot be read or has faults, which are reported together. It is a fault if a pair occurs twice, in either
/// order. Speeds outside the range from [`LEAST_SPEED`] to 10 and other invalid numbers are also faults.
///
/// [`LEAST_SPEED`]: gleaner_domain::inputs::LEAST_SPEED
pub fn read(path: &Path) -> Result<Loaded<Pairs>> {
    let source = Source::open(path)?;
    let rows = Rows::<PairRow>::open(&source)?;
    let mut pairs = Pairs::new();
    rows.each("pair", |line| {
        let row = line.read()?;
        let [first, second] = row.workloads;
        let workloads = (first.clone(), second.clone());
        let turned = (second, first);
        if pairs.contains_key(&workloads) || pairs.contains_key(&turned) {
            let found = format!("{} a second time", beside(&workloads.0, &workloads.1));
            return Err(line.fault("", found, "each pair only once, in either order"));
        }
        let pair = Pair {
            speeds: (row.speed1, row.speed2),
            gpu_util: row.gpu_util,
            gmem: row.gmem,
        };
        pairs.insert(workloads, pair);
        Ok(())
    })?;
    Ok(source.loaded(pairs))
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
                "line 5, speed1: found \"0.009\", expected a relative speed (1 = alone) from 0.01 \
                 to 10",
                "line 6, speed1: found \"10.1\"",
                "line 7, speed1: found \"fast\"",
            ],
        );
        assert_has(&fault(read_rows("")), &["no pair"]);
        let other = Input::csv("job_id,priority\n1,1\n");
        assert_has(&fault(read(other.path())), &["header, speed1"]);
    }
}

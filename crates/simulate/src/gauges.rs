//! Averages of GPU load over nodes, updated when individual nodes change.

/// Load of the GPUs of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeGauges {
    /// Utilisation in percent and memory in MB, by GPU.
    gpus: Vec<[f64; 2]>,
    /// Averages over all GPUs.
    all: [f64; 2],
    /// Averages over the GPUs whose value is above 0; `None` if there is no such GPU.
    active: [Option<f64>; 2],
}

impl NodeGauges {
    /// Creates a node of `gpus` unused GPUs.
    pub fn new(gpus: u32) -> Self {
        NodeGauges {
            gpus: vec![[0.0; 2]; gpus as usize],
            all: [0.0; 2],
            active: [None; 2],
        }
    }

    fn set(&mut self, gpus: u64, values: [f64; 2]) {
        for (gpu, slot) in self.gpus.iter_mut().enumerate() {
            if gpus >> gpu & 1 == 1 {
                *slot = values;
            }
        }
        for gauge in 0..2 {
            let values = || self.gpus.iter().map(|gpu| gpu[gauge]);
            let used = values().filter(|&value| value > 0.0).count();
            let sum: f64 = values().sum();
            self.all[gauge] = sum / self.gpus.len() as f64;
            self.active[gauge] = (used > 0).then(|| sum / used as f64);
        }
    }
}

/// Sums of the nodes' averages.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    all: [Sum; 2],
    active: [Sum; 2],
    active_nodes: [u32; 2],
}

impl Gauges {
    /// Sets the utilisation in percent and the memory in MB of some GPUs of a node.
    pub fn set(&mut self, node: &mut NodeGauges, gpus: u64, values: [f64; 2]) {
        self.count(node, -1.0);
        node.set(gpus, values);
        self.count(node, 1.0);
    }

    fn count(&mut self, node: &NodeGauges, sign: f64) {
        for gauge in 0..2 {
            self.all[gauge].add(sign * node.all[gauge]);
            if let Some(active) = node.active[gauge] {
                self.active[gauge].add(sign * active);
                let nodes = &mut self.active_nodes[gauge];
                *nodes = if sign > 0.0 { *nodes + 1 } else { *nodes - 1 };
            }
        }
    }

    /// Averages of utilisation and memory over `nodes` nodes.
    pub fn all(&self, nodes: u32) -> [f64; 2] {
        [0, 1].map(|gauge| self.all[gauge].value() / f64::from(nodes.max(1)))
    }

    /// Averages of utilisation and memory: first over the GPUs in use on each node, then over the nodes
    /// with GPUs in use.
    pub fn active(&self) -> [f64; 2] {
        [0, 1].map(|gauge| match self.active_nodes[gauge] {
            0 => 0.0,
            nodes => self.active[gauge].value() / f64::from(nodes),
        })
    }
}

/// A running sum whose rounding errors do not accumulate: `low` collects the rounding errors of `high`.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    /// Adds a value with Knuth's two-sum algorithm, which also computes the exact rounding error.
    fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let virtual_value = sum - self.high;
        let error = (self.high - (sum - virtual_value)) + (value - virtual_value);
        self.low += error;
        self.high = sum;
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Derived by formula: the averages over the GPUs of each node are averaged over the nodes.
    #[test]
    fn averages_over_gpus_then_nodes() {
        let mut gauges = Gauges::default();
        let mut nodes = [NodeGauges::new(4), NodeGauges::new(4)];
        gauges.set(&mut nodes[0], 0b0011, [60.0, 1000.0]);
        gauges.set(&mut nodes[1], 0b0001, [0.0, 400.0]);
        assert_eq!(gauges.all(2), [15.0, 300.0]);
        assert_eq!(gauges.active(), [60.0, 700.0]);
        gauges.set(&mut nodes[0], 0b0011, [0.0, 0.0]);
        assert_eq!(gauges.all(2), [0.0, 50.0]);
        assert_eq!(gauges.active(), [0.0, 400.0]);
    }

    // A sum in a single float would be off by 1e-9 or more.
    #[test]
    fn a_million_changes_leave_no_rounding_error() {
        let mut sum = Sum::default();
        for i in 0..1_000_000 {
            sum.add(0.1 * f64::from(i % 997));
        }
        for i in 0..1_000_000 {
            sum.add(-0.1 * f64::from(i % 997));
        }
        assert!(sum.value().abs() < 1e-15);
    }
}

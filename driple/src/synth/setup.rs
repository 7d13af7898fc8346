//! What jobs are trained on.

/// What jobs are trained on: servers of one GPU each, a worker on each, one of them with the
/// parameters as well.
///
/// Of a step of training take `F` the floating point operations, three times those of the forward
/// pass; `A` the bytes that tensors move, four times those of the forward pass's outputs, and those
/// of parameters, their gradients and the optimiser's tensors; `N` the operations of the graph that
/// are run; `P` the bytes of parameters. Then, in seconds,
///
/// - `moving = A / bandwidth`, `work = F / speed + moving` and `gaps = N × launch`;
/// - `compute = work + gaps`;
/// - `bytes = P × (workers - 1) / workers` and `transfer = bytes / network`, each way; of tables
///   that rows are taken from, no more is sent than the rows taken;
/// - `wait = transfer² / (transfer + compute)`, as transfers overlap with computing, and a tenth of
///   `compute` more where workers wait for the slowest one, of the way that takes longer; then
///   `step = compute + wait`.
///
/// | resource | idle | active | peak |
/// |---|---|---|---|
/// | GPU memory | `step - moving` | `moving` | `100 × moving / compute` |
/// | GPU | `wait + gaps` | `work` | `100 × work / compute` |
/// | network, both ways | `step - transfer` | `transfer` | `network × bytes / (bytes + 4 MB)` |
///
/// and each figure has a factor of its own, `exp` of a normal deviate of 0.03.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// The GPU's name, without `_` and `,`.
    pub gpu: &'static str,
    /// Floating point operations a second that kernels reach.
    pub speed: f64,
    /// Bytes a second that the GPU's memory moves.
    pub bandwidth: f64,
    /// Seconds between two kernels.
    pub launch: f64,
    /// Workers, of which each is on a server of its own, at least one.
    pub workers: u32,
    /// Bytes a second that the network moves each way.
    pub network: f64,
}

impl Setup {
    /// Two servers with a V100 each and 10 Gbit/s between them.
    pub const V100: Self = Self {
        gpu: "V100",
        speed: 9e12,
        bandwidth: 700e9,
        launch: 5e-6,
        workers: 2,
        network: 1.1e9,
    };
    /// Two servers with an RTX 2080 Ti each and 1 Gbit/s between them.
    pub const RTX2080TI: Self = Self {
        gpu: "2080Ti",
        speed: 7e12,
        bandwidth: 480e9,
        launch: 6e-6,
        workers: 2,
        network: 0.11e9,
    };
    /// Four servers with a Titan RTX each and 40 Gbit/s between them.
    pub const TITAN: Self = Self {
        gpu: "TitanRTX",
        speed: 8e12,
        bandwidth: 520e9,
        launch: 6e-6,
        workers: 4,
        network: 4.2e9,
    };
    /// All of these.
    pub const ALL: [Self; 3] = [Self::V100, Self::RTX2080TI, Self::TITAN];

    /// The set-up of a GPU's name, whatever its case.
    #[must_use]
    pub fn of_gpu(gpu: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|setup| setup.gpu.eq_ignore_ascii_case(gpu))
    }
}

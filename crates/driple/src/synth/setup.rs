//! The hardware that jobs are trained on.

/// The hardware that jobs are trained on: servers with one GPU and one worker each. One of the
/// servers also holds the parameters.
///
/// The following model determines the resources that training consumes. For one training step:
///
/// - `F` is the number of floating-point operations: three times as many as in the forward pass;
/// - `A` is the number of bytes that move between the GPU and its memory: four times the bytes of
///   the forward pass's outputs, plus the bytes of the parameters, their gradients and the
///   optimiser's tensors;
/// - `N` is the number of the graph's operations that run on the GPU;
/// - `P` is the number of bytes of the parameters.
///
/// All times are in seconds.
///
/// - `moving = A / bandwidth`, `work = F / speed + moving` and `gaps = N × launch`.
/// - `compute = work + gaps`.
/// - `bytes = P × (workers - 1) / workers` and `transfer = bytes / network`, in each direction. If
///   a step uses only some rows of a table, only the gradients of these rows are sent.
/// - `wait = transfer² / (transfer + compute)`, because transfers overlap with computing. Here,
///   `transfer` is the time in the slower direction. In synchronous training, workers wait for the
///   slowest worker, so `wait` increases by a tenth of `compute`.
/// - `step = compute + wait`.
///
/// | resource | idle | active | peak |
/// |---|---|---|---|
/// | GPU memory | `step - moving` | `moving` | `100 × moving / compute` |
/// | GPU | `wait + gaps` | `work` | `100 × work / compute` |
/// | network, both ways | `step - transfer` | `transfer` | `network × bytes / (bytes + 4 MB)` |
///
/// Each value is multiplied by its own random factor: `exp` of a normal deviate with standard
/// deviation 0.03.
///
/// For example, let `work` be 4, `gaps` 4, and `transfer` 8 in each direction. Then `compute` is 8,
/// `wait` is 8² / 16 = 4 and `step` is 12. The GPU is therefore active for 4 of 12 seconds, with a
/// peak of 50 percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// The name of the GPU, which must not contain `_` or `,`.
    pub gpu: &'static str,
    /// The number of floating-point operations per second that kernels achieve.
    pub speed: f64,
    /// The bandwidth of the GPU's memory, in bytes per second.
    pub bandwidth: f64,
    /// The gap between two kernels, in seconds.
    pub launch: f64,
    /// The number of workers, at least one. Each worker has its own server.
    pub workers: u32,
    /// The bandwidth of the network in each direction, in bytes per second.
    pub network: f64,
}

impl Setup {
    /// Two servers with one V100 each, connected at 10 Gbit/s.
    pub const V100: Self = Self {
        gpu: "V100",
        speed: 9e12,
        bandwidth: 700e9,
        launch: 5e-6,
        workers: 2,
        network: 1.1e9,
    };
    /// Two servers with one RTX 2080 Ti each, connected at 1 Gbit/s.
    pub const RTX2080TI: Self = Self {
        gpu: "2080Ti",
        speed: 7e12,
        bandwidth: 480e9,
        launch: 6e-6,
        workers: 2,
        network: 0.11e9,
    };
    /// Four servers with one Titan RTX each, connected at 40 Gbit/s.
    pub const TITAN: Self = Self {
        gpu: "TitanRTX",
        speed: 8e12,
        bandwidth: 520e9,
        launch: 6e-6,
        workers: 4,
        network: 4.2e9,
    };
    /// All set-ups.
    pub const ALL: [Self; 3] = [Self::V100, Self::RTX2080TI, Self::TITAN];

    /// The set-up with this GPU, ignoring case. `None` if no set-up has this GPU.
    #[must_use]
    pub fn of_gpu(gpu: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|setup| setup.gpu.eq_ignore_ascii_case(gpu))
    }
}

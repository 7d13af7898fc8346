//! Generates sets of elastic training tasks.

use gleaner_solvers::Rates;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::tasks::MAX_TASKS;
use gleaner_domain::{ClassTerms, ScalingCurve, TrainingTask, Utc};

/// Options of a generated set of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskOptions {
    /// Number of tasks.
    pub count: u32,
    /// Number of different models, each with its own scaling curve.
    pub models: u32,
    /// Maximum number of nodes that a task can use.
    pub max_nodes: u32,
    /// Mean work of a task, in hours on one node.
    pub hours: f64,
    /// Time at which the first task is submitted; `None` for the start of the log.
    pub start: Option<Utc>,
    /// Seconds between the submissions of consecutive tasks.
    pub submit_every: f64,
    /// Random seed. The same options always give the same tasks.
    pub seed: u64,
}

/// Maximum mean work of a task, in hours on one node. A task with this much work is practically endless, but files can
/// still store its work as a number.
const MOST_HOURS: f64 = 1e12;

/// Generates tasks of a few models. A model's speed as a function of the nodes follows Amdahl's law, with a serial
/// share between 0.5 % and 8 %. The work of each task is between 0.5 and 1.5 times the mean.
///
/// # Errors
/// [`Error::Usage`] for options outside their ranges.
pub fn generate(options: &TaskOptions) -> Result<Vec<TrainingTask>> {
    if options.count == 0 || options.models == 0 || options.max_nodes == 0 {
        return Err(Error::Usage(
            "--count, --models and --max-nodes must be at least 1".into(),
        ));
    }
    if options.max_nodes > 1 << 20 {
        return Err(Error::Usage("--max-nodes must be at most 1048576".into()));
    }
    if options.count as usize > MAX_TASKS || options.models > 1000 {
        return Err(Error::Usage(format!(
            "--count must be at most {MAX_TASKS}, and --models at most 1000"
        )));
    }
    let every = options.submit_every;
    if !(options.hours > 0.0 && options.hours <= MOST_HOURS && every.is_finite() && every >= 0.0) {
        return Err(Error::Usage(format!(
            "--hours must be above 0 and at most {MOST_HOURS:e}, --submit-every at least 0 seconds"
        )));
    }
    if let Some(start) = options.start {
        let last = f64::from(options.count - 1) * every;
        super::end(start, last, "--start, --count and --submit-every")?;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let models: Vec<Model> = (0..options.models)
        .map(|_| Model::draw(options, &mut rng))
        .collect();
    Ok((0..options.count)
        .map(|i| {
            let model = &models[(i % options.models) as usize];
            let hours = options.hours * rng.random_range(0.5..1.5);
            TrainingTask {
                name: format!("task{i:04}"),
                submit: options.start.map_or(TrainingTask::FROM_START, |start| {
                    start.plus_seconds(f64::from(i) * options.submit_every)
                }),
                min_nodes: model.min_nodes,
                max_nodes: options.max_nodes.max(model.min_nodes),
                rescale_up: model.rescale_up,
                rescale_down: model.rescale_down,
                work: (hours * 3600.0 * model.speed).round(),
                priority: 1.0,
                deadline: None,
                rung: 0,
                classes: ClassTerms::default(),
                curve: model.curve.clone(),
            }
        })
        .collect())
}

/// Properties that the tasks of one model share.
struct Model {
    /// Work per second on one node.
    speed: f64,
    min_nodes: u32,
    rescale_up: f64,
    rescale_down: f64,
    curve: ScalingCurve,
}

impl Model {
    fn draw(options: &TaskOptions, rng: &mut ChaCha8Rng) -> Self {
        let speed = f64::from(rng.random_range(500..5000u32));
        let serial = rng.random_range(0.005..0.08);
        let min_nodes = rng.random_range(1..=2.min(options.max_nodes));
        let rescale_up = f64::from(rng.random_range(15..45u32));
        let nodes = doubling(options.max_nodes);
        let progress: Rates = nodes
            .iter()
            .map(|&n| match n {
                0 => 0.0,
                n => (10.0 * speed / (serial + (1.0 - serial) / f64::from(n))).round() / 10.0,
            })
            .collect();
        Model {
            speed,
            min_nodes,
            rescale_up,
            rescale_down: (rescale_up * 0.6).round(),
            curve: ScalingCurve {
                nodes: nodes.into(),
                objective: progress.clone(),
                progress,
            },
        }
    }
}

/// The numbers 0, 1, 2, 4, … below `last`, followed by `last`.
fn doubling(last: u32) -> Vec<u32> {
    let mut points = vec![0];
    points.extend((0..).map(|e| 1 << e).take_while(|&n| n < last));
    points.push(last);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> TaskOptions {
        TaskOptions {
            count: 7,
            models: 3,
            max_nodes: 12,
            hours: 4.0,
            start: Some(Utc::from_seconds(0)),
            submit_every: 60.0,
            seed: 1,
        }
    }

    #[test]
    fn tasks_share_their_models_curves() {
        let tasks = generate(&options()).unwrap();
        assert_eq!(tasks.len(), 7);
        assert_eq!(tasks[0].curve, tasks[3].curve);
        assert_ne!(tasks[0].curve, tasks[1].curve);
        assert_eq!(*tasks[0].curve.nodes, [0, 1, 2, 4, 8, 12]);
        assert_eq!(tasks[2].submit, Utc::from_seconds(120));
        assert_eq!(tasks, generate(&options()).unwrap());
    }

    #[test]
    fn options_outside_their_ranges_are_refused() {
        for bad in [
            TaskOptions {
                count: 0,
                ..options()
            },
            TaskOptions {
                max_nodes: 0,
                ..options()
            },
            TaskOptions {
                max_nodes: u32::MAX,
                ..options()
            },
            TaskOptions {
                hours: f64::NAN,
                ..options()
            },
            TaskOptions {
                hours: 1e307,
                ..options()
            },
            TaskOptions {
                submit_every: 1e10,
                ..options()
            },
            TaskOptions {
                submit_every: -1.0,
                ..options()
            },
        ] {
            assert!(matches!(generate(&bad), Err(Error::Usage(_))), "{bad:?}");
        }
    }
}

//! Generates sets of elastic training tasks.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use gleaner_solvers::Rates;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use gleaner_domain::class_terms::{CURVE_LISTS, is_class_name};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::node_classes::MAX_CLASSES;
use gleaner_domain::tasks::MAX_TASKS;
use gleaner_domain::{ClassTerms, ScalingCurve, Terms, TrainingTask, Utc};

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
    /// Random seed. The same options always produce the same tasks.
    pub seed: u64,
}

/// Maximum mean work of a task, in hours on one node. A task with this much work is practically endless, but files can
/// still store its work as a number.
const MOST_HOURS: f64 = 1e12;

/// Generates tasks that each train one of `options.models` random models. A model's speed as a function of the nodes follows Amdahl's law, with a serial
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
            "--hours must be above 0 and at most {MOST_HOURS:e}, and --submit-every must be at least \
             0 seconds"
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

/// Range of the speed of a class of nodes, relative to the generated curves.
pub const FACTORS: RangeInclusive<f64> = 0.01..=100.0;

/// Range of a model's speed in a class, relative to the speed of the class.
const SPREAD: RangeInclusive<f64> = 0.8..=1.2;

/// Probability that a task cannot use one of the classes.
const LEFT_OUT: f64 = 0.1;

/// Gives each task a curve for each class of nodes. Each of the `classes` has a name and a factor. A task's curve in a
/// class is its own curve times this factor, times a random number between 0.8 and 1.2. The random number depends on
/// the model and the class, so different models prefer different classes. Tasks with equal curves are assumed to belong
/// to the same model. About a tenth of the tasks cannot use one class, which is chosen at random. The same tasks,
/// classes and seed always produce the same result.
///
/// # Errors
/// [`Error::Usage`] if there are no classes or more than [`MAX_CLASSES`], if a name is invalid or occurs twice, or if a
/// factor is outside [`FACTORS`].
pub fn in_classes(
    tasks: Vec<TrainingTask>,
    classes: &[(String, f64)],
    seed: u64,
) -> Result<Vec<TrainingTask>> {
    check_classes(classes)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The tasks themselves are usually drawn with the same seed, so the factors use another random stream.
    rng.set_stream(1);
    let mut models: BTreeMap<ScalingCurve, Vec<ScalingCurve>> = BTreeMap::new();
    let mut shared: BTreeMap<_, Arc<BTreeMap<String, Terms>>> = BTreeMap::new();
    let in_classes = |task: TrainingTask| {
        let curves = models.entry(task.curve.clone()).or_insert_with(|| {
            let factors = classes
                .iter()
                .map(|(_, factor)| factor * rng.random_range(SPREAD));
            factors.map(|factor| scaled(&task.curve, factor)).collect()
        });
        let leaves_one_out = classes.len() > 1 && rng.random_bool(LEFT_OUT);
        let left_out = leaves_one_out.then(|| rng.random_range(0..classes.len()));
        let key = (task.curve.clone(), task.min_nodes, task.max_nodes, left_out);
        let terms = shared.entry(key).or_insert_with(|| {
            let used = (0..).zip(classes).zip(curves.iter());
            let used = used.filter(|((class, _), _)| left_out != Some(*class));
            let terms = used.map(|((_, (name, _)), curve)| {
                let terms = Terms {
                    curve: curve.clone(),
                    ..task.own_terms()
                };
                (name.clone(), terms)
            });
            Arc::new(terms.collect())
        });
        task.with_terms(Arc::clone(terms))
    };
    Ok(tasks.into_iter().map(in_classes).collect())
}

/// A curve times a factor, with rates rounded to a tenth.
fn scaled(curve: &ScalingCurve, factor: f64) -> ScalingCurve {
    let tenths = curve
        .progress
        .iter()
        .map(|rate| (10.0 * rate * factor).round());
    let progress: Rates = tenths.map(|tenths| tenths / 10.0).collect();
    ScalingCurve {
        nodes: Arc::clone(&curve.nodes),
        objective: progress.clone(),
        progress,
    }
}

fn check_classes(classes: &[(String, f64)]) -> Result<()> {
    if !(1..=MAX_CLASSES).contains(&classes.len()) {
        return Err(Error::Usage(format!(
            "--classes lists {} classes, expected 1 to {MAX_CLASSES}",
            classes.len()
        )));
    }
    for (index, (name, factor)) in classes.iter().enumerate() {
        let what = if !is_class_name(name) {
            let lists = CURVE_LISTS.join(", ");
            format!("expected a name that is neither empty nor one of {lists}")
        } else if classes[..index].iter().any(|(earlier, _)| earlier == name) {
            "expected each class only once".to_owned()
        } else if !FACTORS.contains(factor) {
            let (least, most) = (FACTORS.start(), FACTORS.end());
            format!("its factor is {factor}, expected {least} to {most}")
        } else {
            continue;
        };
        return Err(Error::Usage(format!("--classes: class {name:?}: {what}")));
    }
    Ok(())
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

    fn classes() -> Vec<(String, f64)> {
        [("v100", 1.0), ("a100", 2.4)]
            .map(|(name, factor)| (name.to_owned(), factor))
            .into()
    }

    #[test]
    fn curves_by_class_are_near_the_factor_and_differ_between_models() {
        let options = TaskOptions {
            count: 400,
            ..options()
        };
        let plain = generate(&options).unwrap();
        let tasks = in_classes(plain.clone(), &classes(), 1).unwrap();
        assert_eq!(tasks, in_classes(plain.clone(), &classes(), 1).unwrap());
        let mut ratios = std::collections::BTreeSet::new();
        let mut without = [0, 0];
        for (task, plain) in tasks.iter().zip(&plain) {
            assert_eq!(
                (task.min_nodes, task.max_nodes),
                (plain.min_nodes, plain.max_nodes)
            );
            assert_eq!(task.work, plain.work);
            let terms = &task.classes.by_name;
            for (number, (class, factor)) in classes().iter().enumerate() {
                let Some(terms) = terms.get(class) else {
                    without[number] += 1;
                    continue;
                };
                let ratio = terms.curve.progress_at(8) / plain.curve.progress_at(8) / factor;
                assert!((0.799..1.201).contains(&ratio), "{class}: {ratio}");
                ratios.insert((class.clone(), (ratio * 1e3) as u32));
            }
        }
        // There is one factor for each of the three models in each of the two classes. About a tenth of the 400 tasks
        // cannot use one of the classes.
        assert_eq!(ratios.len(), 6);
        assert!(
            without.iter().all(|count| (8..40).contains(count)),
            "{without:?}"
        );
        assert!((25..60).contains(&(without[0] + without[1])), "{without:?}");
        let alone = in_classes(plain, &classes()[..1], 1).unwrap();
        assert!(alone.iter().all(|task| task.classes.by_name.len() == 1));
    }

    #[test]
    fn tasks_of_a_model_share_their_terms() {
        let tasks = in_classes(generate(&options()).unwrap(), &classes()[..1], 1).unwrap();
        let terms = |task: usize| &tasks[task].classes.by_name;
        assert!(Arc::ptr_eq(terms(0), terms(3)));
        assert!(!Arc::ptr_eq(terms(0), terms(1)));
    }

    #[test]
    fn invalid_classes_are_refused() {
        let one = |name: &str, factor: f64| vec![(name.to_owned(), factor)];
        let many = (0..=MAX_CLASSES).map(|class| (format!("c{class}"), 1.0));
        for (bad, words) in [
            (vec![], "lists 0 classes"),
            (many.collect(), "lists 1001 classes"),
            (one("", 1.0), "neither empty nor"),
            (one("nodes", 1.0), "neither empty nor"),
            (one("a", 0.0), "its factor is 0, expected 0.01 to 100"),
            (one("a", f64::NAN), "its factor is NaN"),
            (one("a", 1e300), "its factor is"),
            ([one("a", 1.0), one("a", 2.0)].concat(), "only once"),
        ] {
            let error = in_classes(generate(&options()).unwrap(), &bad, 1).unwrap_err();
            assert!(matches!(error, Error::Usage(_)));
            assert!(error.to_string().contains(words), "{error}");
        }
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

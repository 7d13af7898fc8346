//! Comparisons of solvers on the same problems.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Instant;

use gleaner_classes::{AnyProblem, AnySolver};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::compare::SolverRow;
use gleaner_domain::results::run::Seconds;
use gleaner_domain::words::counted;
use gleaner_exec_solver::{External, SolverCommand, Tally, TallyHandle};
use gleaner_io::SourceId;
use gleaner_replay::compare::{self, Contender, Recorder, summarise};
use gleaner_runs::compare as tables;
use gleaner_runs::run::{End, RunDir};
use gleaner_setup::settings;
use gleaner_setup::settings::{Form, Settings, Spec, Value};
use gleaner_setup::solver::{GAP, TIME_LIMIT, gap, limits, time_limit};
use gleaner_setup::{Built, LogArgs, Replay, SolverChoice};
use gleaner_solvers::{BigM, Formulation, Limits, Solver, SolverKind, SolverSpec};
use serde::{Serialize, Serializer};

use crate::replay::OwnSolver;

settings! {
    /// All settings of a comparison.
    #[derive(Debug, Clone, Serialize)]
    pub struct ComparisonSettings {
        /// Problems as JSON or JSON lines; - for stdin.
        pub problems: Option<PathBuf> = None => Spec::of("FILE");
        /// A log and tasks. Their replay generates the problems.
        #[serde(flatten)]
        pub log: LogArgs;
        /// Compare on the first decision of the replay, and on every K-th decision after it.
        pub every: usize = 100 => Spec::of("K");
        /// Solvers to compare, separated by commas [default: those of exact, highs, cbc and equal-share that this build
        /// includes]. highs-paper and cbc-paper use the formulation of the paper, which takes a thousand times as long
        /// as the default formulation.
        pub solvers: Vec<KnownSolver> = Vec::new() => Spec::of("NAMES").separated_by(',');
        /// A solver program to include in the comparison (docs/SOLVERS.md), such as "exec:python3 dp.py"; may be given
        /// more than once.
        pub program: Vec<SolverCommand> = Vec::new() => Spec::of("exec:COMMAND");
        /// Time limit of a solver for one problem, in seconds.
        pub time_limit: f64 = TIME_LIMIT => time_limit();
        /// Relative gap at which MILP solvers consider a plan optimal.
        pub gap: f64 = GAP => gap();
        /// Exit with 1 if a program gave an invalid answer, timed out or crashed.
        pub strict: bool = false => Spec::flag();
    }
}

/// One of Gleaner's solvers that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Name of the solver.
    pub name: &'static str,
    /// The solver, its formulation and its big-M constant.
    pub spec: SolverSpec,
}

/// All of Gleaner's solvers that can be compared.
const KNOWN: [Known; 6] = [
    known("exact", SolverKind::Exact, Formulation::Counts),
    known("highs", SolverKind::Highs, Formulation::Counts),
    known("cbc", SolverKind::Cbc, Formulation::Counts),
    known("highs-paper", SolverKind::Highs, Formulation::Paper),
    known("cbc-paper", SolverKind::Cbc, Formulation::Paper),
    known("equal-share", SolverKind::EqualShare, Formulation::Counts),
];

const fn known(name: &'static str, kind: SolverKind, formulation: Formulation) -> Known {
    Known {
        name,
        spec: SolverSpec {
            kind,
            formulation,
            big_m: BigM::Corrected,
        },
    }
}

impl Known {
    /// Whether the solver is compared by default. Solvers with the paper's formulation are not, because they take about
    /// a thousand times as long as other solvers.
    fn is_default(&self) -> bool {
        self.spec.formulation == Formulation::Counts
    }
}

/// A built-in solver, by its name in comparisons.
#[derive(Debug, Clone, Copy)]
pub struct KnownSolver(pub Known);

impl Value for KnownSolver {
    const FORM: Form = Form::Text;
    const IS_CLOSED: bool = true;

    fn read(text: &OsStr) -> Result<Self, String> {
        let found = KNOWN.into_iter().find(|known| text == known.name);
        found.map(KnownSolver).ok_or_else(|| {
            let names = KNOWN.map(|known| known.name).join(", ");
            format!("expected one of {names}")
        })
    }

    fn show(&self) -> String {
        self.0.name.to_owned()
    }

    fn named() -> Vec<(String, &'static str)> {
        KNOWN.map(|known| (known.name.to_owned(), "")).into()
    }
}

impl Serialize for KnownSolver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

/// Solvers, and the problems on which to compare them.
pub struct OpenedComparison {
    problems: Vec<AnyProblem>,
    /// All files that were read.
    pub sources: Vec<SourceId>,
    contenders: Vec<Contender>,
    ours: Vec<TallyHandle>,
    tallies: Vec<TallyHandle>,
    limits: Limits,
    seconds: Seconds,
}

/// The results of a comparison, which may have been stopped early.
pub struct Compared {
    /// The answers, and the incumbents that solvers found before each answer.
    pub outcome: compare::Compared,
    /// A summary of the answers of each solver.
    pub lines: Vec<SolverRow>,
    /// Counts of the answers of external solvers.
    pub tallies: Vec<TallyHandle>,
    /// Counts of the answers of built-in solvers.
    pub ours: Vec<TallyHandle>,
    /// Whether every solver received every problem.
    pub is_complete: bool,
    sources: Vec<SourceId>,
    seconds: Seconds,
}

impl OpenedComparison {
    /// Reads and checks the problems, or records them during a replay of a log. Starts the solvers that are programs.
    /// The caller's `own` solvers are added last.
    ///
    /// # Errors
    /// The usage is wrong, an input is invalid, or a program does not start.
    pub fn read(
        settings: &ComparisonSettings,
        own: Vec<OwnSolver>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        settings.check()?;
        let chosen = chosen(settings)?;
        let limits = limits(settings.time_limit, settings.gap)?;
        let clock = Instant::now();
        let (problems, sources) = problems(settings, limits, observer)?;
        let mut contenders = Vec::new();
        let mut ours = Vec::new();
        for Known { name, spec } in chosen {
            let solver = built(spec)?;
            if !settings.solvers.is_empty() {
                check_accepts_any(name, &solver, &problems)?;
            }
            ours.push(solver.tally());
            add(name, solver, &mut contenders);
        }
        Ok(OpenedComparison {
            ours,
            tallies: add_others(&settings.program, own, &mut contenders)?,
            contenders,
            problems,
            sources,
            limits,
            seconds: Seconds {
                read: clock.elapsed().as_secs_f64(),
                ..Seconds::default()
            },
        })
    }

    /// Runs every solver on every problem.
    ///
    /// # Errors
    /// A solver fails.
    pub fn compare(self, observer: &dyn Observer) -> Result<Compared> {
        let OpenedComparison {
            problems,
            mut contenders,
            limits,
            ..
        } = self;
        observer.inform(&[format!(
            "comparing on {}",
            counted(problems.len(), "problem")
        )]);
        let clock = Instant::now();
        let outcome = compare::compare(&problems, &mut contenders, &limits, observer)?;
        Ok(Compared {
            lines: summarise(&outcome.answers, &contenders),
            is_complete: outcome.answers.len() == problems.len() * contenders.len(),
            tallies: self.tallies,
            ours: self.ours,
            outcome,
            sources: self.sources,
            seconds: Seconds {
                compute: clock.elapsed().as_secs_f64(),
                ..self.seconds
            },
        })
    }
}

impl Compared {
    /// Writes the run directory. Returns a line that describes its content.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, directory: RunDir) -> Result<String> {
        let clock = Instant::now();
        let compare::Compared {
            answers,
            incumbents,
        } = &self.outcome;
        for table in tables::tables(answers, &self.lines, incumbents) {
            directory.write_table(&table)?;
        }
        if !self.tallies.is_empty() {
            let tallies: Vec<Tally> = self.tallies.iter().map(TallyHandle::get).collect();
            directory.write_json("programs.json", &tallies)?;
        }
        let write = clock.elapsed().as_secs_f64();
        directory.finish(&End {
            sources: &self.sources,
            complete: self.is_complete,
            seconds: Seconds {
                write,
                ..self.seconds
            },
        })
    }
}

/// The built-in solvers that the settings name; if they name none, the default solvers that this build includes.
fn chosen(settings: &ComparisonSettings) -> Result<Vec<Known>> {
    if settings.solvers.is_empty() {
        let of_this_build = |known: &Known| known.is_default() && known.spec.build().is_ok();
        return Ok(KNOWN.into_iter().filter(of_this_build).collect());
    }
    let named: Vec<Known> = settings.solvers.iter().map(|named| named.0).collect();
    for known in &named {
        known.spec.build()?;
    }
    Ok(named)
}

/// Builds one of Gleaner's solvers.
fn built(spec: SolverSpec) -> Result<Built> {
    Built::new(&SolverChoice::Ours(spec.kind), spec.formulation, spec.big_m)
}

/// Starts the programs, and adds them and the caller's own solvers to the contenders. Returns the counts of
/// their answers.
fn add_others(
    programs: &[SolverCommand],
    own: Vec<OwnSolver>,
    contenders: &mut Vec<Contender>,
) -> Result<Vec<TallyHandle>> {
    let mut tallies = Vec::new();
    for command in programs {
        let program = External::start(command.clone(), BigM::default())?;
        tallies.push(program.tally());
        let name = Solver::name(&program).to_owned();
        add(&name, program, contenders);
    }
    for (solver, tally) in own {
        tallies.push(tally);
        let name = solver.name().to_owned();
        add(&name, solver, contenders);
    }
    Ok(tallies)
}

/// Adds a contender. If another contender already has this name, a number is appended to it.
fn add(name: &str, solver: impl AnySolver + Send + 'static, contenders: &mut Vec<Contender>) {
    let is_free = |name: &String| contenders.iter().all(|other| other.name != *name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    contenders.push(Contender {
        name: names.find(is_free).unwrap_or_default().into(),
        solver: Box::new(solver),
    });
}

/// Checks that a named solver accepts at least one of the problems.
///
/// # Errors
/// [`Error::Usage`] if the solver accepts none of the problems. The message states why it does not accept the first
/// problem.
fn check_accepts_any(name: &str, solver: &Built, problems: &[AnyProblem]) -> Result<()> {
    let mut first_refusal = None;
    for problem in problems {
        match solver.accepts(problem) {
            Ok(()) => return Ok(()),
            Err(refusal) => first_refusal = first_refusal.or(Some(refusal)),
        }
    }
    first_refusal.map_or(Ok(()), |first| {
        let message = format!("--solvers {name} cannot solve any of the problems: {first}");
        Err(Error::Usage(message))
    })
}

fn problems(
    settings: &ComparisonSettings,
    limits: Limits,
    observer: &dyn Observer,
) -> Result<(Vec<AnyProblem>, Vec<SourceId>)> {
    if settings.problems.is_some() == settings.log.events.is_some() {
        let message = "compare takes either --problems or --events with --tasks";
        return Err(Error::Usage(message.to_owned()));
    }
    if let Some(path) = &settings.problems {
        let loaded = gleaner_inputs::problems::read(path)?;
        return Ok((loaded.value, loaded.sources));
    }
    let inputs = Replay::open(&settings.log, false, observer)?;
    observer.inform(&inputs.notes);
    let auto = Built::new(
        &SolverChoice::Ours(SolverKind::Auto),
        Formulation::default(),
        BigM::default(),
    )?;
    let (options, log, tasks) = (&inputs.options, &inputs.log, &inputs.tasks);
    let decider = auto.decider(options, log, tasks, limits)?;
    let mut recorder = Recorder::new(decider, settings.every);
    let outcome = gleaner_replay::run(
        &inputs.log,
        &inputs.tasks,
        &inputs.options,
        &mut recorder,
        observer,
    )?;
    if recorder.problems.is_empty() && !outcome.summary.complete {
        return Err(Error::Interrupted);
    }
    if recorder.problems.is_empty() {
        return Err(Error::Run(
            "the replay has no event with idle nodes and active tasks".into(),
        ));
    }
    Ok((recorder.problems, inputs.sources))
}

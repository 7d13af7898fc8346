//! Tests the reading of plans and the settings of the runs to which plans expand.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::read::{self, PlanFile};
use super::simulate::{Listed, together};
use super::*;
use gleaner_domain::Slice;
use gleaner_domain::results::sweep::{Kind, WINDOW};
use gleaner_setup::TFwd;
use gleaner_setup::experiment::{Corrected, Given};
use gleaner_setup::settings::{Form, Settings};
use gleaner_setup::{ReplaySettings, SimulationSettings};

/// Reads a plan in the folder `at`. Returns the plan and its faults.
fn checked(text: &str) -> (Plan, Vec<PlanFault>) {
    let file: PlanFile = toml::from_str(text).unwrap();
    let folder = "at".as_ref();
    match file.replay {
        Some(replay) => read::checked(ReplayPlan::read(&replay, folder)),
        None => read::checked(SimulatePlan::read(&file.simulate.unwrap(), folder)),
    }
}

fn parsed(text: &str) -> ReplayPlan {
    match checked(text) {
        (Plan::Replay(plan), faults) if faults.is_empty() => *plan,
        other => panic!("{other:?}"),
    }
}

fn simulations(text: &str) -> SimulatePlan {
    match checked(text) {
        (Plan::Simulate(plan), faults) if faults.is_empty() => *plan,
        other => panic!("{other:?}"),
    }
}

/// The type that the table's column must have for a setting whose values have this form.
fn kind(form: Form) -> Kind {
    match form {
        Form::Truth | Form::Text | Form::Path => Kind::Text,
        Form::Whole => Kind::Whole,
        Form::Number => Kind::Float,
        Form::Any => panic!("a column has one type"),
    }
}

#[test]
fn columns_are_those_of_settings() {
    let replay = ReplaySettings::list();
    let simulation = SimulationSettings::list();
    let replay = replay.iter().map(|setting| &setting.about);
    let simulation = simulation.iter().map(|setting| &setting.about);
    for (columns, settings) in [
        (Mode::Replay.settings(), replay.collect::<Vec<_>>()),
        (Mode::Simulate.settings(), simulation.collect()),
    ] {
        // The column `window` is skipped, because it numbers the parts of the log and is not a setting of a single run.
        for column in columns.iter().filter(|column| column.name != WINDOW) {
            let name = &column.pointer[1..];
            let about = settings.iter().find(|about| about.name == name).unwrap();
            let expected = match name {
                "t_fwd" => Kind::Float,
                "from" | "to" => Kind::Text,
                _ => kind(about.form),
            };
            assert_eq!(column.kind, expected, "{name}");
        }
    }
}

/// The settings of all combinations.
fn expand(plan: &ReplayPlan) -> Vec<ReplaySettings> {
    let all = (0..plan.count()).map(|index| plan.settings(&plan.combination(index)));
    all.collect()
}

const SMALL: &str = "[replay]\nevents = 'e'\ntasks = 't'\n";

#[test]
fn a_plan_without_lists_is_one_run_with_the_defaults() {
    let settings = expand(&parsed(SMALL));
    let [one] = &settings[..] else {
        panic!("{settings:?}");
    };
    assert_eq!(
        (one.log.rules.t_fwd, one.log.rules.max_tasks),
        (TFwd::Auto, 10)
    );
    assert_eq!(one.log.slice.slice(), Slice::default());
    assert_eq!(one.log.events.as_deref(), Some("at/e".as_ref()));
}

// Small fixed example.
#[test]
fn every_setting_is_parsed() {
    let plan = parsed(
        "[replay]\nevents = 'e'\ncache = true\ncheck = true\nskip_invalid = true\n\
         tasks = ['t', { tasks = 'b.pkl', curves = 'c.pkl' }]\n\
         window = [{ skip_rows = 5, nodes = 3 }, { from = 2021-02-10, to = '2021-02-11 12:00:00' }]\n\
         t_fwd = [30, 60.5]\nmax_tasks = 4\nobjective = 'speedup'\nsolver = 'equal-share'\n\
         big_m = 'paper'\ntime_limit = 2\ngap = 0.01\ninitial = ['empty', 'solve']\nseed = 7\n\
         completion_events = [false, true]\n",
    );
    let all = expand(&plan);
    assert_eq!(all.len(), 2 * 2 * 2 * 2 * 2);
    let last = &all[31];
    assert_eq!(last.log.curves.as_deref(), Some("at/c.pkl".as_ref()));
    assert_eq!(
        last.log.slice.to.unwrap().to_string(),
        "2021-02-11 12:00:00"
    );
    let rules = &last.log.rules;
    assert_eq!(
        (rules.t_fwd, last.solver.time_limit, rules.seed),
        (TFwd::Seconds(60.5), 2.0, 7)
    );
    assert!(last.check && last.skip_invalid && last.log.slice.cache);
    assert!(rules.completion_events && !all[30].log.rules.completion_events);
}

#[test]
fn every_fault_is_found_with_its_place() {
    let text = "[replay]\nevents = 'e'\ntasks = ['t', 't']\nt_fwd = [0, 60, 60]\nmax_tasks = []\n\
                window = { from = '2021-01-02', to = '2021-01-01' }\ngap = 1\ntime_limit = -1\n\
                objective = 'share-fair'\nformulation = 'paper'\n";
    let faults = checked(text).1;
    let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "tasks",
            "t_fwd",
            "t_fwd",
            "max_tasks",
            "window",
            "gap",
            "time_limit",
            "formulation",
            "formulation"
        ]
    );
    for fault in faults {
        let at = fault.at.unwrap();
        let line = text[..at].rsplit('\n').next().unwrap();
        assert!(line.starts_with(&fault.field), "{fault:?}");
    }
}

#[test]
fn a_plan_of_too_many_runs_is_refused() {
    let many: Vec<String> = (1..=4000).map(|n| n.to_string()).collect();
    let text = format!("{SMALL}seed = [{0}]\nmax_tasks = [{0}]\n", many.join(","));
    let faults = checked(&text).1;
    assert!(matches!(&faults[..], [fault] if fault.found == "16000000 runs"));
}

#[test]
fn a_log_is_cut_as_the_plan_or_the_option_states() {
    let cut = |plan: Plan| match plan {
        Plan::Replay(plan) => plan.cut().unwrap(),
        Plan::Simulate(_) => panic!("a simulation"),
    };
    let of = |text: &str| Plan::from(parsed(&format!("{SMALL}{text}")));
    let windows = ReplicationArgs {
        windows: Some(7),
        ..ReplicationArgs::default()
    };
    let none = ReplicationArgs::default();
    let unchanged = |text: &str| cut(of(text).with_cut(&none).unwrap());
    assert_eq!(unchanged(""), Cut::Whole);
    assert_eq!(unchanged("windows = 5"), Cut::Windows(5));
    assert_eq!(unchanged("bootstrap = 400"), Cut::Blocks { resamples: 400 });
    // The option replaces both settings of the plan.
    let replaced = cut(of("bootstrap = 400").with_cut(&windows).unwrap());
    assert_eq!(replaced, Cut::Windows(7));
    assert_eq!(windows.words(), ["--windows", "7"]);
    let simulations = simulations("[simulate]\ntrace = 't'\ncluster = 'c'\npolicy = 'fifo'\n");
    let refused = Plan::from(simulations).with_cut(&windows).unwrap_err();
    assert!(
        refused.to_string().contains("leave the option out"),
        "{refused}"
    );
}

#[test]
fn a_log_cannot_be_cut_in_two_ways_or_in_one_part() {
    for (text, field, words) in [
        (
            "windows = 5\nbootstrap = 400",
            "windows",
            "only one of them: windows",
        ),
        ("windows = 1", "windows", "at least 2"),
        ("bootstrap = 99", "bootstrap", "from 100 to 10000"),
        ("windows = [5, 6]", "windows", "a whole number"),
    ] {
        let faults = checked(&format!("{SMALL}{text}\n")).1;
        let [fault] = &faults[..] else {
            panic!("{text}: {faults:?}");
        };
        assert!(
            fault.field == field && fault.expected.contains(words),
            "{fault:?}"
        );
    }
    let both = ReplicationArgs {
        windows: Some(5),
        bootstrap: Some(400),
    };
    let refused = both.cut().unwrap_err().to_string();
    assert!(
        refused.contains("only one of them: --windows") && refused.contains("or --bootstrap"),
        "{refused}"
    );
}

#[test]
fn settings_of_lucid_multiply_only_the_runs_of_lucid() {
    let text = "[simulate]\ntrace = 't'\ncluster = 'c'\npolicy = ['fifo', 'lucid']\n\
                placer = ['consolidate', 'random']\nwithout = ['nothing', 'packing,estimate']\n\
                corrected = [false, true]\nestimates = 3600\n";
    let plan = simulations(text);
    let all = plan.expand();
    assert_eq!(all.len(), 2 + 2 * 2 * 2);
    assert_eq!(Listed::of(&all[9]).without, "packing,estimate");
    assert_eq!(plan.base.files.estimates, Some(Given::Number(3600.0)));
}

/// The default of `corrected` for each policy.
#[test]
fn lucid_is_corrected_unless_the_plan_names_a_preset() {
    for (more, expected) in [
        ("", [false, true]),
        ("corrected = false", [false, false]),
        ("preset = 'venus-sept'\ndata = 'd'", [false, false]),
    ] {
        let files = if more.contains("preset") {
            ""
        } else {
            "trace = 't'\ncluster = 'c'\n"
        };
        let text = format!("[simulate]\n{files}policy = ['fifo', 'lucid']\n{more}\n");
        let all = simulations(&text).expand();
        let corrected: Vec<bool> = all.iter().map(|one| Listed::of(one).corrected).collect();
        assert_eq!(corrected, expected, "{more}");
        let lucid = together(&all[1..]).corrected.unwrap();
        assert_eq!(lucid == Corrected::Only, expected[1]);
        assert!(together(&all[..1]).corrected.is_none());
    }
}

fn distinct<T: Ord + Clone + std::fmt::Debug>(
    values: impl Strategy<Value = T>,
) -> impl Strategy<Value = Vec<T>> {
    prop::collection::btree_set(values, 1..5).prop_map(|set| set.into_iter().rev().collect())
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // Derived by formula: the positions of run i's values are the digits of i in mixed radix, with the lengths of the
    // lists as bases.
    #[test]
    fn expansion_is_the_cross_product_in_a_fixed_order(
        windows in distinct(1u32..9_000),
        tasks in distinct(1usize..50),
        seeds in distinct(0u32..1_000),
    ) {
        let text = format!("{SMALL}t_fwd = {windows:?}\nmax_tasks = {tasks:?}\nseed = {seeds:?}\n");
        let all = expand(&parsed(&text));
        prop_assert_eq!(all.len(), windows.len() * tasks.len() * seeds.len());
        for (i, settings) in all.iter().enumerate() {
            let rules = &settings.log.rules;
            let (rest, seed) = (i / seeds.len(), i % seeds.len());
            let (window, task) = (rest / tasks.len(), rest % tasks.len());
            prop_assert_eq!(rules.seed, u64::from(seeds[seed]));
            prop_assert_eq!(rules.max_tasks, tasks[task]);
            prop_assert_eq!(rules.t_fwd, TFwd::Seconds(windows[window].into()));
        }
        let shown: BTreeSet<String> = all.iter().map(|s| format!("{s:?}")).collect();
        prop_assert_eq!(shown.len(), all.len());
    }
}

//! Reports options that have no effect on the chosen policies.

use super::ExperimentArgs;
use super::learned::Learned;
use crate::settings::{About, Settings};
use gleaner_simulate::Request;
use gleaner_simulate::policies::{self, Needs, PolicyEntry};

/// The condition under which an option has an effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Use {
    /// The option always has an effect.
    #[default]
    Always,
    /// A policy depends on estimated durations.
    Estimates,
    /// A policy lets jobs share GPUs.
    Sharing,
    /// A policy profiles jobs.
    Profiler,
    /// The profiler is on.
    ProfilerOn,
    /// Models replace a file that a policy reads.
    Models,
    /// Models forecast submissions.
    Forecasts,
    /// Estimates are learnt during the simulation.
    LearntEstimates,
    /// A model that uses a seed is learnt.
    Learning,
    /// Results or models depend on civil times.
    Calendar,
}

use Use::{
    Always, Calendar, Estimates, Forecasts, Learning, LearntEstimates, Models, ProfilerOn, Sharing,
};

/// A note for each option that was changed but has no effect on these simulations. `profiling` states whether
/// the profiler is on.
pub fn without_effect(
    args: ExperimentArgs<'_>,
    requests: &[Request],
    profiling: bool,
) -> Vec<String> {
    let facts = Facts::new(args, requests, profiling);
    let mut remarks = facts.idle(args.choice);
    remarks.extend(facts.idle(args.files));
    remarks.extend(facts.idle(args.models));
    remarks.extend(facts.idle(args.profiler));
    remarks
}

/// Facts about a simulation that follow from the chosen policies and the other options.
struct Facts {
    needs: Needs,
    profiled: bool,
    profiling: bool,
    /// Whether models supply the estimates, in place of an estimates file.
    modelled_estimates: bool,
    /// Whether models supply the forecast, in place of a forecast file.
    forecasts: bool,
    /// Whether models are learnt from the data itself.
    train: bool,
    /// Whether the results contain dates.
    dated: bool,
}

impl Facts {
    fn new(args: ExperimentArgs<'_>, requests: &[Request], profiling: bool) -> Self {
        let needs = requests.iter().map(|request| request.policy.needs).max();
        let needs = needs.unwrap_or(Needs::Jobs);
        let models = args.models.models.as_ref();
        let takes_place = |file: &Option<_>| models.is_some() && file.is_none();
        Facts {
            needs,
            profiled: requests.iter().any(|request| request.policy.profiled),
            profiling,
            modelled_estimates: needs >= Needs::Estimates && takes_place(&args.files.estimates),
            forecasts: needs == Needs::Packing && takes_place(&args.files.forecast),
            train: models == Some(&Learned::Train),
            dated: args.dated,
        }
    }

    /// A note for each of these settings that was changed but has no effect.
    fn idle<S: Settings>(&self, settings: &S) -> Vec<String> {
        let all = S::list();
        let idle = all
            .iter()
            .filter(|setting| setting.is_changed(settings) && !self.hold(setting.about.used_for));
        let remark = |about: &About| {
            let why = about.used_for.missing();
            format!("--{} has no effect: {why}", about.option())
        };
        idle.map(|setting| remark(&setting.about)).collect()
    }

    fn hold(&self, what: Use) -> bool {
        let sharing = self.needs == Needs::Packing;
        match what {
            Always => true,
            Estimates => self.needs >= Needs::Estimates,
            Sharing => sharing,
            Use::Profiler => self.profiled,
            ProfilerOn => self.profiling,
            // If models are given, sharing scores always come from them.
            Models => self.modelled_estimates || sharing,
            Forecasts => self.forecasts,
            LearntEstimates => self.train && self.modelled_estimates,
            Learning => self.train && (self.modelled_estimates || self.forecasts),
            Calendar => self.dated || self.modelled_estimates || self.forecasts,
        }
    }
}

impl Use {
    /// The reason why an option has no effect if this condition does not hold.
    fn missing(self) -> String {
        let by = |what: &str, has: fn(&PolicyEntry<'_>) -> bool| {
            let names = policies::ALL.iter().filter(|policy| has(policy));
            let names: Vec<&str> = names.map(|policy| policy.name).collect();
            format!(
                "no chosen policy {what}; policies that do: {}",
                names.join(", ")
            )
        };
        match self {
            Always => String::new(),
            Estimates => by("uses estimated durations", |p| p.needs >= Needs::Estimates),
            Sharing => by("shares GPUs", |p| p.needs == Needs::Packing),
            Use::Profiler => by("profiles jobs", |p| p.profiled),
            ProfilerOn => "no job is profiled".to_owned(),
            Models => {
                "no chosen policy uses model predictions, or --estimates replaces them".to_owned()
            }
            Forecasts => "no model forecasts submissions".to_owned(),
            LearntEstimates => "no estimates are learnt".to_owned(),
            Learning => "neither estimates nor a forecast is learnt".to_owned(),
            Calendar => "only models and --idle-events use dates".to_owned(),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "cli")]
mod tests {
    use clap::Parser;

    use super::super::{Choice, FileArgs, ModelArgs, ProfilerArgs};
    use super::*;

    /// The options of an experiment on the command line.
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        choice: Choice,
        #[command(flatten)]
        files: FileArgs,
        #[command(flatten)]
        models: ModelArgs,
        #[command(flatten)]
        profiler: ProfilerArgs,
    }

    impl Line {
        fn parse(line: &str) -> Self {
            let words = std::iter::once("simulate").chain(line.split_whitespace());
            Line::try_parse_from(words).unwrap()
        }

        fn args(&self, dated: bool) -> ExperimentArgs<'_> {
            ExperimentArgs {
                choice: &self.choice,
                files: &self.files,
                models: &self.models,
                profiler: &self.profiler,
                dated,
            }
        }
    }

    /// The names of the options that have no effect.
    fn idle(line: &str, profiling: bool) -> Vec<String> {
        idle_where(line, profiling, false)
    }

    fn idle_where(line: &str, profiling: bool, dated: bool) -> Vec<String> {
        let line = Line::parse(line);
        let requests = line.choice.requests(&line.files).unwrap();
        let remarks = without_effect(line.args(dated), &requests, profiling);
        let option = |remark: &String| remark.split(' ').next().unwrap().to_owned();
        remarks.iter().map(option).collect()
    }

    // Small fixed examples: options with a policy that uses none of them, and most of these options with Lucid.
    #[test]
    fn options_that_no_policy_uses_are_named() {
        let all = "--without packing --corrected --estimates 5 --profiles p --colocate c \
                   --forecast 3 --models train --series s --no-profile --first-estimate 1 \
                   --model-seed 2 --epoch 2020-04-01 --profiler 200,2,4 --lend auto --elastic x";
        let named: Vec<&str> = all
            .split(' ')
            .filter(|word| word.starts_with("--"))
            .collect();
        let mut found = idle(&format!("--policy fifo {all}"), false);
        let mut expected = named.clone();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);

        let lucid = "--policy lucid --models train --series s --no-profile \
                     --first-estimate 1 --model-seed 2 --epoch 2020-04-01 --profiler 200,2,4 \
                     --lend auto --elastic x --without packing --corrected";
        assert_eq!(idle(lucid, true), [""; 0]);
        let auto = "--policy lucid --lend auto --elastic x";
        assert_eq!(idle(auto, false), ["--lend", "--elastic"]);
    }

    #[test]
    fn files_replace_models() {
        let qssf = "--policy qssf --models train --no-profile";
        assert_eq!(idle(qssf, false), [""; 0]);
        assert_eq!(
            idle("--policy qssf --models train --series s", false),
            ["--series"]
        );
        let given = format!("{qssf} --estimates 5 --epoch 2020-04-01");
        assert_eq!(idle(&given, false), ["--models", "--epoch", "--no-profile"]);
        let lucid = "--policy lucid --models train --estimates 5 --forecast 3 --model-seed 1";
        assert_eq!(idle(lucid, false), ["--model-seed"]);
        let trained = "--policy lucid --models models --first-estimate 1";
        assert_eq!(idle(trained, false), ["--first-estimate"]);
    }

    #[test]
    fn dates_are_used_by_models_and_idle_logs() {
        assert_eq!(idle("--policy fifo --epoch 2020-04-01", false), ["--epoch"]);
        assert_eq!(
            idle_where("--policy fifo --epoch 2020-04-01", false, true),
            [""; 0]
        );
    }
}

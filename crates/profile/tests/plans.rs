//! Tests valid plans, and the faults that are reported for invalid plans.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use gleaner_profile::plan::{self, Plan, SamplerKind};
use proptest::prelude::*;

fn read(folder: &Path, text: &str) -> Result<Plan, String> {
    fs::write(folder.join("plan.toml"), text).unwrap();
    match plan::read(&folder.join("plan.toml")) {
        Ok(loaded) => Ok(loaded.value),
        Err(error) => Err(error.to_string()),
    }
}

const WORKLOAD: &str = "[[workload]]\nname = \"a\"\nmodel = \"A\"\ndataset = \"d\"\n\
                        command = [\"sh\", \"run.sh\", \"{batch}\", \"{amp}\"]\n";

#[test]
fn what_a_plan_leaves_out_has_a_default() {
    let folder = tempfile::tempdir().unwrap();
    let plan = read(folder.path(), WORKLOAD).unwrap();
    let settings = &plan.settings;
    assert_eq!((settings.seconds, settings.warm_seconds), (30.0, 120.0));
    assert_eq!((settings.repeats, settings.sampler), (1, SamplerKind::Cpu));
    assert!(!settings.cores.is_empty() && settings.devices.is_empty());
    assert_eq!((plan.configs.len(), &plan.pairs[..]), (1, &[(0, 0)][..]));
    assert_eq!(plan.command(plan.configs[0], 1), ["sh", "run.sh", "1", "0"]);
}

#[test]
fn placeholders_are_filled_and_other_braces_stay() {
    let folder = tempfile::tempdir().unwrap();
    let words = "[\"sh\", \"-b{batch}\", \"{amp}{amp}\", \"{seconds}\", \"{devices}\", \
                 \"{processes}\", \"{x} {}\"]";
    let text = format!(
        "seconds = 2.5\ncores = \"0\"\n[[workload]]\nname = \"a\"\nmodel = \"A\"\ndataset = \"d\"\n\
         batch_sizes = [32, 64]\namp = [0, 1]\ncommand = {words}\n"
    );
    let plan = read(folder.path(), &text).unwrap();
    assert_eq!((plan.configs.len(), plan.pairs.len()), (4, 10));
    let found = plan.command(plan.configs[3], 4);
    assert_eq!(found, ["sh", "-b64", "11", "2.5", "0", "4", "{x} {}"]);
    assert_eq!(plan.named(plan.configs[3]).to_string(), "a:64:1");
}

#[test]
fn pairs_are_listed_by_name_or_by_one_of_its_forms() {
    let folder = tempfile::tempdir().unwrap();
    let second = WORKLOAD.replace("\"a\"", "\"b\"").replace("\"A\"", "\"B\"");
    let text = format!("{WORKLOAD}batch_sizes = [1, 2]\n{second}");
    let of = |pairs: &str| read(folder.path(), &format!("pairs = {pairs}\n{text}"));
    assert_eq!(of("[[\"b\", \"a\"]]").unwrap().pairs, [(0, 2), (1, 2)]);
    let twice = "[[\"b\", \"a:2:0\"], [\"a:2:0\", \"b:1:0\"]]";
    assert_eq!(of(twice).unwrap().pairs, [(1, 2)]);
    assert_eq!(of("\"none\"").unwrap().pairs, []);
    assert_eq!(of("{ sample = 3, seed = 4 }").unwrap().pairs.len(), 3);
    for (pairs, words) in [
        ("\"some\"", "expected \"all\", \"none\", a list"),
        ("[[\"a\"]]", "expected \"all\""),
        (
            "[[\"a\", \"c\"]]",
            "found \"c\", expected a workload, or NAME",
        ),
        ("[[\"a:3:0\", \"b\"]]", "found \"a:3:0\""),
        ("{ sample = 7 }", "a sample of 1 to 6"),
        ("{ sample = 3, sed = 4 }", "expected \"all\""),
        ("3", "expected \"all\""),
    ] {
        let told = of(pairs).unwrap_err();
        assert!(
            told.contains(words) && told.contains("line 1, pairs"),
            "{told}"
        );
    }
}

#[test]
fn all_faults_are_found_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let text = "seconds = 0.1\nwarm_seconds = inf\nidle_seconds = 1e9\nrepeats = 0\n\
                sampler = \"gpu\"\ncores = \"0-9999\"\ndevices = [0]\nprocesses = 0\n\
                [[workload]]\nname = \"a:b\"\nmodel = \"\"\ndataset = \"x\\ny\"\n\
                command = [\"no-such-program-here\"]\nbatch_sizes = [0]\namp = [2]\n\
                directory = \"missing\"\n\
                [[workload]]\nname = \"c\"\nmodel = \"M\"\nbatch_sizes = [1, 2]\n\
                command = [\"sh\"]\n\
                [[workload]]\nname = \"c\"\nmodel = \"M\"\ncommand = []\n";
    let told = read(folder.path(), text).unwrap_err();
    for words in [
        "line 1, seconds: found 0.1, expected from 0.5 to 86400.0",
        "line 2, warm_seconds: found inf",
        "line 3, idle_seconds",
        "line 4, repeats: found 0, expected from 1 to 1000",
        "line 5, sampler: found \"gpu\", expected cpu or nvml",
        "line 6, cores: found \"0-9999\", expected core numbers and ranges",
        "line 7, devices: found GPUs, expected none",
        "line 8, processes: found 0",
        "line 10, name: found \"a:b\"",
        "line 11, model: found \"\"",
        "line 12, dataset",
        "line 13, command: found \"no-such-program-here\", expected a program that can be found",
        "line 14, batch_sizes: found [0]",
        "line 15, amp: found [2]",
        "line 16, directory: found \"missing\"",
        "line 17, dataset: found nothing, expected a name",
        "line 17, batch_sizes: found 2 values, but no {batch} in the command",
        "line 23, name: found \"c\" a second time",
    ] {
        assert!(told.contains(words), "no {words:?} in:\n{told}");
    }
}

#[test]
fn what_the_tables_could_not_tell_apart_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let twin = WORKLOAD.replace("\"a\"", "\"b\"");
    let told = read(folder.path(), &format!("{WORKLOAD}{twin}")).unwrap_err();
    let words = "line 8, model: found A on d with batch size 1 and amp 0 a second time";
    assert!(told.contains(words), "{told}");
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (text, words) in [
        ("", "found none, expected at least one [[workload]]"),
        ("secs = 3\n", "line 1: found `secs = 3`"),
        ("seconds = \"a\"\n", "expected a number"),
        ("[workload]\n", "line 1"),
        ("seconds = [\n", "plan.toml, line"),
    ] {
        let told = read(folder.path(), text).unwrap_err();
        assert!(told.contains(words), "{text:?}: {told}");
    }
    fs::write(folder.path().join("plan.toml"), b"\xff\xfe").unwrap();
    let told = plan::read(&folder.path().join("plan.toml")).unwrap_err();
    assert!(told.to_string().contains("UTF-8"));
}

#[test]
fn too_many_workloads_or_measurements_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = |count: u32| {
        let sizes: Vec<String> = (1..=count).map(|size| size.to_string()).collect();
        format!("{WORKLOAD}batch_sizes = [{}]\n", sizes.join(", "))
    };
    let told = read(folder.path(), &sizes(2001)).unwrap_err();
    assert!(told.contains("at most 2000"), "{told}");
    let told = read(folder.path(), &sizes(500)).unwrap_err();
    assert!(
        told.contains("125750 measurements") && told.contains("sample"),
        "{told}"
    );
}

proptest! {
    #![proptest_config(gleaner_testing::cases(128))]

    // Reading any file returns either a plan or a fault that names the file.
    #[test]
    fn no_plan_panics(
        seconds in any::<f64>(),
        repeats in any::<i64>(),
        cores in "[0-9,-]{0,8}",
        pairs in "(\"all\"|\\[\\]|\\{ sample = [0-9]{1,3} \\}|[a-z0-9]{1,4})",
        sizes in proptest::collection::vec(any::<i64>(), 0..4),
        name in ".{0,6}",
    ) {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "seconds = {seconds:?}\nrepeats = {repeats}\ncores = \"{cores}\"\npairs = {pairs}\n\
             {WORKLOAD}batch_sizes = {sizes:?}\n[[workload]]\nname = {name:?}\n"
        );
        if let Err(told) = read(folder.path(), &text) {
            prop_assert!(told.contains("plan.toml"), "{}", told);
        }
    }
}

#[test]
fn inputs_are_files_and_what_folders_hold() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("models/__pycache__")).unwrap();
    for name in [
        "steps.py",
        "models/b.py",
        "models/a.py",
        "models/.hidden",
        "models/__pycache__/x",
    ] {
        fs::write(at(name), "").unwrap();
    }
    std::os::unix::fs::symlink("..", at("models/circle")).unwrap();
    let text = |inputs: &str| {
        format!(
            "inputs = {inputs}\n[[workload]]\nname = 'a'\nmodel = 'a'\ndataset = 'a'\n\
             command = ['sh', 'steps.py']\n"
        )
    };
    fs::write(at("plan.toml"), text("['models', 'steps.py']")).unwrap();
    let plan = plan::read(&at("plan.toml")).unwrap().value;
    let files = plan.files(plan.configs[0]);
    let names = ["steps.py", "models/a.py", "models/b.py", "steps.py"];
    let relative = files
        .iter()
        .map(|file| file.strip_prefix(folder.path()).unwrap());
    let relative: Vec<&Path> = relative.collect();
    assert_eq!(relative, names.map(Path::new));
    fs::write(at("plan.toml"), text("['none']")).unwrap();
    let told = plan::read(&at("plan.toml")).unwrap_err().to_string();
    assert!(
        told.contains("line 1, inputs") && told.contains("none"),
        "{told}"
    );
}

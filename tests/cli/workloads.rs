//! Runs the workloads that come with Gleaner as `gleaner profile` runs them, but with small models on CPU cores.
//!
//! The workloads need a Python with PyTorch (see `gleaner_testing::python_with_torch`).

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use gleaner_profile::plan::{self, Plan, SamplerKind};
use gleaner_testing::{python_with_torch, shared, workspace};

use crate::runs::gleaner;
use crate::support::train_and_simulate;

fn folder() -> PathBuf {
    workspace().join("workloads")
}

/// The process of a workload, and the lines that it prints.
struct Training {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Training {
    fn start(python: &str, words: &[&str]) -> Self {
        let mut command = Command::new(python);
        command.arg(folder().join("train.py")).args(words);
        command.args(["--batch", "4", "--tiny", "--own", "--device", "cpu"]);
        // A single thread is used, because threads that wait for each other are slow while other tests run.
        command.env("OMP_NUM_THREADS", "1");
        command.env("PYTHONDONTWRITEBYTECODE", "1").process_group(0);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Training { child, lines }
    }

    /// Returns the next line that the workload prints. Fails if the workload has ended.
    #[track_caller]
    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Skips the output of the workload's warm-up, and then reads three reports.
    #[track_caller]
    fn reports(&mut self) -> Vec<u64> {
        while self.line() != "gleaner warm" {}
        let count = |line: String| line.strip_prefix("gleaner samples ")?.parse().ok();
        (0..3).map(|_| count(self.line()).unwrap()).collect()
    }

    /// Ends the workload with SIGTERM, and checks that its process group is then empty.
    #[track_caller]
    fn end(mut self) {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(told.unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(143));
        // Other processes of the workload may end a moment after the first.
        let is_left = || {
            let group = format!("-{pid}");
            let asked = Command::new("kill").args(["-0", "--", &group]).output();
            asked.unwrap().status.success()
        };
        let left = (0..200).all(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            is_left()
        });
        assert!(!left, "processes are left");
    }
}

/// For each workload, the name of its model, and whether the workload is also run in mixed precision.
fn models() -> Vec<(String, bool)> {
    let plan = lucid();
    let mixed = |index| plan.configs.iter().any(|c| c.workload == index && c.amp);
    let workloads = plan.workloads.iter().enumerate();
    let named = workloads.map(|(index, workload)| (workload.model.clone(), mixed(index)));
    named.collect()
}

fn lucid() -> Plan {
    plan::read(&folder().join("lucid.toml")).unwrap().value
}

#[test]
fn every_workload_trains_and_ends_when_it_is_told_to() {
    let Some(python) = python_with_torch() else {
        return;
    };
    for (model, has_amp) in models() {
        eprintln!("{model}");
        let amp = if has_amp { "1" } else { "0" };
        let mut training = Training::start(&python, &[&model, "--amp", amp]);
        let reports = training.reports();
        let grows = reports.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(grows, "{model}: {reports:?}");
        training.end();
    }
}

// DCGAN is the hardest case for sharing gradients between processes, because its discriminator runs three times per
// step.
#[test]
fn samples_of_several_processes_are_summed() {
    let Some(python) = python_with_torch() else {
        return;
    };
    let mut training = Training::start(&python, &["DCGAN", "--processes", "2"]);
    let reports = training.reports();
    // Both processes have handled the same number of batches of four samples, so the counts are multiples of 8.
    let is_summed = reports.iter().all(|count| count % 8 == 0);
    let grows = reports.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(is_summed && grows, "{reports:?}");
    training.end();
}

/// The common beginning of the Python programs in this file. Its function `models` builds every workload in turn.
const PRELUDE: &str = "
import importlib, sys
sys.path.insert(0, sys.argv[1])
import torch, train
from processes import Group
from training import Precision, Setting

def models(batch, tiny):
    device = torch.device('cpu')
    for name, module in train.MODELS.items():
        setting = Setting(batch, Precision(device, False), Group(device), tiny, True)
        yield name, module, importlib.import_module(f'models.{module}').build(name, setting)
";

/// Builds every model in its full size and counts its parameters.
const COUNT: &str = "
for name, module, workload in models(2, False):
    print(name, sum(one.numel() for model in workload.models for one in model.parameters()))
";

/// Number of parameters of each model, as published or computed by hand from the shapes of the layers.
fn parameters() -> Vec<(&'static str, u64)> {
    // The numbers come from torchvision's documentation. A linear layer from 1,280 features to 10 classes has 1281 *
    // 990 fewer parameters than one to 1,000 classes.
    let (mobilenet_v2, efficientnet) = (3_504_872 - 1281 * 990, 5_288_548 - 1281 * 990);
    // Unlike this model, torchvision's ResNet18 has a stem of 7 x 7, not 3 x 3, and a linear layer from 512 features to
    // 1,000 classes, not 10.
    let resnet18 = 11_689_512 - 64 * 3 * (49 - 9) - 513 * 990;
    let widths = [3, 64, 128, 256, 256, 512, 512, 512, 512];
    let convolved: u64 = widths.windows(2).map(|w| 9 * w[0] * w[1] + 2 * w[1]).sum();
    let dense = |widths: &[u64]| -> u64 { widths.windows(2).map(|w| (w[0] + 1) * w[1]).sum() };
    let normed = |widths: &[u64]| dense(widths) + 2 * widths[1..].iter().sum::<u64>();
    let cloud = normed(&[3, 64, 128, 1024]) + normed(&[1024, 512, 256]);
    // Numbers of parameters in parts of the Transformer: an attention layer, the two linear layers after it, and a
    // normalisation layer.
    let (attention, behind, norm) = (4 * dense(&[512, 512]), dense(&[512, 2048, 512]), 2 * 512);
    let layers = 3 * attention + 2 * behind + 5 * norm;
    let embedded = (7853 + 5893) * 512 + dense(&[512, 5893]);
    vec![
        ("ResNet50", 25_557_032),
        ("MobileNetV3", 2_542_856),
        ("ResNet18", resnet18),
        ("VGG", convolved + dense(&[512, 10])),
        ("MobileNetV2", mobilenet_v2),
        ("EfficientNet", efficientnet),
        ("PointNet", 2 * cloud + dense(&[256, 9]) + dense(&[256, 16])),
        // Numbers of parameters of the generator and the discriminator in PyTorch's DCGAN tutorial.
        ("DCGAN", 3_576_704 + 2_765_568),
        (
            "PPO",
            2 * dense(&[8, 64, 64]) + dense(&[64, 4]) + dense(&[64, 1]),
        ),
        (
            "TD3",
            dense(&[24, 400, 300, 4]) + 2 * dense(&[28, 400, 300, 1]),
        ),
        (
            "NeuMF",
            (6040 + 3706) * (32 + 128) + dense(&[256, 128, 64, 32]) + 65,
        ),
        (
            "LSTM",
            33_278 * 200 + 2 * 4 * 200 * (200 + 200 + 2) + dense(&[200, 33_278]),
        ),
        // Number of parameters of the base size of BertForQuestionAnswering in the Transformers library.
        ("BERT", 108_893_186),
        ("Transformer", 6 * layers + 2 * norm + embedded),
    ]
}

#[test]
fn models_have_as_many_parameters_as_published_ones() {
    let Some(python) = python_with_torch() else {
        return;
    };
    let lines = parameters().into_iter();
    let expected: String = lines
        .map(|(name, count)| format!("{name} {count}\n"))
        .collect();
    assert_eq!(script(&python, COUNT), expected);
}

/// Trains small models for some steps, and prints the names of the weight matrices that have not changed.
const LEARN: &str = "
for name, module, workload in models(8, True):
    named = [one for model in workload.models for one in model.named_parameters()]
    before = [one.detach().clone() for _, one in named]
    for _ in range(100 if module in ['ppo', 'td3'] else 3):
        workload.step()
    for (part, now), old in zip(named, before):
        # A parameter that scales a normalised channel may change by less than its last digit.
        if now.dim() > 1 and torch.equal(now, old):
            print(name, part)
";

#[test]
fn every_matrix_is_trained() {
    let Some(python) = python_with_torch() else {
        return;
    };
    assert_eq!(script(&python, LEARN), "");
}

/// Runs the prelude and a program in Python, and returns their output.
fn script(python: &str, text: &str) -> String {
    let mut command = Command::new(python);
    let program = format!("{PRELUDE}{text}");
    command.args(["-c", &program]).arg(folder());
    command.env("OMP_NUM_THREADS", "1");
    let output = command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

type Workload = (String, String, u32, u32);

fn config(plan: &Plan, index: usize) -> Workload {
    let config = plan.configs[index];
    let workload = plan.workload(config);
    (
        workload.model.clone(),
        workload.dataset.clone(),
        config.batch_size,
        u32::from(config.amp),
    )
}

/// The workloads in a table: the model, data set, batch size and precision of each row.
fn columns(path: &Path, names: [&str; 4]) -> Vec<Workload> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let places = names.map(|name| header.iter().position(|cell| *cell == name).unwrap());
    let row = |cells: Vec<&str>| {
        let [model, dataset, batch, amp] = places.map(|place| cells[place].to_owned());
        (model, dataset, batch.parse().unwrap(), amp.parse().unwrap())
    };
    lines.map(row).collect()
}

// Compares the plan with the published tables in ../shared/data.
#[test]
fn the_plan_has_the_workloads_and_the_pairs_of_the_published_tables() {
    let singles = shared("lucid/venus_sept/single_data.csv");
    let pairs = shared("lucid/venus_sept/colocate_info.csv");
    let (Some(singles), Some(pairs)) = (singles, pairs) else {
        return;
    };
    let plan = lucid();
    let found: BTreeSet<Workload> = (0..plan.configs.len()).map(|i| config(&plan, i)).collect();
    let published = columns(&singles, ["model", "dataset", "batchsize", "amp"]);
    assert_eq!(published.len(), 66);
    assert_eq!(found, published.into_iter().collect());
    let ordered = |(a, b): (Workload, Workload)| if a <= b { (a, b) } else { (b, a) };
    let first = columns(&pairs, ["model1", "dataset1", "batchsize1", "amp1"]);
    let second = columns(&pairs, ["model2", "dataset2", "batchsize2", "amp2"]);
    let published: BTreeSet<_> = first.into_iter().zip(second).map(ordered).collect();
    let found = plan.pairs.iter();
    let found = found.map(|&(a, b)| ordered((config(&plan, a), config(&plan, b))));
    assert_eq!(found.collect::<BTreeSet<_>>(), published);
    assert_eq!(plan.pairs.len(), published.len());

    let directory = tempfile::tempdir().unwrap();
    let line = format!(
        "profile --plan lucid --workloads {} --dry-run",
        folder().display()
    );
    let run = gleaner(directory.path(), &line).expect(0);
    let listed = run.out.lines().filter(|line| !line.contains(" beside "));
    let named = columns(&singles, ["model", "dataset", "batchsize", "amp"]);
    let named = named
        .iter()
        .map(|(model, _, batch, amp)| format!("{model}:{batch}:{amp}, repeat 1"));
    let listed: BTreeSet<String> = listed.map(|line| line.trim().to_owned()).collect();
    assert_eq!(listed, named.collect());
    assert_eq!(run.out.lines().count(), 66 + 1388);
}

#[test]
fn the_plan_measures_gpus_unless_cores_are_asked_for() {
    let plan = lucid();
    assert_eq!(plan.settings.sampler, SamplerKind::Nvml);
    assert!(
        plan.command(plan.configs[0], 1)
            .contains(&"cuda".to_owned())
    );
    let path = folder().join("lucid.toml");
    let plan = plan::read_for(&path, Some(SamplerKind::Cpu)).unwrap().value;
    assert_eq!(plan.settings.sampler, SamplerKind::Cpu);
    assert!(plan.command(plan.configs[0], 1).contains(&"cpu".to_owned()));
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let line = format!(
        "profile --plan lucid --workloads {} -o out --nvml-library ./none.so",
        folder().display()
    );
    gleaner(at, &line)
        .expect(1)
        .says(&["none.so", "--sampler cpu"]);
    let run = gleaner(at, "profile --plan lucid --dry-run").expect(2);
    run.says(&["no lucid.toml in workloads or ", "--workloads DIR"]);
    let run = gleaner(at, "profile --dry-run").expect(2);
    run.says(&["PLAN"]);
}

/// A plan of two small workloads whose steps take milliseconds, so that even a busy machine executes many steps in a
/// window.
fn small(python: &str) -> String {
    let workload = |model: &str, dataset: &str, more: &str| {
        format!(
            "[[workload]]\nname = \"{model}\"\nmodel = \"{model}\"\ndataset = \"{dataset}\"\n\
             environment = {{ PYTHONDONTWRITEBYTECODE = \"1\", OMP_NUM_THREADS = \"1\" }}\n\
             command = [\"{python}\", \"{}\", \"{model}\", \"--tiny\", \"--own\", \
             \"--device\", \"{{device}}\", \"--batch\", \"{{batch}}\", \"--amp\", \"{{amp}}\", \
             \"--processes\", \"{{processes}}\"]\n{more}",
            folder().join("train.py").display()
        )
    };
    format!(
        "seconds = 1\nidle_seconds = 0.5\n{}{}",
        workload("NeuMF", "MovieLens", "batch_sizes = [64]\n"),
        workload("LSTM", "Wikitext2", "batch_sizes = [4]\n"),
    )
}

#[test]
fn measured_tables_of_the_workloads_are_read_by_train_and_simulate() {
    let Some(python) = python_with_torch() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("plan.toml"), small(&python)).unwrap();
    let run = gleaner(at, "profile plan.toml -o measured --busy-ok").expect(0);
    let counts = "measurements  5, 0 of them already done\nworkloads     2\npairs         3\n";
    assert!(run.out.starts_with(counts), "{}", run.out);
    let jobs = "1,u,vc1,a,8,4,COMPLETED,0,4000,MovieLens,NeuMF,64,0\n\
                2,u,vc1,b,8,4,COMPLETED,10,5000,Wikitext2,LSTM,4,0\n";
    train_and_simulate(at, jobs);
}

//! Runs the commands in the code blocks of README.md and docs/ as they are, in their order on each page.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gleaner_testing::workspace;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::dataset;

/// A fenced code block of a page.
struct Block {
    /// The text after the first fence, such as `sh`.
    info: String,
    lines: Vec<String>,
}

fn blocks(document: &str) -> Vec<Block> {
    let text = fs::read_to_string(workspace().join(document)).unwrap();
    let fenced = text.split("\n```").skip(1).step_by(2);
    let block = |fenced: &str| {
        let mut lines = fenced.lines().map(str::to_owned);
        Block {
            info: lines.next().unwrap(),
            lines: lines.collect(),
        }
    };
    fenced.map(block).collect()
}

/// Markdown files of the repository. Some test must read each code block in these files.
fn documents() -> Vec<String> {
    let mut documents = Vec::new();
    for folder in ["", "docs", "dataset"] {
        for entry in fs::read_dir(workspace().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let document = path.strip_prefix(workspace()).unwrap();
                documents.push(document.display().to_string());
            }
        }
    }
    documents
}

/// Whether Python can import `module`. If it cannot, prints a note that lines that need this module are skipped.
fn python_has(module: &str) -> bool {
    let import = format!("import {module}");
    let found = Command::new("python3").args(["-c", &import]).output();
    let has = found.is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("skipped: lines that need python3 with the module {module}");
    }
    has
}

/// The output of a command, without its time measurements.
#[derive(Default)]
struct Printed {
    out: Vec<String>,
    err: Vec<String>,
}

impl Printed {
    fn add(&mut self, output: &Output) {
        let lines = |bytes: &[u8]| -> Vec<String> {
            String::from_utf8_lossy(bytes)
                .lines()
                .map(without_times)
                .collect()
        };
        self.out.extend(lines(&output.stdout));
        self.err.extend(lines(&output.stderr));
    }

    /// Checks that a block shows this output: all lines of stdout, and any lines of stderr, both in order. A line `...`
    /// matches any number of lines.
    fn is_shown_by(&self, block: &Block, place: &str) {
        let (mut out, mut err) = (self.out.iter(), self.err.iter());
        let mut may_skip = false;
        for expected in block.lines.iter().map(|line| without_times(line)) {
            if expected == "..." {
                may_skip = true;
                continue;
            }
            let (mut rest, is_next) = (err.clone(), out.clone().next() == Some(&expected));
            if !is_next && !expected.is_empty() && rest.any(|line| *line == expected) {
                err = rest;
                continue;
            }
            let found = if may_skip {
                out.find(|line| **line == expected)
            } else {
                out.next()
            };
            assert_eq!(found, Some(&expected), "{place}");
            may_skip = false;
        }
        assert!(may_skip || out.next().is_none(), "{place}: more output");
    }
}

/// A line in which measured times are replaced with `#`. Their number of digits affects the spaces around them.
fn without_times(line: &str) -> String {
    let line = match line.split_once("\"microseconds\":") {
        Some((before, _)) => before,
        None => line,
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |at: &usize| matches!(words.get(at + 1), Some(&("µs" | "ms")));
    if !(0..words.len()).any(|at| is_time(&at)) {
        return line.to_owned();
    }
    let steady = (0..words.len()).map(|at| if is_time(&at) { "#" } else { words[at] });
    steady.collect::<Vec<_>>().join(" ")
}

/// Runs a line in a shell in `directory`, which is also the home directory. `gleaner` is the
/// program under test.
fn shell(directory: &Path, line: &str) {
    output_of(directory, line);
}

/// Like [`shell`]. Returns `None` if the line is skipped, because a Python module is missing.
fn output_of(directory: &Path, line: &str) -> Option<Output> {
    if ((line.contains("dp.py") || line.contains("classes.py")) && !python_has("json"))
        || (line.contains("cp_sat.py") && !python_has("ortools"))
        || (line.contains("profile.toml") && !python_has("multiprocessing"))
    {
        return None;
    }
    let bin = Path::new(env!("CARGO_BIN_EXE_gleaner")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .env("PATH", path)
        .env("HOME", directory);
    command.current_dir(directory).stdin(Stdio::null());
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}\n{err}");
    assert!(!err.contains("panicked"), "{line}\n{err}");
    Some(output)
}

/// Runs the commands of a page in an empty directory that has `dataset/` and `solvers/`. A block of kind `text` shows
/// the output of the commands in the block before it. Returns the directory and the number of `gleaner` commands.
fn run_page(document: &str) -> (TempDir, usize) {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    symlink(dataset(), at.join("dataset")).unwrap();
    symlink(workspace().join("solvers"), at.join("solvers")).unwrap();
    let mut commands = 0;
    let blocks = blocks(document);
    for (place, block) in blocks.iter().enumerate() {
        if block.info != "sh" {
            continue;
        }
        let mut printed = Printed::default();
        let mut is_whole = true;
        for line in &block.lines {
            match output_of(at, line) {
                Some(output) => printed.add(&output),
                None => is_whole = false,
            }
            commands += usize::from(line.starts_with("gleaner "));
        }
        let shown = blocks.get(place + 1).filter(|next| next.info == "text");
        if let Some(shown) = shown.filter(|_| is_whole) {
            let last = block.lines.last().map_or("", String::as_str);
            printed.is_shown_by(shown, &format!("{document}, {last}"));
        }
    }
    (directory, commands)
}

/// Each code block of the README has at most five lines.
#[test]
fn the_commands_of_the_readme_run_in_an_empty_directory() {
    let (directory, commands) = run_page("README.md");
    assert!(commands >= 12, "{commands} commands");
    for page in ["month.html", "swept.html", "policies.html"] {
        assert!(directory.path().join(page).exists(), "{page}");
    }
    for block in blocks("README.md") {
        assert!(block.lines.len() <= 5, "{:?}", block.lines);
    }
}

#[test]
fn the_page_of_providers_shows_real_output() {
    let (directory, commands) = run_page("docs/PROVIDERS.md");
    assert!(commands >= 8, "{commands} commands");
    for file in ["log.html", "month.html", "log.parquet"] {
        assert!(directory.path().join(file).exists(), "{file}");
    }
}

/// Runs the crontab line with stand-ins for `sinfo`, `date` and `sleep`.
#[test]
fn the_line_for_cron_writes_polls() {
    let blocks = blocks("docs/PROVIDERS.md");
    let cron: Vec<&Block> = blocks.iter().filter(|b| b.info == "sh cron").collect();
    let [line] = &cron[0].lines[..] else {
        panic!("one line is expected")
    };
    assert_eq!(line, gleaner_logs::polls::CRON_LINE);
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let program = |name: &str, text: &str| {
        let path = at.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("sinfo", "echo \"$4\" | sed 's/%T/idle/; s/%N/n[1-3]/'");
    program(
        "date",
        "echo >> times; echo $((1795453200 + 15 * $(wc -l < times)))",
    );
    program("sleep", "exit 0");
    // cron turns `\%` into `%`.
    let command = line.strip_prefix("* * * * * ").unwrap().replace("\\%", "%");
    shell(at, &format!("PATH=.:$PATH; {command}"));
    let polls = fs::read_to_string(at.join("sinfo.log")).unwrap();
    assert_eq!(polls.lines().count(), 4, "{polls}");
    assert!(polls.starts_with("1795453215 idle n[1-3]\n"), "{polls}");
    shell(at, "gleaner ingest sinfo sinfo.log -o log.csv");
    let log = fs::read_to_string(at.join("log.csv")).unwrap();
    assert!(log.ends_with("2026-11-23 17:01:00+00:00,,\n"), "{log}");
}

#[test]
fn the_page_of_pilots_shows_real_output() {
    let (directory, _) = run_page("docs/PILOTS.md");
    assert!(directory.path().join("pilots.html").exists());
}

#[test]
fn the_page_of_classes_shows_real_output() {
    let (directory, _) = run_page("docs/CLASSES.md");
    assert!(directory.path().join("page.html").exists());
}

#[test]
fn the_page_of_first_results_shows_real_output() {
    let (directory, _) = run_page("docs/START.md");
    assert!(directory.path().join("demo.html").exists());
}

/// A `json answer` block shows some fields of the answer to the problem in the block before it.
#[test]
fn the_page_of_the_allocation_shows_real_answers() {
    let page = "docs/ALLOCATION.md";
    let (directory, _) = run_page(page);
    let at = directory.path();
    let blocks = blocks(page);
    let mut answers = 0;
    for pair in blocks.windows(2).filter(|p| p[1].info == "json answer") {
        let [problem, answer] = pair else { continue };
        assert_eq!(problem.info, "json problem");
        fs::write(at.join("problem.json"), problem.lines.join("\n")).unwrap();
        shell(at, "gleaner solve problem.json --check > answer.json");
        let found = fs::read(at.join("answer.json")).unwrap();
        let found: Value = serde_json::from_slice(&found).unwrap();
        let shown: Value = serde_json::from_str(&answer.lines.join("\n")).unwrap();
        for (field, value) in shown.as_object().unwrap() {
            assert_eq!(&found[field], value, "{field}: {}", problem.lines[0]);
        }
        answers += 1;
    }
    assert_eq!(answers, 4);
}

#[test]
fn the_book_lists_every_page() {
    let docs = workspace().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let target = |line: &'_ str| Some(line.split_once("](")?.1.strip_suffix(')')?.to_owned());
    let listed: BTreeSet<String> = summary.lines().filter_map(target).collect();
    for page in &listed {
        assert!(
            docs.join(page).is_file(),
            "docs/SUMMARY.md: {page} is missing"
        );
    }
    for document in documents() {
        let page = document.strip_prefix("docs/").unwrap_or("SUMMARY.md");
        let is_listed = page == "SUMMARY.md" || listed.contains(page);
        assert!(is_listed, "docs/SUMMARY.md does not list {page}");
    }
}

#[test]
fn the_page_of_hpo_shows_real_output() {
    let (directory, commands) = run_page("docs/HPO.md");
    assert!(commands >= 9, "{commands} commands");
    assert!(directory.path().join("swept.html").exists());
}

#[test]
fn the_page_of_developers_shows_real_output() {
    let (directory, commands) = run_page("docs/DEVELOPERS.md");
    assert!(commands >= 7, "{commands} commands");
    assert!(directory.path().join("compared.html").exists());
}

#[test]
fn the_page_of_operators_shows_real_output() {
    let (directory, commands) = run_page("docs/OPERATORS.md");
    assert!(commands >= 22, "{commands} commands");
    for file in ["policies.html", "estimates.csv", "scored.csv"] {
        assert!(directory.path().join(file).exists(), "{file}");
    }
}

#[test]
fn the_page_of_solvers_runs_and_its_manifest_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    symlink(dataset(), at.join("dataset")).unwrap();
    symlink(workspace().join("solvers"), at.join("solvers")).unwrap();
    for block in blocks("docs/SOLVERS.md") {
        if block.info == "sh" {
            block.lines.iter().for_each(|line| shell(at, line));
        } else if block.info == "json problem" {
            fs::write(at.join("problem.json"), block.lines.join("\n")).unwrap();
            shell(at, "gleaner solve problem.json --check");
            shell(
                at,
                "gleaner solve problem.json --solver 'exec:python3 solvers/python/classes.py' --strict",
            );
        } else {
            let manifest = at.join("solver.toml");
            fs::write(&manifest, block.lines.join("\n")).unwrap();
            let command: gleaner_exec_solver::SolverCommand =
                format!("exec:{}", manifest.display()).parse().unwrap();
            let read = command.manifest();
            assert_eq!(read.command, ["python3", "cp_sat.py"]);
            assert_eq!(read.directory.as_deref(), Some(&*at.join("solvers")));
        }
    }
}

#[test]
fn the_page_of_objectives_runs_and_its_tasks_are_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    symlink(dataset(), at.join("dataset")).unwrap();
    for block in blocks("docs/OBJECTIVES.md") {
        if block.info == "sh" {
            block.lines.iter().for_each(|line| shell(at, line));
        } else {
            fs::write(at.join("tasks.toml"), block.lines.join("\n")).unwrap();
            let replay = "gleaner replay --events dataset/idle.csv --tasks tasks.toml";
            shell(
                at,
                &format!("{replay} --objective deadline --check --out run"),
            );
            shell(at, "gleaner check run");
        }
    }
}

#[test]
fn the_page_of_searches_runs_and_its_files_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    symlink(dataset(), at.join("dataset")).unwrap();
    for block in blocks("docs/SEARCHES.md") {
        let text = block.lines.join("\n");
        match block.info.as_str() {
            "sh" => block.lines.iter().for_each(|line| shell(at, line)),
            "toml search" => {
                fs::write(at.join("tasks.toml"), text).unwrap();
                shell(
                    at,
                    "gleaner replay --events dataset/idle.csv --tasks tasks.toml",
                );
            }
            _ => {
                let path = at.join("losses.csv");
                fs::write(&path, text).unwrap();
                let read = gleaner_inputs::learning_curves::read(&path).unwrap();
                assert_eq!(read.value.table.trials(), 2);
            }
        }
    }
    assert!(at.join("hpo.html").exists());
}

#[test]
fn the_page_of_profiles_runs_and_its_plan_is_read() {
    if !python_has("multiprocessing") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for folder in ["dataset", "workloads"] {
        symlink(workspace().join(folder), at.join(folder)).unwrap();
    }
    for block in blocks("docs/PROFILING.md") {
        let text = block.lines.join("\n");
        match block.info.as_str() {
            "sh" => block.lines.iter().for_each(|line| shell(at, line)),
            "toml profile" => {
                fs::write(at.join("plan.toml"), text).unwrap();
                let plan = gleaner_profile::plan::read(&at.join("plan.toml")).unwrap();
                assert_eq!((plan.value.configs.len(), plan.value.pairs.len()), (4, 3));
            }
            _ => {
                fs::write(at.join("workload.py"), text).unwrap();
                let plan = "seconds = 0.5\nidle_seconds = 0.5\n[[workload]]\nname = \"a\"\n\
                            model = \"A\"\ndataset = \"d\"\n\
                            command = [\"python3\", \"workload.py\"]\n";
                fs::write(at.join("plan.toml"), plan).unwrap();
                shell(at, "gleaner profile plan.toml -o alone --busy-ok");
            }
        }
    }
    assert!(at.join("measured/colocate_info.csv").exists());
}

#[test]
fn the_page_of_machines_shows_real_output() {
    let (directory, commands) = run_page("docs/MACHINES.md");
    assert_eq!(commands, 3);
    for name in ["log.gev", "log.csv"] {
        assert!(directory.path().join(name).exists(), "{name}");
    }
}

/// Runs the page's scripts for batch systems other than Slurm as these systems would. The tests in `tests/slurm` run
/// the scripts for Slurm.
#[test]
fn the_page_of_clusters_runs_in_parts() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    symlink(workspace().join("dataset"), at.join("dataset")).unwrap();
    for name in ["idle.csv", "tasks.toml"] {
        fs::copy(dataset().join(name), at.join(name)).unwrap();
    }
    fs::copy(dataset().join("sweep.toml"), at.join("plan.toml")).unwrap();
    let mut scripts = 0;
    for block in blocks("docs/CLUSTER.md") {
        match block.info.as_str() {
            "sh parts" => block.lines.iter().for_each(|line| shell(at, line)),
            "sh array" => {
                fs::write(at.join("part.sh"), block.lines.join("\n")).unwrap();
                for part in 1..=8 {
                    let variables = "PBS_O_WORKDIR=. PBS_ARRAY_INDEX=$part HQ_TASK_ID=$part";
                    shell(at, &format!("part={part}; export {variables}; sh part.sh"));
                }
                shell(
                    at,
                    "gleaner sweep plan.toml --out swept --collect && rm -r swept",
                );
                scripts += 1;
            }
            "sh shell" if Command::new("parallel").arg("--version").output().is_ok() => {
                block.lines.iter().for_each(|line| shell(at, line));
            }
            _ => {}
        }
    }
    assert_eq!(scripts, 2);
}

#[test]
fn the_commands_of_the_installation_run_in_an_empty_home() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    for block in blocks("docs/INSTALL.md").iter().filter(|b| b.info == "sh") {
        for line in &block.lines {
            shell(home, line);
        }
    }
    for file in [
        ".local/share/man/man1/gleaner-replay.1",
        ".local/share/bash-completion/completions/gleaner",
        ".config/fish/completions/gleaner.fish",
    ] {
        assert!(!fs::read(home.join(file)).unwrap().is_empty(), "{file}");
    }
}

/// Code blocks without a language contain `make` commands. The targets of these commands must exist.
#[test]
fn targets_of_make_exist() {
    let mut targets = 0;
    for document in documents() {
        for block in blocks(&document).iter().filter(|b| b.info.is_empty()) {
            for line in &block.lines {
                let words: Vec<&str> = line.split_whitespace().collect();
                let ["make", target, ..] = words[..] else {
                    panic!("{document}: `{line}` is no target of make; name the block's kind");
                };
                let mut make = Command::new("make");
                make.args(["-n", target]).current_dir(workspace());
                assert!(make.output().unwrap().status.success(), "{line}");
                targets += 1;
            }
        }
    }
    assert!(targets >= 6, "{targets} targets");
}

/// Every block is of a kind that some test reads. The blocks of dataset/README.md and the policy in CONTRIBUTING.md are
/// read by tests in other files.
#[test]
fn every_block_of_a_document_is_of_a_tested_kind() {
    let examples = [
        "csv events",
        "csv mixed",
        "toml classes",
        "csv classes",
        "text classes",
        "toml tasks",
        "toml class-tasks",
        "json tasks",
        "csv tasks",
        "csv jobs",
        "csv cluster",
        "csv profiles",
        "csv workloads",
        "csv pairs",
        "csv forecast",
        "csv estimates",
        "csv measurements",
        "csv frequencies",
        "toml plan",
    ];
    for document in documents() {
        for block in blocks(&document) {
            let is_tested = match document.as_str() {
                "README.md" => ["", "sh"].contains(&block.info.as_str()),
                // Blocks of kind `text` use the files of a release, which scripts/release.sh builds and tries.
                "docs/INSTALL.md" => ["", "sh", "text"].contains(&block.info.as_str()),
                "docs/START.md" => ["", "sh", "text"].contains(&block.info.as_str()),
                "docs/ALLOCATION.md" => {
                    ["sh", "text", "json problem", "json answer"].contains(&block.info.as_str())
                }
                "docs/PROVIDERS.md" => ["sh", "text", "sh cron"].contains(&block.info.as_str()),
                // python/tests/test_docs.py runs the block with Python code.
                "docs/HPO.md" => ["sh", "text", "python"].contains(&block.info.as_str()),
                "docs/DEVELOPERS.md" | "docs/MACHINES.md" | "docs/OPERATORS.md" => {
                    ["sh", "text"].contains(&block.info.as_str())
                }
                "docs/CLASSES.md" | "docs/PILOTS.md" => {
                    ["sh", "text"].contains(&block.info.as_str())
                }
                "docs/SOLVERS.md" => {
                    ["sh", "toml manifest", "json problem"].contains(&block.info.as_str())
                }
                "docs/OBJECTIVES.md" => ["sh", "toml tasks"].contains(&block.info.as_str()),
                "docs/SEARCHES.md" => {
                    ["sh", "toml search", "csv learning-curves"].contains(&block.info.as_str())
                }
                "docs/PROFILING.md" => {
                    ["sh", "toml profile", "python workload"].contains(&block.info.as_str())
                }
                // tests/harvest/docs.rs reads these blocks.
                "docs/HARVEST.md" => {
                    ["toml", "sh site", "sh recording"].contains(&block.info.as_str())
                }
                "docs/CLUSTER.md" => {
                    ["sh parts", "sh slurm", "sh array", "sh shell"].contains(&block.info.as_str())
                }
                // python/tests/test_docs.py runs the blocks with Python code.
                "docs/PYTHON.md" => ["python", "text"].contains(&block.info.as_str()),
                "dataset/README.md" => examples.contains(&block.info.as_str()),
                "ARCHITECTURE.md" | "docs/NODES.md" => block.info == "text",
                "CONTRIBUTING.md" => ["", "rust"].contains(&block.info.as_str()),
                _ => false,
            };
            assert!(is_tested, "{document}: a block of kind {:?}", block.info);
        }
    }
}

/// All files in a folder and its subfolders that may contain installation commands.
fn texts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let end = path.extension().and_then(|end| end.to_str());
        if path.is_dir() {
            found.append(&mut texts(&path));
        } else if let Some("ipynb" | "md" | "py" | "rs" | "sh") = end {
            found.push(path);
        }
    }
    found
}

/// No text may install `gleaner` from PyPI, because the project of that name on PyPI is unrelated to this one.
#[test]
fn no_text_installs_the_other_package_of_python() {
    let root = workspace();
    let mut paths: Vec<PathBuf> = documents().iter().map(|name| root.join(name)).collect();
    for folder in ["crates", "python", "scripts", "solvers", "src", "workloads"] {
        paths.append(&mut texts(&root.join(folder)));
    }
    let mut commands = 0;
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for (_, rest) in text
            .lines()
            .filter_map(|line| line.split_once("pip install "))
        {
            let arguments = rest.split('`').next().unwrap();
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let mut names = arguments.split(|c| !is_of_name(c));
            let others = names.all(|name| name != "gleaner");
            assert!(others, "{}: pip install {arguments}", path.display());
            commands += 1;
        }
    }
    assert!(commands > 5, "{commands} commands");
}

#[test]
fn the_policy_in_contributing_matches_the_code() {
    let policy =
        fs::read_to_string(workspace().join("crates/simulate/src/policies/easy.rs")).unwrap();
    let contributing = blocks("CONTRIBUTING.md");
    let rust: Vec<&Block> = contributing.iter().filter(|b| b.info == "rust").collect();
    assert_eq!(rust.len(), 1);
    for line in &rust[0].lines {
        let code = line.split("//").next().unwrap().trim_end();
        // The text after `...` is not compared, because the page omits the rest of the line.
        let code = code.split("...").next().unwrap();
        assert!(policy.contains(code.trim()), "{line}");
    }
}

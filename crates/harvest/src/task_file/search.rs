//! Reads the table `[search]` of a task file. `gleaner replay` reads some of its fields too; only `gleaner harvest`
//! reads the others.
//!
//! ```toml
//! [search]
//! name = "tuning"          # default: the name of the first task
//! algorithm = "asha"
//! trials = 27
//! max_resource = 27
//! seed = 1                 # default: 0
//!
//! [search.space]
//! lr = { log-uniform = { low = 1e-4, high = 0.1 } }
//! batch = [64, 128, 256]
//! ```

use std::path::Path;

use gleaner_domain::error::{Fault, Faults};
use gleaner_inputs::tasks::TaskSet;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{check_name, field};
use crate::core::{SearchSubmission, Submission};

/// The fields that only `gleaner harvest` reads.
#[derive(Debug, Default)]
pub(super) struct Own {
    name: Option<String>,
    seed: u64,
}

/// Removes from the document the fields that only `gleaner harvest` reads, and returns them.
pub(super) fn take(
    path: &Path,
    document: &mut Value,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> Own {
    let table = document.get_mut("search").and_then(Value::as_object_mut);
    let Some(fields) = table else {
        return Own::default();
    };
    if fields.remove("curves").is_some() {
        let note = "`search.curves` is ignored: the tasks report their losses";
        notes.push(format!("{}: {note}", path.display()));
    }
    let mut found = Vec::new();
    let own = Own {
        name: read(fields.remove("name"), "name", "text", &mut found),
        seed: read(
            fields.remove("seed"),
            "seed",
            "a whole number of at least 0",
            &mut found,
        )
        .unwrap_or_default(),
    };
    for fault in found {
        let file = path.display().to_string();
        faults.push(Fault { file, ..fault }.at("search"));
    }
    own
}

/// Reads a field. Returns `None` if the field is missing or invalid. If it is invalid, adds the fault.
fn read<T: DeserializeOwned>(
    value: Option<Value>,
    name: &str,
    expected: &str,
    faults: &mut Vec<Fault>,
) -> Option<T> {
    let read = field(value?, name, expected);
    read.map_err(|fault| faults.push(*fault)).ok()
}

/// Creates the search of a file whose tasks are `tasks`. Returns `None` if the file has no search.
pub(super) fn submission(
    own: Own,
    set: &TaskSet,
    tasks: &[Submission],
    faults: &mut Faults,
    path: &Path,
) -> Option<Box<SearchSubmission>> {
    let search = set.search.as_ref()?;
    if search.losses.len() > 1 {
        let found = format!("{} losses", search.losses.len());
        let expected = "one loss, because tasks report one loss with their progress";
        faults.push(
            Fault::of(path, found, expected)
                .field("losses")
                .at("search"),
        );
    }
    let first = || tasks.first().map(|task| task.name.clone());
    let search = SearchSubmission {
        name: own.name.or_else(first).unwrap_or_default(),
        plan: search.plan.clone(),
        seed: own.seed,
        space: search.space.clone(),
        tasks: tasks.to_vec(),
    };
    let checked = check_name(&search.name).and_then(|()| search.check());
    if let Err(reason) = checked {
        faults.push(Fault::told(path, reason).at("search"));
    }
    Some(Box::new(search))
}

#[cfg(test)]
mod tests {
    use gleaner_search::{Algorithm, Draw, Parameter, Value};

    use super::super::tests::{PLAIN, read_text};

    const SEARCH: &str = "[search]\nalgorithm = \"asha\"\ntrials = 9\nmax_resource = 9\n";

    fn with(lines: &str) -> String {
        format!("{SEARCH}{lines}{PLAIN}command = [\"train\"]\nwork = 900\n")
    }

    #[test]
    fn a_search_has_a_name_a_seed_and_a_space() {
        let text = with(
            "name = \"tuning\"\nseed = 7\n[search.space]\nlr = { uniform = { low = 0.5, high = 1 } }\n\
             depth = [2, \"deep\"]\n[search.curves]\nnoise = 0\n",
        );
        let file = read_text("tasks.toml", &text).unwrap();
        assert!(file.tasks.is_empty());
        assert!(file.notes[0].contains("`search.curves` is ignored"));
        let search = file.search.unwrap();
        assert_eq!((search.name.as_str(), search.seed), ("tuning", 7));
        assert_eq!(search.plan.algorithm, Algorithm::Asha);
        assert_eq!(search.tasks[0].work, Some(900.0));
        let (low, high) = (0.5, 1.0);
        let lr = Parameter::Draw(Draw::Uniform { low, high });
        assert_eq!(search.space.0["lr"], lr);
        let deep = Value::Text("deep".to_owned());
        let depth = Parameter::Choice(vec![Value::Whole(2), deep]);
        assert_eq!(search.space.0["depth"], depth);
    }

    #[test]
    fn a_search_has_defaults() {
        let search = read_text("tasks.toml", &with("")).unwrap().search.unwrap();
        assert_eq!((search.name.as_str(), search.seed), ("a", 0));
        assert!(search.space.0.is_empty());
    }

    #[test]
    fn faults_of_a_search_name_the_field() {
        for (lines, expected) in [
            ("name = \"a/b\"\n", "\"a/b\" is not allowed"),
            ("seed = -1\n", "seed: found -1"),
            ("space = 3\n", "space: found 3, expected a table"),
            (
                "space = { lr = 0.1 }\n",
                "space.lr: found 0.1, expected a distribution",
            ),
            ("space = { lr = [] }\n", "space.lr: found an empty list"),
            (
                "space = { lr = { normal = { mean = 0, deviation = -1 } } }\n",
                "space.lr.normal.deviation: found -1",
            ),
            ("eta = 1\n", "eta: found 1"),
            ("speed = 1\n", "speed: found an unknown field"),
            (
                "losses = [\"error\", \"latency\"]\n",
                "losses: found 2 losses, expected one loss",
            ),
        ] {
            let faults = read_text("tasks.toml", &with(lines)).unwrap_err();
            assert!(faults.contains("tasks.toml"), "{faults}");
            assert!(faults.contains(expected), "{expected}\n{faults}");
        }
        let endless = format!("{SEARCH}{PLAIN}command = [\"train\"]\n");
        let faults = read_text("tasks.toml", &endless).unwrap_err();
        assert!(faults.contains("work: "), "{faults}");
        let many = SEARCH.replace("trials = 9", "trials = 9000");
        let text = format!("{many}{PLAIN}command = [\"train\"]\nwork = 1\n");
        let faults = read_text("tasks.toml", &text).unwrap_err();
        assert!(faults.contains("at most 10000"), "{faults}");
    }
}

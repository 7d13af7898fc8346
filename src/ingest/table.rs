//! Converts published job tables of public machines to an event log of idle nodes.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::{Ingest, InputSettings, OutageSettings, SelectionSettings};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_logs::scheduler::{
    Format, MACHINES, Machine, OTHER_DATA, Options, TableOptions, parse_columns,
};
use gleaner_setup::settings;
use gleaner_setup::settings::{Form, Spec, Value};

settings! {
    /// Published job tables of public machines.
    #[derive(Debug, Clone)]
    pub struct TableSettings {
        /// Print the machines whose data can be read, with the source and the gaps of the data, and a command that
        /// reads them.
        pub list: bool = false => Spec::flag();
        /// Machine that the data come from. The machine determines the time zone, the number of nodes and the columns.
        /// Known gaps in the data are printed.
        pub machine: Option<MachineName> = None => Spec::of("NAME");
        /// Columns of the table, such as start=begin_time,nodes=hosts. The roles are start, end, submit, nodes, count,
        /// cores, id, state and partition [default: columns with known names, in upper or lower case; the choice is
        /// printed].
        pub columns: Vec<String> = Vec::new() => Spec::of("ROLE=NAME").separated_by(',');
        /// Table of the nodes of each job, with one row for each job and node. At most 67,108,864 rows; each takes 16
        /// bytes of memory.
        pub members: Option<PathBuf> = None => Spec::of("FILE");
        /// Delimiter of the cells of a text table; \\t is a tab [default: the first of | tab ; , in the header].
        pub delimiter: Option<String> = None => Spec::of("TEXT");
        /// Number of nodes of the machine, if jobs state only how many nodes they used [default: the number
        /// from --machine, or the peak number of nodes in use].
        pub node_count: Option<u32> = None => Spec::of("COUNT")
            .within("1 to 1048576", |count| (1..=1_048_576).contains(count));
        /// Number of cores per node, if jobs that share nodes state only how many nodes and cores they used. Bounds on
        /// the idle time are derived from this number [default: the number from --machine].
        pub cores_per_node: Option<u32> = None => Spec::of("COUNT")
            .within("1 to 1048576", |count| (1..=1_048_576).contains(count));
        /// Outages of the whole machine.
        pub outages: OutageSettings;
        /// Settings that select the jobs and nodes to use.
        pub selection: SelectionSettings;
        /// Settings for reading the logs.
        pub input: InputSettings;
        /// Event log to write: a name that ends in .gev, .parquet or .csv.
        pub output: Option<PathBuf> = None => Spec::of("FILE").short('o');
    }
}

/// The name of a public machine.
#[derive(Debug, Clone, Copy)]
pub struct MachineName(&'static Machine);

impl Value for MachineName {
    const FORM: Form = Form::Text;
    const IS_CLOSED: bool = true;

    fn read(text: &OsStr) -> Result<Self, String> {
        let found = text.to_str().and_then(Machine::named);
        let names = || {
            MACHINES
                .iter()
                .map(|machine| machine.name)
                .collect::<Vec<_>>()
        };
        found
            .map(MachineName)
            .ok_or_else(|| format!("expected one of {}", names().join(", ")))
    }

    fn show(&self) -> String {
        self.0.name.to_owned()
    }

    fn named() -> Vec<(String, &'static str)> {
        let all = MACHINES.iter();
        all.map(|machine| (machine.name.to_owned(), machine.title))
            .collect()
    }
}

impl Ingest for TableSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        if let Some(list) = self.listing() {
            observer.inform(&[list]);
            return Ok(());
        }
        let Some(output) = &self.output else {
            return Err(Error::Usage(
                "nothing to write: name an event log with -o, or list the known machines with --list".into(),
            ));
        };
        let nodes = self.input.nodes_of_log();
        nodes.write(files, &self.options()?, output, observer)
    }

    fn listing(&self) -> Option<String> {
        self.list.then(machines)
    }
}

impl TableSettings {
    fn options(&self) -> Result<Options> {
        let delimiter = self.delimiter.as_deref();
        let options = Options {
            table: TableOptions {
                columns: parse_columns(&self.columns)?,
                machine: self.machine.map(|MachineName(machine)| machine),
                members: self.members.clone(),
                cores_per_node: self.cores_per_node,
            },
            delimiter: delimiter.map(|text| text.replace("\\t", "\t")),
            node_count: self.node_count,
            outages: self.outages.outages.clone(),
            ..self.input.options(Format::Table)
        };
        Ok(self.selection.apply(options))
    }
}

/// Width of the list of machines, in characters. At this width, the list fits on three screens of 50 lines.
const WIDTH: usize = 100;

/// The machines whose data can be read, as text for a terminal.
pub fn machines() -> String {
    let mut text = String::new();
    for machine in MACHINES {
        let facts = format!("{}; {}", machine.title, machine.facts());
        let gaps = format!("gaps: {}", machine.gaps);
        push(&mut text, &format!("{:<12}", machine.name), &facts);
        push(&mut text, "  ", machine.source);
        push(&mut text, "  ", &gaps);
        for line in machine.command().lines() {
            text.push_str("  ");
            text.push_str(line);
            text.push('\n');
        }
    }
    push(&mut text, "", "Other formats of gleaner ingest read:");
    for data in OTHER_DATA {
        push(
            &mut text,
            data.title,
            &format!("; licence: {}", data.licence),
        );
        push(
            &mut text,
            "  ",
            &format!("{}; gaps: {}", data.source, data.gaps),
        );
        push(&mut text, "  ", data.command);
    }
    text.trim_end().to_owned()
}

/// Appends words, wrapped to lines of at most [`WIDTH`] characters. `first` begins the first line, and all other lines
/// are indented.
fn push(text: &mut String, first: &str, words: &str) {
    let mut line = first.to_owned();
    let mut is_start = true;
    for word in words.split(' ') {
        if !is_start && line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = "    ".to_owned();
            is_start = true;
        }
        if !is_start {
            line.push(' ');
        }
        line.push_str(word);
        is_start = false;
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_on_three_screens() {
        let list = machines();
        assert!(
            list.lines().count() <= 150,
            "{} lines",
            list.lines().count()
        );
        assert!(
            list.lines().all(|line| line.chars().count() <= WIDTH),
            "{list}"
        );
        for machine in MACHINES {
            assert!(
                list.contains(machine.source) && list.contains(machine.name),
                "{}",
                machine.name
            );
            let words: Vec<&str> = list.split_whitespace().collect();
            let gaps: Vec<&str> = machine.gaps.split_whitespace().collect();
            assert!(
                words.join(" ").contains(&gaps.join(" ")),
                "{}",
                machine.name
            );
        }
        for data in OTHER_DATA {
            assert!(
                list.contains(data.title) && list.contains(data.command),
                "{}",
                data.title
            );
        }
    }
}

//! Reads the lists of machines that come with the traces.

use std::collections::BTreeMap;
use std::path::Path;

use super::Format;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::Gatherer;
use gleaner_io::delimited::Dialect;
use gleaner_io::input::{Input, Line};
use gleaner_logs::scheduler::whole;

/// The content of a list of machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Machines {
    /// For Philly, the number of GPUs of each machine, by machine name.
    by_name: BTreeMap<String, u32>,
    /// For PAI and Helios, the number of GPUs of each virtual cluster, by name.
    by_vc: BTreeMap<String, u64>,
}

impl Machines {
    /// Number of GPUs of a machine; `None` if the list does not contain it.
    pub fn gpus_of(&self, machine: &str) -> Option<u32> {
        self.by_name.get(machine).copied()
    }

    /// Number of GPUs of each virtual cluster; empty if the list does not state them.
    pub fn gpus_by_vc(&self) -> &BTreeMap<String, u64> {
        &self.by_vc
    }
}

impl Format {
    /// The part of a message that suggests the flag `--machines`. It is empty for formats whose
    /// list does not state the sizes of VCs.
    pub(super) fn machines_flag(self) -> &'static str {
        match self {
            Format::Pai => " and --machines pai_machine_spec.csv",
            Format::Helios => " and --machines cluster_gpu_number.csv",
            _ => "",
        }
    }
}

/// Reads a list of machines that comes with traces of the given format.
///
/// # Errors
/// The file cannot be read, or it has lines in another format, which are reported together.
pub(super) fn read(path: &Path, format: Format) -> Result<Machines> {
    let mut input = Input::open(path)?;
    let mut machines = Machines::default();
    let mut header = Vec::new();
    let mut faults = Gatherer::default();
    while let Some(line) = input.next_line()? {
        let cells = Dialect::Csv.split(&line.text);
        let cells: Vec<&str> = cells.iter().collect();
        let taken = match format {
            Format::Pai => machines.take_spec(&cells),
            Format::Helios => machines.take_day(&cells, &mut header),
            _ => machines.take_machine(&cells),
        };
        if let Err(expected) = taken {
            faults.add(fault(&line, expected))?;
        }
    }
    if machines == Machines::default() && faults.is_empty() {
        faults.add(Fault::of(path, "no machine", "a list of machines"))?;
    }
    faults.finish(machines)
}

fn fault(line: &Line<'_>, expected: &str) -> Fault {
    let text: String = line.text.chars().take(80).collect();
    Fault::of(line.place.file, format!("{text:?}"), expected).at(line.place.within())
}

impl Machines {
    /// Reads a row of Philly's list, such as `m31,8, 24GB`.
    fn take_machine(&mut self, cells: &[&str]) -> Result<(), &'static str> {
        match *cells {
            ["machineId", ..] => Ok(()),
            [name, gpus, _] if whole(gpus).is_some() => {
                self.by_name
                    .insert(name.to_owned(), whole(gpus).unwrap_or(0));
                Ok(())
            }
            _ => Err("machine, GPUs and memory, such as m31,8, 24GB"),
        }
    }

    /// Reads a row of PAI's list: machine, gpu_type, cap_cpu, cap_mem, cap_gpu. Each type of GPU is
    /// treated as a VC.
    fn take_spec(&mut self, cells: &[&str]) -> Result<(), &'static str> {
        match *cells {
            ["machine", ..] => Ok(()),
            [_, kind, _, _, gpus] if whole(gpus).is_some() => {
                let gpus = u64::from(whole(gpus).unwrap_or(0));
                *self.by_vc.entry(kind.to_owned()).or_default() += gpus;
                Ok(())
            }
            _ => Err("machine,gpu_type,cap_cpu,cap_mem,cap_gpu"),
        }
    }

    /// Reads a row of Helios' list: a day, and the number of GPUs of each VC on that day. For each
    /// VC, the maximum number over all days is used.
    fn take_day(&mut self, cells: &[&str], header: &mut Vec<String>) -> Result<(), &'static str> {
        const EXPECTED: &str = "a header with date and virtual clusters, or a row with a day and the GPUs of each \
             virtual cluster";
        if header.is_empty() {
            if cells.first() != Some(&"date") {
                return Err(EXPECTED);
            }
            header.extend(cells.iter().map(|&name| name.to_owned()));
            return Ok(());
        }
        let gpus: Option<Vec<u32>> = cells[1..].iter().map(|gpus| whole(gpus)).collect();
        let gpus = gpus.filter(|gpus| gpus.len() + 1 == header.len());
        for (vc, gpus) in header[1..].iter().zip(gpus.ok_or(EXPECTED)?) {
            if vc != "total" {
                let most = self.by_vc.entry(vc.clone()).or_default();
                *most = u64::from(gpus).max(*most);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(format: Format, text: &str) -> Result<Machines> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machines");
        std::fs::write(&path, text).unwrap();
        read(&path, format)
    }

    #[test]
    fn every_format_of_machine_list_is_read() {
        let text = "machineId,number of GPUs,single GPU mem\nm1,8, 24GB\nm2,2, 12GB\n";
        let machines = read_text(Format::Philly, text).unwrap();
        assert_eq!(
            (machines.gpus_of("m2"), machines.gpus_of("m3")),
            (Some(2), None)
        );
        let text = "a,T4,96,512,2\nb,T4,96,512,2.0\nc,V100,96,512,8\nd,CPU,96,512,0\n";
        let machines = read_text(Format::Pai, text).unwrap();
        assert_eq!(machines.gpus_by_vc()["T4"], 4);
        assert_eq!(machines.gpus_by_vc()["V100"], 8);
        let text = "date,x,y,total\n2020-09-01,8,16,24\n2020-09-02,24,0,24\n";
        let machines = read_text(Format::Helios, text).unwrap();
        let gpus: Vec<_> = machines.gpus_by_vc().iter().collect();
        assert_eq!(gpus, [(&"x".to_owned(), &24), (&"y".to_owned(), &16)]);
    }

    #[test]
    fn lines_of_another_format_are_named() {
        for (format, text, part) in [
            (
                Format::Philly,
                "m1,8\n",
                "line 1: found \"m1,8\", expected machine, GPUs and",
            ),
            (
                Format::Pai,
                "a,T4,96,512\n",
                "expected machine,gpu_type,cap_cpu,cap_mem,cap_gpu",
            ),
            (
                Format::Helios,
                "x,y\n1,2\n",
                "line 1: found \"x,y\", expected a header with date",
            ),
            (
                Format::Helios,
                "date,x\n1,2,3\n",
                "line 2: found \"1,2,3\", expected a header",
            ),
            (
                Format::Helios,
                "\n",
                "found no machine, expected a list of machines",
            ),
        ] {
            let error = read_text(format, text).unwrap_err();
            assert_eq!(error.exit_code(), 3);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

//! Tests the readers with faulty copies of the sample traces: faults are counted and shown.
//! Faults are an error only if nothing usable remains, or with `--strict`.

use gleaner_logs::scheduler::{Input, Reason};
use gleaner_traces::{Format, Options};

use super::support::{file, prepare, sample, samples, text};

/// Reads a sample in which `from` is replaced with `to`, and asserts that there is one more fault,
/// described by `expected`.
#[track_caller]
fn assert_fault(options: &Options, from: &str, to: &str, expected: &str) {
    let files = samples(options.format);
    assert!(files.iter().any(|file| file.contains(from)), "no {from:?}");
    let changed: Vec<String> = files
        .iter()
        .map(|file| file.replacen(from, to, 1))
        .collect();
    let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
    let found = prepare(&changed, options).unwrap().summary.log_counts.found;
    let before = sample(options).summary.log_counts.found;
    let fault = found.iter().find(|(reason, found)| {
        reason.is_fault()
            && before
                .get(reason)
                .is_none_or(|before| before.count < found.count)
    });
    let (reason, found) = fault.unwrap_or_else(|| panic!("{from:?} as {to:?} is not a fault"));
    let words = format!("{} | {}", reason.words(), found.example);
    assert!(words.contains(expected), "{words}");
    let strict = Options {
        strict: true,
        ..options.clone()
    };
    let error = prepare(&changed, &strict).unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
}

#[test]
fn philly() {
    let options = Options {
        machines: Some(file("philly-machines.csv")),
        ..Options::new(Format::Philly)
    };
    for (from, to, expected) in [
        (
            "\"jobid\"",
            "\"job\"",
            "cannot be read | log, job 1: a job without jobid, vc or submitted_time",
        ),
        (
            "\"vc\": \"7f04ca\"",
            "\"vc\": {}",
            "log, job 2: vc is an object, not a string",
        ),
        (
            "\"attempts\": []",
            "\"attempts\": 7",
            "log, job 3: attempts is 7, not a list",
        ),
        (
            "2017-10-07 08:30:10",
            "yesterday",
            "log, job 1: end_time is \"yesterday\", not a time such as",
        ),
        (
            "07 08:30:10",
            "07 07:30:10",
            "with an end before the start | log, job 1: an end 1800 s before the start",
        ),
        (
            "_00002",
            "_00001",
            "with a repeated id (the first is used) | log, job 2: application",
        ),
        (
            "\"2017-10-07 08:05:00\", \"user\"",
            "\"2017-10-07 08:06:00\", \"user\"",
            "with a start before the submission (both are used) | log, job 2: a start 60 s early",
        ),
        (
            "\"ip\": \"m1\"",
            "\"ip\": \"m3\"",
            "more GPUs of a machine than the machine has (used as stated) | log, job 1: 8 GPUs of m3, which has 2",
        ),
        (
            "2017-10-07 08:05:00\", \"user\"",
            "1970-01-01 00:00:00\", \"user\"",
            "with implausible times or numbers (left out) | log, job 2: a submission 15073",
        ),
        (
            "{\"status\": \"Pass\"",
            "7, {\"status\": \"Pass\"",
            "log, job 1: 7 is not a job",
        ),
    ] {
        // Even the unchanged sample has an attempt without times, which would stop a strict reader.
        assert_fault(&options, from, to, expected);
    }
    let options = Options {
        node_count: Some(1),
        gpus_per_node: 4,
        ..options
    };
    let found = sample(&options).summary.log_counts.found;
    let found = &found[&Reason::TooManyGpus];
    assert_eq!(
        (found.count, found.example.as_str()),
        (1, "log, job 1: 8 GPUs, of 4")
    );
}

#[test]
fn pai() {
    let options = Options::new(Format::Pai);
    for (from, to, expected) in [
        (
            ",2.0,Terminated",
            ",two,Terminated",
            "cannot be read | log, line 7: \"two\" is not a valid inst_num",
        ),
        (
            "4700.0,600.0",
            "then,600.0",
            "log, line 2: \"then\" is not a valid end_time",
        ),
        (
            ",Failed,2000.0,2600.0\n",
            ",Failed,2000.0\n",
            "log, line 2: 5 cells, not 6",
        ),
        (
            "4700.0,600.0",
            "900.0,600.0",
            "with an end before the start | log, line 1: an end 200 s before the start",
        ),
        (
            "02,tensorflow",
            "09,tensorflow",
            "without a task | log, line 2: 4b3f04b66a525d2df903eb02",
        ),
        (
            "05,xlearn",
            "99,xlearn",
            "without a task | log, line 5: 4b3f04b66a525d2df903eb05",
        ),
        (
            "eb05,8cb",
            "eb06,8cb",
            "with a repeated id (the first is used) | log, line 6",
        ),
        (
            "29.296875,,\n",
            "29.296875,100.0,V100\n",
            "of several types (the first type is used) | log, line 2: T4, after V100",
        ),
        (
            "2.0,Terminated",
            "9e8,Terminated",
            "implausible times or numbers (left out) | log, line 6: 3600000000 GPUs",
        ),
    ] {
        assert_fault(&options, from, to, expected);
    }
    let tasks = text("pai_task_table.csv").replace("eb05,xlearn", "eb99,xlearn");
    let prepared = prepare(&[&text("pai_job_table.csv"), &tasks], &options).unwrap();
    let found = &prepared.summary.log_counts.found[&Reason::NoJob];
    assert_eq!(found.example, "log, line 6: 4b3f04b66a525d2df903eb99");
    let machines = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(machines.path(), "a,V100,96,512,8\n").unwrap();
    let options = Options {
        machines: Some(machines.path().to_owned()),
        ..options
    };
    let found = sample(&options).summary.log_counts.found;
    let found = &found[&Reason::UnknownCluster];
    assert_eq!(
        (found.count, found.example.as_str()),
        (2, "log, line 1: T4")
    );
}

#[test]
fn batsim() {
    let options = Options::new(Format::Batsim);
    for (from, to, expected) in [
        (
            "\"subtime\": 0,",
            "",
            "cannot be read | log, job 1: null is not a valid subtime",
        ),
        (
            "\"res\": 2",
            "\"res\": -2",
            "log, job 1: -2 is not a valid res",
        ),
        (
            "\"walltime\": 100",
            "\"walltime\": \"1 h\"",
            "log, job 1: \"1 h\" is not a valid walltime",
        ),
        (
            "\"id\": \"1\"",
            "\"id\": []",
            "log, job 1: a list is not a valid id",
        ),
        (
            "\"id\": 2",
            "\"id\": 1",
            "with a repeated id (the first is used) | log, job 2: 1",
        ),
        (
            "\"profile\": \"fails\"",
            "\"profile\": \"lost\"",
            "with a profile that the workload lacks | log, job 3: lost",
        ),
        (
            "\"delay\": 5",
            "\"delay\": 0",
            "log, profile 2: 0 is not a valid delay",
        ),
        (
            "{\"type\": \"delay\", ",
            "{",
            "log, profile 4: an object without a type",
        ),
        (
            "\"res\": 2",
            "\"res\": 5",
            "more GPUs than the virtual cluster has (left out) | log, job 1: 5 GPUs, of 4",
        ),
        (
            "\"subtime\": 0,",
            "\"subtime\": 1e300,",
            "implausible times or numbers (left out) | log, job 1: 2 GPUs for 21 s from 9223372036854775807",
        ),
        (
            "\"delay\": 30",
            "\"delay\": 1e300",
            "(left out) | log, job 5: 1 GPU for",
        ),
        (
            "\"nb_res\": 4",
            "\"nb_res\": \"4\"",
            "log, job 1: \"4\" is not a valid nb_res",
        ),
    ] {
        assert_fault(&options, from, to, expected);
    }
}

#[test]
fn helios() {
    let options = Options::new(Format::Helios);
    for (from, to, expected) in [
        (
            "vcJkd,1,1,1",
            "vcJkd,one,1,1",
            "cannot be read | log, line 2: \"one\" is not a valid gpu_num",
        ),
        (
            "vcJkd,1,1,1",
            "vcJkd,1,-1,1",
            "log, line 2: \"-1\" is not a valid cpu_num",
        ),
        ("vcJkd,1,1,1", ",1,1,1", "log, line 2: no vc"),
        (
            "09 18:41:01",
            "09 18:61:01",
            "\"2020-06-09 18:61:01\" is not a time such as",
        ),
        (",249,1", ",249", "log, line 3: 11 cells, not 12"),
        (
            ",249,",
            ",400,",
            "with a duration that differs from the time between start and end (that time is used) | log, line 3: a duration of 400 s, but 249 s from",
        ),
        (
            "18:45:37",
            "17:45:37",
            "with an end before the start | log, line 3: an end 3351 s before",
        ),
        (
            "18:41:27",
            "18:51:27",
            "with a start before the submission (both are used) | log, line 3: a start 599 s",
        ),
        (
            "1425512",
            "1425511",
            "with a repeated id (the first is used) | log, line 3: 1425511",
        ),
        (
            "2020-06-09 18:41:27",
            "1970-06-09 18:41:27",
            "log, line 3: a submission",
        ),
        (
            "vchbv,4,",
            "vchbv,4000000,",
            "log, line 3: 4000000 GPUs for 249 s",
        ),
    ] {
        assert_fault(&options, from, to, expected);
    }
}

#[test]
fn files_of_another_format_are_refused() {
    for (format, file, part) in [
        (
            Format::Philly,
            "",
            "EOF while parsing a value, expected a JSON array of jobs, the unpacked cluster_job_log",
        ),
        (
            Format::Philly,
            "{\"a\": 1}",
            "found an object with \"a\", expected a JSON array",
        ),
        (
            Format::Philly,
            "[{\"vc\": 1}",
            "the file is truncated: copy it again",
        ),
        (
            Format::Philly,
            "[]",
            "log: found 0 jobs, none usable, expected at least one job that ran",
        ),
        (
            Format::Philly,
            "[7]",
            "found 1 that cannot be read, such as log, job 1: 7 is not a job",
        ),
        (
            Format::Batsim,
            "[]",
            "invalid type: sequence, expected an object with nb_res, jobs",
        ),
        (Format::Batsim, "{}", "0 jobs, none usable"),
        (
            Format::Pai,
            "a,b,c\n",
            "line 1: found 3 cells, expected job_name,inst_id,user",
        ),
        (Format::Pai, "", "0 lines, none usable"),
        (
            Format::Helios,
            "a,b\n",
            "line 1: found another line, \"a,b\", expected a header with the columns job_id, vc",
        ),
        (
            Format::Helios,
            "a,b\n",
            "use a cluster_log.csv from https://github.com",
        ),
    ] {
        let error = prepare(&[file], &Options::new(format)).unwrap_err();
        assert_eq!(error.exit_code(), 3, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = prepare(&[&text("pai_job_table.csv")], &Options::new(Format::Pai)).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(
        error
            .to_string()
            .contains("log: found no row of pai_task_table.csv, expected pai_job_table.csv and"),
        "{error}"
    );
}

#[test]
fn tar_archives_are_refused_with_a_remedy() {
    let mut archive = tar::Builder::new(Vec::new());
    let bytes = text("pai_job_table.csv");
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    archive
        .append_data(&mut header, "pai_job_table.csv", bytes.as_bytes())
        .unwrap();
    let archive = archive.into_inner().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &archive).unwrap();
    for bytes in [archive, gzip.finish().unwrap()] {
        let input = Input::new(std::path::Path::new("log"), &bytes[..]);
        let message = input.err().unwrap().to_string();
        assert_eq!(
            message,
            "log: found a tar archive, expected one of the files in it; unpack it with tar -xf"
        );
    }
}

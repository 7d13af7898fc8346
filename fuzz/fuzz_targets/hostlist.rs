//! The hosts of any valid list can be written as a list that names the same hosts.
#![no_main]

use std::collections::BTreeSet;

use gleaner_logs::scheduler::hostlist::{compress, expand};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|list: &str| {
    let mut hosts = BTreeSet::new();
    let mut collect = |host: &str| {
        hosts.insert(host.to_owned());
    };
    if expand(list, &mut collect).is_err() || hosts.len() > 10_000 {
        return;
    }
    let mut again = BTreeSet::new();
    let short = compress(hosts.iter().map(String::as_str));
    let mut collect = |host: &str| {
        again.insert(host.to_owned());
    };
    expand(&short, &mut collect).expect("the written list can be read");
    assert_eq!(hosts, again);
});

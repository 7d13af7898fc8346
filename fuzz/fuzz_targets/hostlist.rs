//! What a list of hosts names can be written as one, and is the same again.
#![no_main]

use std::collections::BTreeSet;

use gleaner::ingest::scheduler::hostlist::{compress, expand};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|list: &str| {
    let mut hosts = BTreeSet::new();
    if expand(list, |host| drop(hosts.insert(host.to_owned()))).is_err() || hosts.len() > 10_000 {
        return;
    }
    let mut again = BTreeSet::new();
    let short = compress(hosts.iter().map(String::as_str));
    expand(&short, |host| drop(again.insert(host.to_owned()))).expect("a list that was written");
    assert_eq!(hosts, again);
});

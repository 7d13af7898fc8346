//! Extracts the nodes from PBS accounting records.

use std::borrow::Cow;

use super::account_line::AccountLine;

/// The source of the log, as a phrase for messages.
pub const WHERE: &str = "the files in $PBS_HOME/server_priv/accounting, one per day";

/// Returns the hosts in `exec_host` (`host/N[*C]+…`). If the record lacks `exec_host`, returns the hosts in
/// `exec_vnode` (`(v:ncpus=2)+(a:…+b:…)`), or in the attribute `nodes` of a reservation, which has the format of
/// `exec_vnode`.
pub(super) fn hosts(record: &AccountLine<'_>) -> Option<Vec<Cow<'static, str>>> {
    let value = |key| record.value(key).filter(|value| !value.is_empty());
    if let Some(hosts) = value("exec_host") {
        return Some(chunks(&hosts, '/'));
    }
    let vnodes = value("exec_vnode").or_else(|| value("nodes"))?;
    Some(chunks(&vnodes, ':'))
}

/// Splits a value at `+` into chunks, and returns the text of each chunk before the character `end`.
fn chunks(value: &str, end: char) -> Vec<Cow<'static, str>> {
    let chunks = value
        .split('+')
        .map(|chunk| chunk.trim_matches(['(', ')', ' ']));
    chunks
        .map(|chunk| Cow::Owned(chunk.split(end).next().unwrap_or(chunk).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_parsed_from_every_form() {
        for (message, expected) in [
            ("exec_host=n1/0*8+n2/0*8", "n1 n2"),
            ("exec_host=n1/0+n1/1", "n1 n1"),
            ("exec_host=n3/0-15", "n3"),
            ("exec_vnode=(v1:ncpus=2:mem=4gb)", "v1"),
            (
                "exec_vnode=(a:ncpus=1+b:ncpus=1)+(c[0]:ncpus=2)",
                "a b c[0]",
            ),
            ("exec_vnode=(v:ncpus=1) exec_host=h/0", "h"),
            ("nodes=(n7:ncpus=8)", "n7"),
            ("exec_host= user=a", "none"),
        ] {
            let line = format!("01/31/2026 08:00:00;E;7;{message}");
            let record = AccountLine::parse(&line).unwrap();
            let found = hosts(&record).map_or("none".to_owned(), |hosts| hosts.join(" "));
            assert_eq!(found, expected, "{message}");
        }
    }
}

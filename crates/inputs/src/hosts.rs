//! Expands lists of nodes in small files, up to a maximum number of names.

use gleaner_io::fault::show;
use gleaner_logs::scheduler::hostlist;

/// Maximum total number of names in all lists of a file: about a million.
pub(crate) const MAX_NAMES: usize = 1 << 20;

/// Calls `each` with every name in a list. `left` is the number of names that this list and all
/// later lists may still contain. It starts at [`MAX_NAMES`] and is reduced by the number of names
/// in this list. Returns an error that describes the invalid text, if any.
pub(crate) fn expand(list: &str, left: &mut usize, each: impl FnMut(&str)) -> Result<(), String> {
    // Slurm accepts and prints lists that end with a comma.
    let list = list.trim_end_matches(',');
    if is_nothing(list) {
        return Ok(());
    }
    let invalid = |error| format!("{} ({error})", show(list.as_bytes()));
    let count = hostlist::count(list).map_err(invalid)?;
    *left = left
        .checked_sub(count)
        .ok_or("more than 1,048,576 names in all lists")?;
    hostlist::expand(list, each).map_err(invalid)
}

/// Whether a list is empty. `scontrol` may print an empty list as `(null)`.
pub(crate) fn is_nothing(list: &str) -> bool {
    list.is_empty() || list == "(null)"
}

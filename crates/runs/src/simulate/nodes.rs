//! The placement of a job as text, in the format of Lucid's simulator.

use std::fmt::Write;

use gleaner_domain::cluster::GpuSet;

/// Node names with the GPUs held on each, such as `[{0: [0, 1]}, {3: [2]}]`.
pub(super) fn text(nodes: &[(u32, GpuSet)]) -> String {
    let mut out = String::from("[");
    for (position, (name, gpus)) in nodes.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(out, "{comma}{{{name}: [");
        push_members(&mut out, *gpus);
        out.push_str("]}");
    }
    out.push(']');
    out
}

/// Appends GPU numbers, which have at most two digits. This function is called often, so it does not use `write!`,
/// which is slower.
fn push_members(out: &mut String, mut gpus: GpuSet) {
    let mut comma = "";
    while gpus != 0 {
        let gpu = gpus.trailing_zeros() as u8;
        gpus &= gpus - 1;
        out.push_str(comma);
        if gpu >= 10 {
            out.push(char::from(b'0' + gpu / 10));
        }
        out.push(char::from(b'0' + gpu % 10));
        comma = ", ";
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn nodes_are_written_as_in_the_original() {
        assert_eq!(text(&[]), "[]");
        assert_eq!(text(&[(0, 0b11), (3, 0b100)]), "[{0: [0, 1]}, {3: [2]}]");
        assert_eq!(text(&[(9999, 0xff)]), "[{9999: [0, 1, 2, 3, 4, 5, 6, 7]}]");
        assert_eq!(text(&[(1, 1 << 63 | 1)]), "[{1: [0, 63]}]");
    }
}

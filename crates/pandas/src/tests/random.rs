//! Tests that the reader always returns, no matter how a file was damaged.

use proptest::prelude::*;

use super::super::read_frame;
use super::{Fixture, tables};

/// Reads arbitrary bytes, and visits all values if they are a table.
fn survives(bytes: &[u8]) {
    if let Ok(frame) = read_frame(bytes) {
        for column in 0..frame.columns().len() {
            for row in 0..frame.rows() {
                assert!(frame.cell(column, row).is_some());
            }
        }
    }
}

fn fixture() -> impl Strategy<Value = Fixture> {
    let all: Vec<Fixture> = tables().collect();
    prop::sample::select(all)
}

proptest! {
    #![proptest_config(gleaner_testing::cases(2_000))]

    #[test]
    fn survives_changed_bytes(
        (_, bytes) in fixture(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = bytes.to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        survives(&bytes);
    }

    #[test]
    fn survives_pieces_of_two_files(
        (_, first) in fixture(),
        (_, second) in fixture(),
        cut in any::<prop::sample::Index>(),
        resume in any::<prop::sample::Index>(),
    ) {
        let (head, tail) = (cut.index(first.len()), resume.index(second.len()));
        survives(&[&first[..head], &second[tail..]].concat());
    }

    #[test]
    fn survives_any_instructions(
        instructions in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        survives(&[b"\x80\x04", instructions.as_slice()].concat());
    }
}

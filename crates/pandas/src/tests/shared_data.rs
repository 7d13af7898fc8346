//! Compares tables of real task sets with golden values from pandas 1.5.3.

use super::super::read_frame;

/// The bytes of a task set; `None` if the data are missing.
fn bytes(name: &str) -> Option<Vec<u8>> {
    let path = gleaner_testing::shared(&format!("bftrainer/{name}"))?;
    std::fs::read(path).ok()
}

#[test]
fn reads_a_large_set_of_tasks() {
    let Some(bytes) = bytes("ImageNet-imgps-Jbnd-1001J.pkl") else {
        return;
    };
    let frame = read_frame(&bytes).unwrap();
    assert_eq!(
        frame.columns(),
        ["Tcup", "Tcdw", "Jmin", "Jmax", "Pmax", "Tsub"]
    );
    assert_eq!(frame.rows(), 1001);
    assert_eq!(frame.index_strings().unwrap()[1000], "J01000-mobilenet");
    let up = frame.column_f64("Tcup").unwrap();
    assert_eq!((up[0], up[1000]), (17.78804344238519, 18.99483894314209));
    // These integers are stored as floats in the file.
    assert_eq!(frame.column_i64("Jmax").unwrap(), [64; 1001]);
    let submitted = frame.column_datetimes_ns("Tsub").unwrap();
    assert_eq!(submitted.iter().max(), Some(&1_613_024_475_000_000_000));
}

#[test]
fn reads_a_large_set_of_curves() {
    let Some(bytes) = bytes("ImageNet-spdup-JNPs-1001J.pkl") else {
        return;
    };
    let frame = read_frame(&bytes).unwrap();
    assert_eq!(frame.columns(), ["Ns", "Ps", "Os", "Tsub"]);
    let nodes = frame.column_lists("Ns").unwrap();
    assert!(
        nodes
            .iter()
            .all(|list| **list == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    );
    let progress = frame.column_lists("Ps").unwrap();
    assert_eq!(progress[0][6..], [130_762.0, 202_135.4]);
    let objective = frame.column_lists("Os").unwrap();
    assert_eq!(objective[1000][7], 51.05885062008618);
}

//! Lucid's packing model, which predicts how well a workload shares a GPU.

use gleaner_domain::error::{Fault, Result};
use gleaner_inputs::jobs;
use gleaner_learn::lucid::packing::{Features, SETTINGS, agreement, evaluate, shared};
use gleaner_learn::metrics::accuracy;
use gleaner_learn::tree::validate::held_out;
use gleaner_predict::{packing_pairs, packing_profiles};

use crate::files::Data;
use crate::filled::Values;
use crate::{Part, failed};

/// The test rows of the script in Lucid's artifact. With the script's seed, 123, scikit-learn draws these 20 of the 66
/// rows of `single_data.csv`, in this order. The script trains on the other 46 rows.
const TEST: [usize; 20] = [
    54, 62, 0, 45, 5, 63, 16, 12, 65, 30, 33, 9, 41, 13, 34, 25, 3, 17, 40, 8,
];
const ROWS: usize = 66;

/// Seed of the 200 random splits.
const SEED: u64 = 0;

/// Trains and tests the decision trees that score how well workloads share a GPU, with and without the speeds measured
/// in pairs.
pub fn add(part: &mut Part<'_>, data: Data<'_>) -> Result<()> {
    let file = data.file("lucid/venus_sept/single_data.csv");
    let mut profiles = part.take(jobs::profiles::read(&file)?);
    profiles.retain(|_, profile| profile.score.is_some());
    if profiles.len() != ROWS {
        let found = format!("{} profiles with a label", profiles.len());
        return Err(Fault::of(&file, found, format!("the {ROWS} profiles of the artifact")).into());
    }
    let pairs = data.file("lucid/venus_sept/colocate_info.csv");
    let pairs = packing_pairs(&part.take(jobs::colocate::read(&pairs)?));
    let examples = packing_profiles(&profiles);
    let beside = shared(&examples, &pairs);
    let truth: Vec<u8> = examples.iter().map(|profile| profile.score).collect();
    let train: Vec<usize> = (0..ROWS).filter(|row| !TEST.contains(row)).collect();
    let held: Vec<u8> = TEST.iter().map(|&row| truth[row]).collect();
    let mut ours = Values::default();
    let models = [
        ("with pair speeds", Features::WithPairs),
        ("profile alone", Features::Profile),
    ];
    for (row, features) in models {
        let table = features.table(&examples, &beside);
        let told = held_out(&table, &truth, [&train, &TEST], SETTINGS).map_err(failed)?;
        let splits = evaluate(features, &examples, &beside, SEED)
            .map_err(failed)?
            .splits;
        let values = [accuracy(&held, &told), splits.mean, splits.deviation];
        ours.row(row, COLUMNS.into_iter().zip(values));
    }
    part.add("lucid-packing", &ours)?;
    let mut labels = Values::default();
    let agreeing = agreement(&examples, &beside) * ROWS as f64;
    labels.set(
        "manual label equals label from pairs",
        "profiles",
        agreeing.round(),
    );
    let lonely = beside.iter().filter(|shared| shared.pairs == 0).count();
    labels.set("not measured in any pair", "profiles", lonely as f64);
    part.add("lucid-packing-labels", &labels)?;
    Ok(())
}

const COLUMNS: [&str; 3] = [
    "accuracy on the script's split",
    "mean accuracy over 200 splits",
    "standard deviation over 200 splits",
];

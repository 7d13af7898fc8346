//! Data sets: ours, and those that the original saves with torch.

use std::path::Path;

use gleaner_driple::content::Content;
use gleaner_driple::dataset::Dataset;
use gleaner_driple::dataset::file::{self, Manifest};
use gleaner_driple::torch;

use super::tensors;
use crate::error::Result;
use crate::ingest::Loaded;

/// A data set and where it comes from; nothing is known of that where its file does not say.
pub type Data = (Dataset, Manifest);

/// Reads a data set, whichever of the two forms it has. Examples without a name are called by
/// their place: `test.0.3` is the fourth of the first batch of the test part.
///
/// # Errors
/// The file cannot be read, or is no data set.
pub fn read(path: &Path) -> Result<Loaded<Data>> {
    tensors(path, |content, bytes| match content {
        Content::Data => file::read(bytes).map(named).map_err(|e| e.to_string()),
        Content::TorchData => match torch::dataset(bytes) {
            Ok(data) => Ok(named((data, Manifest::default()))),
            Err(error) => Err(error.to_string()),
        },
        other => Err(format!(
            "this is {}, expected a data set; make one with gleaner driple build",
            other.words()
        )),
    })
}

/// Gives examples without a name one.
fn named((mut data, manifest): Data) -> Data {
    let Dataset { train, val, test } = &mut data;
    for (part, batches) in [("train", train), ("val", val), ("test", test)] {
        for (batch, examples) in batches.iter_mut().enumerate() {
            let unnamed = examples.iter_mut().enumerate();
            for (place, example) in unnamed.filter(|(_, example)| example.name.is_empty()) {
                example.name = format!("{part}.{batch}.{place}");
            }
        }
    }
    (data, manifest)
}

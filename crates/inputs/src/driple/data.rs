//! Reads data sets in this program's own format, and data sets that the original Driple saved with torch.

use std::path::Path;

use gleaner_driple::content::Content;
use gleaner_driple::dataset::Dataset;
use gleaner_driple::dataset::file::{self, Manifest};
use gleaner_driple::torch;

use super::tensors;
use gleaner_domain::error::Result;
use gleaner_io::Loaded;

/// A data set, and a manifest that describes its origin. The manifest is empty if the file has no manifest.
pub type Data = (Dataset, Manifest);

/// Reads a data set in either format. An example without a name is named after its position: `test.0.3` is the fourth
/// example in the first batch of the test part.
///
/// # Errors
/// The file cannot be read, or is not a data set.
pub fn read(path: &Path) -> Result<Loaded<Data>> {
    tensors(path, |content, bytes| match content {
        Content::Data => file::read(bytes).map(named).map_err(|e| e.to_string()),
        Content::TorchData => match torch::dataset(bytes) {
            Ok(data) => Ok(named((data, Manifest::default()))),
            Err(error) => Err(error.to_string()),
        },
        other => Err(format!(
            "found {}, expected a data set; make one with gleaner driple build",
            other.words()
        )),
    })
}

/// Gives a name to each example that has no name.
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

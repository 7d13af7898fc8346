//! Names of jobs. A job is named after its graph's file.

use std::fmt;

/// The name of a job, which consists of six fields: `GPU_Data-Set_Model_Sync_Hyper-Parameter_Job`,
/// such as `V100_imagenet_resnet50_sync_32_worker`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobName {
    fields: [String; 6],
}

/// The columns of a measurements file that hold the six fields of a job's name, in order.
pub const FIELDS: [&str; 6] = [
    "GPU",
    "Data Set",
    "Model",
    "Sync/Async",
    "Hyper-Parameter",
    "Job Name",
];

/// The reason why a string is not a valid job name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobNameError {
    /// The name does not have six fields.
    #[error(
        "{name:?} has {found} fields separated by underscores, expected 6: \
         GPU_DataSet_Model_Sync_HyperParameter_Job.pbtxt; rename the file, and write underscores \
         inside a field as hyphens"
    )]
    Fields {
        /// The name, without the path and the extension of the file.
        name: String,
        /// The number of fields in the name.
        found: usize,
    },
    /// A field is empty.
    #[error("{name:?} has an empty field where the {field} should be; rename the file")]
    Empty {
        /// The name, without the path and the extension of the file.
        name: String,
        /// The column of the empty field, one of [`FIELDS`].
        field: &'static str,
    },
}

impl JobName {
    /// Splits a job's name, or the path of its graph's file, into fields. Everything up to the last `/` or `\` is
    /// ignored, and so are the extensions `.pbtxt`, `.pb` and `.onnx`.
    ///
    /// # Errors
    /// If the name does not have exactly six fields, or if a field is empty.
    pub fn parse(path: &str) -> Result<Self, JobNameError> {
        let name = stem(path);
        let fields: Vec<&str> = name.split('_').collect();
        let Ok(fields) = <[&str; 6]>::try_from(fields.as_slice()) else {
            return Err(JobNameError::Fields {
                name: name.to_owned(),
                found: fields.len(),
            });
        };
        if let Some(empty) = fields.iter().position(|field| field.is_empty()) {
            return Err(JobNameError::Empty {
                name: name.to_owned(),
                field: FIELDS[empty],
            });
        }
        Ok(JobName {
            fields: fields.map(str::to_owned),
        })
    }

    /// The fields, in the order of [`FIELDS`].
    #[must_use]
    pub fn fields(&self) -> &[String; 6] {
        &self.fields
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fields.join("_"))
    }
}

fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let endings = [".pbtxt", ".pb", ".onnx"];
    let cut = endings.iter().find_map(|ending| name.strip_suffix(ending));
    cut.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_name_excludes_path_and_extension() {
        let name = JobName::parse("graphs/V100_img_vgg-16_sync_lr0.1_w1.pbtxt").unwrap();
        let fields = ["V100", "img", "vgg-16", "sync", "lr0.1", "w1"];
        assert_eq!(name.fields(), &fields.map(str::to_owned));
        assert_eq!(name.to_string(), "V100_img_vgg-16_sync_lr0.1_w1");
        assert_eq!(JobName::parse(&name.to_string()), Ok(name.clone()));
        assert_eq!(
            JobName::parse(r"C:\g\V100_img_vgg-16_sync_lr0.1_w1.onnx"),
            Ok(name)
        );
    }

    #[test]
    fn names_without_exactly_six_fields_are_refused() {
        let fault = |name| JobName::parse(name).unwrap_err().to_string();
        assert!(fault("a_b_c_d_e.pbtxt").starts_with("\"a_b_c_d_e\" has 5 fields"));
        assert!(fault("a_b_c_d_e_f_g").contains("has 7 fields"));
        assert!(fault("").contains("has 1 fields"));
        assert!(fault("a_b_c__e_f").contains("empty field where the Sync/Async should be"));
    }
}

//! Reads event logs in CSV. The header determines whether the form is long or wide.

use super::Read;
use super::placing::Placing;
use super::{csv_long, csv_wide};
use gleaner_domain::error::Result;
use gleaner_io::delimited::Records;
use gleaner_io::source::Source;

pub(super) fn read(source: &Source, placing: Placing) -> Result<Read> {
    let records = Records::open(source)?;
    if records.header.is_empty() {
        let expected = "a header and at least one row";
        return Err(source.fault("no header line", expected).into());
    }
    if csv_long::is_long(&records.header) {
        csv_long::read(records, placing)
    } else {
        csv_wide::read(records, placing)
    }
}

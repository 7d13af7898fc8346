//! The closed list of Python names to which a table may refer.

use super::error::Problem;

/// The meaning of a listed name. Several names can have the same meaning, because pandas and numpy
/// moved their classes between releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    /// `pandas.DataFrame`.
    DataFrame,
    /// `pandas.Series`.
    Series,
    /// The object that holds the blocks and axes of a frame or a series.
    Manager,
    /// `_unpickle_block(values, placement, ndim)`, or `new_block`.
    Block,
    /// `functools.partial`, which pandas 1.3 wraps around `new_block`.
    Partial,
    /// `_new_Index(class, state)` and `_new_DatetimeIndex`.
    NewIndex,
    /// An index class, whose labels are in its member `data`.
    Index,
    /// `RangeIndex`.
    RangeIndex,
    /// A class that wraps a single numpy array, such as `DatetimeArray` or
    /// `StringArray`.
    ArrayClass,
    /// `__pyx_unpickle_NDArrayBacked(class, checksum, state)`.
    WrapArray,
    /// `ArrowStringArray`.
    ArrowStrings,
    /// `pyarrow.lib._restore_array`.
    ArrowArray,
    /// `pyarrow.lib.type_for_alias`.
    ArrowType,
    /// `numpy.ndarray`.
    NdArray,
    /// `numpy._reconstruct`, which returns an empty array. The recorded state then fills the array.
    Reconstruct,
    /// `numpy._frombuffer(buffer, dtype, shape, order)`.
    FromBuffer,
    /// `numpy.dtype`.
    Dtype,
    /// `numpy.scalar(dtype, bytes)`.
    Scalar,
    /// `_codecs.encode`, which creates byte strings under protocol 2.
    Encode,
    /// `bytes`, `bytearray` or `pyarrow.py_buffer`, each of which wraps other
    /// bytes.
    Bytes,
    /// `slice(start, stop, step)`.
    Slice,
    /// `pandas.Timestamp`: a time in nanoseconds since 1970, or in another unit if one is specified.
    Timestamp,
    /// `pandas.NaT`.
    NotATime,
    /// `pandas.NA`.
    NotAvailable,
    /// `datetime.datetime`.
    DateTime,
    /// `getattr`, allowed only as `getattr(ZoneInfo, "_unpickle")`.
    GetAttr,
    /// `zoneinfo.ZoneInfo`.
    ZoneInfo,
    /// A time zone, calendar offset or type description. The reader ignores it, because times are stored in UTC and no
    /// value depends on it.
    Ignored,
}

impl Global {
    /// The name used in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DataFrame => "DataFrame",
            Self::Series => "Series",
            Self::Manager => "BlockManager",
            Self::Block => "a block of columns",
            Self::Partial => "functools.partial",
            Self::NewIndex | Self::Index => "Index",
            Self::RangeIndex => "RangeIndex",
            Self::ArrayClass | Self::WrapArray => "a pandas array",
            Self::ArrowStrings => "ArrowStringArray",
            Self::ArrowArray | Self::ArrowType => "a pyarrow array",
            Self::NdArray | Self::Reconstruct | Self::FromBuffer => "numpy.ndarray",
            Self::Dtype => "numpy.dtype",
            Self::Scalar => "a numpy number",
            Self::Encode | Self::Bytes => "bytes",
            Self::Slice => "slice",
            Self::Timestamp => "Timestamp",
            Self::NotATime => "NaT",
            Self::NotAvailable => "NA",
            Self::DateTime => "datetime",
            Self::GetAttr => "getattr",
            Self::ZoneInfo => "ZoneInfo",
            Self::Ignored => "a time zone, offset or type description",
        }
    }
}

/// The meaning of `module.name`, if it is on the list.
pub(super) fn find(module: &str, name: &str) -> Option<Global> {
    match module.split('.').next() {
        Some("pandas") => pandas(module, name),
        Some("numpy") => numpy(module, name),
        Some("pyarrow") => pyarrow(module, name),
        _ => python(module, name),
    }
}

/// The error for a name that is not on the list.
pub(super) fn refusal(module: &str, name: &str) -> Problem {
    let remedy = match module.split('.').next() {
        Some("pandas" | "numpy" | "pyarrow") => {
            "convert that column or index to plain numbers, strings or times first \
             (df.astype(object), df.reset_index()), or write CSV or Parquet"
        }
        Some("pytz" | "dateutil" | "zoneinfo" | "datetime") => {
            "store times in UTC (df.index = df.index.tz_convert('UTC')) or without a time zone"
        }
        _ => "if you do not know who made this file, do not open it in Python either",
    };
    Problem::Global {
        name: format!("{module}.{name}"),
        remedy,
    }
}

fn pandas(module: &str, name: &str) -> Option<Global> {
    Some(match (module, name) {
        ("pandas" | "pandas.core.frame", "DataFrame") => Global::DataFrame,
        ("pandas" | "pandas.core.series", "Series") => Global::Series,
        (
            "pandas.core.internals" | "pandas.core.internals.managers",
            "BlockManager" | "SingleBlockManager",
        ) => Global::Manager,
        ("pandas._libs.internals", "_unpickle_block") => Global::Block,
        ("pandas.core.internals.blocks", "new_block") => Global::Block,
        ("pandas.core.indexes.base", "_new_Index") => Global::NewIndex,
        ("pandas.core.indexes.datetimes", "_new_DatetimeIndex") => Global::NewIndex,
        ("pandas" | "pandas.core.indexes.base", "Index") => Global::Index,
        ("pandas" | "pandas.core.indexes.datetimes", "DatetimeIndex") => Global::Index,
        ("pandas.core.indexes.numeric", "Int64Index" | "UInt64Index" | "Float64Index") => {
            Global::Index
        }
        ("pandas" | "pandas.core.indexes.range", "RangeIndex") => Global::RangeIndex,
        ("pandas.arrays" | "pandas.core.arrays.datetimes", "DatetimeArray") => Global::ArrayClass,
        ("pandas.arrays" | "pandas.core.arrays.string_", "StringArray") => Global::ArrayClass,
        ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked") => Global::WrapArray,
        ("pandas.arrays" | "pandas.core.arrays.string_arrow", "ArrowStringArray") => {
            Global::ArrowStrings
        }
        ("pandas" | "pandas.core.dtypes.dtypes", "DatetimeTZDtype") => Global::Ignored,
        ("pandas" | "pandas.core.arrays.string_", "StringDtype") => Global::Ignored,
        ("pandas" | "pandas._libs.missing", "NA") => Global::NotAvailable,
        ("pandas._libs.tslib" | "pandas._libs.tslibs.timestamps", "Timestamp") => Global::Timestamp,
        ("pandas._libs.tslibs.timestamps", "_unpickle_timestamp") => Global::Timestamp,
        ("pandas._libs.tslib" | "pandas._libs.tslibs.nattype", "__nat_unpickle") => {
            Global::NotATime
        }
        ("pandas._libs.tslibs.nattype", "_nat_unpickle") => Global::NotATime,
        ("pandas.tseries.offsets" | "pandas._libs.tslibs.offsets", _) if is_offset(name) => {
            Global::Ignored
        }
        _ => return None,
    })
}

/// Whether `name` is the name of a calendar offset. An index of regular times
/// stores such an offset as its `freq`.
fn is_offset(name: &str) -> bool {
    matches!(
        name,
        "Nano"
            | "Micro"
            | "Milli"
            | "Second"
            | "Minute"
            | "Hour"
            | "Day"
            | "BusinessDay"
            | "Week"
            | "MonthBegin"
            | "MonthEnd"
            | "QuarterBegin"
            | "QuarterEnd"
            | "YearBegin"
            | "YearEnd"
    )
}

fn numpy(module: &str, name: &str) -> Option<Global> {
    Some(match (module, name) {
        ("numpy", "ndarray") => Global::NdArray,
        ("numpy", "dtype") => Global::Dtype,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Global::Reconstruct,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Global::Scalar,
        ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Global::FromBuffer,
        _ => return None,
    })
}

fn pyarrow(module: &str, name: &str) -> Option<Global> {
    Some(match (module, name) {
        ("pyarrow.lib", "_restore_array") => Global::ArrowArray,
        ("pyarrow.lib", "type_for_alias") => Global::ArrowType,
        ("pyarrow.lib", "py_buffer") => Global::Bytes,
        _ => return None,
    })
}

fn python(module: &str, name: &str) -> Option<Global> {
    Some(match (module, name) {
        ("_codecs", "encode") => Global::Encode,
        ("builtins" | "__builtin__", "bytes" | "bytearray") => Global::Bytes,
        ("builtins" | "__builtin__", "slice") => Global::Slice,
        ("builtins" | "__builtin__", "getattr") => Global::GetAttr,
        ("functools", "partial") => Global::Partial,
        ("datetime", "datetime") => Global::DateTime,
        ("datetime", "timedelta" | "timezone") => Global::Ignored,
        ("pytz", "_UTC" | "_p" | "_FixedOffset") => Global::Ignored,
        ("dateutil.tz.tz", "tzutc" | "tzoffset") => Global::Ignored,
        ("zoneinfo", "ZoneInfo") => Global::ZoneInfo,
        _ => return None,
    })
}

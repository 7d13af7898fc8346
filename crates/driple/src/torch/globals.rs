//! The classes and functions that a file is allowed to refer to.

/// A class or function that a file is allowed to refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    OrderedDict,
    /// `torch._utils._rebuild_tensor_v2`.
    Tensor,
    /// `torch._utils._rebuild_parameter`.
    Parameter,
    /// The type of a storage.
    Storage(Kind),
}

/// The type of a storage's values, all of which are stored in little-endian order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    F16,
    Bf16,
    F32,
    F64,
    Bool,
    U8,
    I8,
    I16,
    I32,
    I64,
}

impl Kind {
    /// The number of bytes of a value.
    pub fn size(self) -> usize {
        match self {
            Kind::Bool | Kind::U8 | Kind::I8 => 1,
            Kind::F16 | Kind::Bf16 | Kind::I16 => 2,
            Kind::F32 | Kind::I32 => 4,
            Kind::F64 | Kind::I64 => 8,
        }
    }
}

/// The class or function with this name, if a file is allowed to refer to it.
pub(super) fn find(module: &str, name: &str) -> Option<Global> {
    match (module, name) {
        ("collections", "OrderedDict") => Some(Global::OrderedDict),
        ("torch._utils", "_rebuild_tensor_v2") => Some(Global::Tensor),
        ("torch._utils", "_rebuild_parameter") => Some(Global::Parameter),
        ("torch" | "torch.cuda", _) => storage(name).map(Global::Storage),
        _ => None,
    }
}

fn storage(name: &str) -> Option<Kind> {
    Some(match name {
        "HalfStorage" => Kind::F16,
        "BFloat16Storage" => Kind::Bf16,
        "FloatStorage" => Kind::F32,
        "DoubleStorage" => Kind::F64,
        "BoolStorage" => Kind::Bool,
        "ByteStorage" => Kind::U8,
        "CharStorage" => Kind::I8,
        "ShortStorage" => Kind::I16,
        "IntStorage" => Kind::I32,
        "LongStorage" => Kind::I64,
        _ => return None,
    })
}

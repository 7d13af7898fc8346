//! The part of TensorFlow's protobuf messages that is needed to read graphs. Names and field
//! numbers are taken from
//! `tensorflow/core/framework/{graph,node_def,attr_value,tensor,tensor_shape}.proto`. All other
//! fields are skipped in both formats.

use prost::Message;
use prost::bytes::Bytes;

use super::fields::{Fields, ParseError, Times, Value};
use super::scan::Scanner;

/// A graph. Its nodes are [`NodeDef`] messages that are kept as bytes and decoded one by one. A
/// small file with many empty nodes therefore takes little memory.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphDef {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(super) node: Vec<Bytes>,
}

/// Defines a message that can be read from protobuf's binary format and, by the names of its
/// fields, from the text format.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident { $(#[$prost:meta] $field:ident: $holds:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Message)]
        pub(super) struct $name {
            $(#[$prost] pub(super) $field: $holds,)+
        }

        impl Fields for $name {
            fn read(&mut self, name: &[u8], text: &mut Scanner<'_>) -> Result<Times, ParseError> {
                $(if name == stringify!($field).as_bytes() {
                    return self.$field.read(text);
                })+
                text.value()?;
                Ok(Times::Any)
            }
        }
    };
}

message!(NodeDef {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    op: String,
    #[prost(string, repeated, tag = "3")]
    input: Vec<String>,
    #[prost(string, tag = "4")]
    device: String,
    #[prost(message, repeated, tag = "5")]
    attr: Vec<Attr>,
});

message!(
    /// An entry of the map from names to attributes.
    Attr {
        #[prost(string, tag = "1")]
        key: String,
        #[prost(message, optional, boxed, tag = "2")]
        value: Option<Box<AttrValue>>,
    }
);

message!(AttrValue {
    #[prost(message, optional, tag = "1")]
    list: Option<ListValue>,
    #[prost(message, optional, tag = "7")]
    shape: Option<TensorShape>,
    #[prost(message, optional, tag = "8")]
    tensor: Option<Tensor>,
});

message!(ListValue {
    #[prost(message, repeated, tag = "7")]
    shape: Vec<TensorShape>,
});

message!(Tensor {
    #[prost(message, optional, tag = "2")]
    tensor_shape: Option<TensorShape>,
});

message!(TensorShape {
    #[prost(message, repeated, tag = "2")]
    dim: Vec<Dim>,
    #[prost(bool, tag = "3")]
    unknown_rank: bool,
});

message!(Dim {
    #[prost(int64, tag = "1")]
    size: i64,
});

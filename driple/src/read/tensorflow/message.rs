//! The part of TensorFlow's protobuf messages that graphs are read from, its names and field
//! numbers as in `tensorflow/core/framework/{graph,node_def,attr_value,tensor,tensor_shape}.proto`.
//! Decoding skips all other fields.

use prost::Message;
use prost::bytes::Bytes;

/// A graph. Its nodes, of [`NodeDef`], are left in bytes: they are decoded one by one, so a small
/// file of many empty nodes takes little memory.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphDef {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(super) node: Vec<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeDef {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) op: String,
    #[prost(string, repeated, tag = "3")]
    pub(super) input: Vec<String>,
    #[prost(string, tag = "4")]
    pub(super) device: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attr: Vec<Attr>,
}

/// An entry of the map from names to attributes.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attr {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(message, optional, boxed, tag = "2")]
    pub(super) value: Option<Box<AttrValue>>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttrValue {
    #[prost(message, optional, tag = "1")]
    pub(super) list: Option<ListValue>,
    #[prost(message, optional, tag = "7")]
    pub(super) shape: Option<TensorShape>,
    #[prost(message, optional, tag = "8")]
    pub(super) tensor: Option<Tensor>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ListValue {
    #[prost(message, repeated, tag = "7")]
    pub(super) shape: Vec<TensorShape>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    #[prost(message, optional, tag = "2")]
    pub(super) tensor_shape: Option<TensorShape>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShape {
    #[prost(message, repeated, tag = "2")]
    pub(super) dim: Vec<Dim>,
    #[prost(bool, tag = "3")]
    pub(super) unknown_rank: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Dim {
    #[prost(int64, tag = "1")]
    pub(super) size: i64,
}

//! The messages of [`super::message`] as descriptors, which the text format's parser goes by.

use std::sync::LazyLock;

use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
};
use prost_reflect::{DescriptorError, DescriptorPool, MessageDescriptor};

/// The package of the messages.
const PACKAGE: &str = "tensorflow";

/// The name of a field, its number, what it holds, and whether many times.
type Field = (&'static str, i32, Holds, Label);

/// Each message and its fields.
const MESSAGES: &[(&str, &[Field])] = &[
    (
        "NodeDef",
        &[
            ("name", 1, Holds::Text, Label::Optional),
            ("op", 2, Holds::Text, Label::Optional),
            ("input", 3, Holds::Text, Label::Repeated),
            ("device", 4, Holds::Text, Label::Optional),
            ("attr", 5, Holds::Message("Attr"), Label::Repeated),
        ],
    ),
    (
        "Attr",
        &[
            ("key", 1, Holds::Text, Label::Optional),
            ("value", 2, Holds::Message("AttrValue"), Label::Optional),
        ],
    ),
    (
        "AttrValue",
        &[
            ("list", 1, Holds::Message("ListValue"), Label::Optional),
            ("shape", 7, Holds::Message("TensorShape"), Label::Optional),
            ("tensor", 8, Holds::Message("Tensor"), Label::Optional),
        ],
    ),
    (
        "ListValue",
        &[("shape", 7, Holds::Message("TensorShape"), Label::Repeated)],
    ),
    (
        "Tensor",
        &[(
            "tensor_shape",
            2,
            Holds::Message("TensorShape"),
            Label::Optional,
        )],
    ),
    (
        "TensorShape",
        &[
            ("dim", 2, Holds::Message("Dim"), Label::Repeated),
            ("unknown_rank", 3, Holds::Bool, Label::Optional),
        ],
    ),
    ("Dim", &[("size", 1, Holds::Integer, Label::Optional)]),
];

/// What a field holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Bool,
    Integer,
    Message(&'static str),
}

/// The descriptor of a NodeDef.
pub(super) static NODE_DEF: LazyLock<MessageDescriptor> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the table above is tested")]
    let pool = pool().expect("the messages refer to each other by name");
    #[expect(clippy::expect_used, reason = "the table above is tested")]
    pool.get_message_by_name("tensorflow.NodeDef")
        .expect("it is in the table")
});

/// All messages.
fn pool() -> Result<DescriptorPool, DescriptorError> {
    let file = FileDescriptorProto {
        name: Some("graph.proto".to_owned()),
        package: Some(PACKAGE.to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: MESSAGES
            .iter()
            .map(|(name, fields)| message(name, fields))
            .collect(),
        ..FileDescriptorProto::default()
    };
    DescriptorPool::from_file_descriptor_set(FileDescriptorSet { file: vec![file] })
}

fn message(name: &str, fields: &[Field]) -> DescriptorProto {
    DescriptorProto {
        name: Some(name.to_owned()),
        field: fields.iter().map(|field| self::field(*field)).collect(),
        ..DescriptorProto::default()
    }
}

fn field((name, number, holds, label): Field) -> FieldDescriptorProto {
    let (kind, type_name) = match holds {
        Holds::Text => (Type::String, None),
        Holds::Bool => (Type::Bool, None),
        Holds::Integer => (Type::Int64, None),
        Holds::Message(name) => (Type::Message, Some(format!(".{PACKAGE}.{name}"))),
    };
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name,
        ..FieldDescriptorProto::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Attr, AttrValue, Dim, ListValue, NodeDef, Tensor, TensorShape};
    use super::*;
    use prost::Message;
    use prost_reflect::DynamicMessage;

    /// Derived by formula: each field is set, so each of the table has to be that of the struct.
    #[test]
    fn the_descriptors_are_those_of_the_structs() {
        let dim = vec![Dim { size: 3 }];
        let shape = TensorShape {
            dim,
            unknown_rank: true,
        };
        let value = AttrValue {
            list: Some(ListValue {
                shape: vec![shape.clone()],
            }),
            shape: Some(shape.clone()),
            tensor: Some(Tensor {
                tensor_shape: Some(shape),
            }),
        };
        let value = Some(Box::new(value));
        let node = NodeDef {
            name: "a".to_owned(),
            op: "Add".to_owned(),
            input: vec!["b".to_owned()],
            device: "GPU".to_owned(),
            attr: vec![Attr {
                key: "k".to_owned(),
                value,
            }],
        };
        let mut dynamic = DynamicMessage::new(NODE_DEF.clone());
        dynamic.transcode_from(&node).unwrap();
        let text = "name:\"a\",op:\"Add\",input:[\"b\"],device:\"GPU\",attr:[{key:\"k\",value{\
            list{shape:[{dim:[{size:3}],unknown_rank:true}]},\
            shape{dim:[{size:3}],unknown_rank:true},\
            tensor{tensor_shape{dim:[{size:3}],unknown_rank:true}}}}]";
        assert_eq!(dynamic.to_text_format(), text);
        assert_eq!(dynamic.encode_to_vec(), node.encode_to_vec());
    }
}

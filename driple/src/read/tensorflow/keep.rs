//! Cutting a text down to the fields that are read, before it is parsed.
//!
//! The bulk of a GraphDef, such as the values of constants, is skipped that way, and fields of
//! versions of TensorFlow yet to come are no fault.

use prost_reflect::{Kind, MessageDescriptor};

use super::scan::{Fault, Scanner};

/// Appends the fields that a message has by its descriptor to `kept`, and leaves the others out.
///
/// It calls itself for messages in messages, as deep as the descriptor goes.
pub(super) fn fields(
    mut text: Scanner<'_>,
    message: &MessageDescriptor,
    kept: &mut Vec<u8>,
) -> Result<(), Fault> {
    while text.peek().is_some() {
        let name = text.name()?;
        text.colon()?;
        let field = std::str::from_utf8(name)
            .ok()
            .and_then(|name| message.get_field_by_name(name));
        match field.map(|field| field.kind()) {
            None => text.value()?,
            Some(Kind::Message(inner)) => messages(&mut text, name, &inner, kept)?,
            Some(_) => value(&mut text, name, kept)?,
        }
        text.separator();
    }
    Ok(())
}

/// Appends a field as it is.
fn value(text: &mut Scanner<'_>, name: &[u8], kept: &mut Vec<u8>) -> Result<(), Fault> {
    let from = text.at();
    text.value()?;
    append(name, text.text(from, text.at()), kept);
    Ok(())
}

/// Appends a field of messages, each cut down too; where they are none, it is for the parser to
/// say.
fn messages(
    text: &mut Scanner<'_>,
    name: &[u8],
    inner: &MessageDescriptor,
    kept: &mut Vec<u8>,
) -> Result<(), Fault> {
    let from = text.at();
    let Some(messages) = text.messages()? else {
        append(name, text.text(from, text.at()), kept);
        return Ok(());
    };
    for message in messages {
        kept.extend_from_slice(name);
        kept.push(b'{');
        fields(message, inner, kept)?;
        kept.extend_from_slice(b"}\n");
    }
    Ok(())
}

fn append(name: &[u8], value: &[u8], kept: &mut Vec<u8>) {
    kept.extend_from_slice(name);
    kept.push(b':');
    kept.extend_from_slice(value);
    kept.push(b'\n');
}

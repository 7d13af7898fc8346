//! Reads and writes messages. A message is a line of JSON, whose length is limited.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// Maximum length of the first message on a connection, in bytes. The sender is not authenticated yet, so it must not
/// be able to exhaust the daemon's memory.
pub const LONGEST_GREETING: usize = 64 << 10;

/// The reason why a message could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side has closed the connection, possibly in the middle of a message.
    #[error("the connection is closed")]
    Closed,
    /// The message is longer than the limit.
    #[error("found a message of more than {0} bytes, expected at most {0}")]
    TooLong(usize),
    /// The message is not the expected JSON.
    #[error("found an invalid message, expected a line of JSON: {0}")]
    Invalid(String),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Failed(#[from] io::Error),
}

/// Reads messages from a connection.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: BufReader<R>,
    /// The beginning of the next message.
    partial: Vec<u8>,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Creates a reader of the messages in `input`.
    pub fn new(input: R) -> Self {
        FrameReader {
            input: BufReader::new(input),
            partial: Vec::new(),
        }
    }

    /// Reads the next message, which may have at most `longest` bytes. If the returned future is dropped, no data is
    /// lost.
    ///
    /// # Errors
    /// The connection is closed or fails, or the message is too long or invalid: see [`FrameError`]. After an error, no
    /// more messages can be read.
    pub async fn read<T: DeserializeOwned>(&mut self, longest: usize) -> Result<T, FrameError> {
        // `fill_buf` consumes nothing, and nothing is awaited between `extend` and `consume`. Therefore, the future can
        // be dropped at any time.
        loop {
            let bytes = self.input.fill_buf().await?;
            if bytes.is_empty() {
                return Err(FrameError::Closed);
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let taken = end.unwrap_or(bytes.len());
            if self.partial.len() + taken > longest {
                return Err(FrameError::TooLong(longest));
            }
            self.partial.extend(&bytes[..taken]);
            self.input.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                let line = std::mem::take(&mut self.partial);
                let parsed = serde_json::from_slice(&line);
                return parsed.map_err(|error| FrameError::Invalid(error.to_string()));
            }
        }
    }
}

/// A message as a line of JSON.
///
/// # Errors
/// [`FrameError::Invalid`] if the message cannot be written as JSON.
pub fn to_line<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let written = serde_json::to_vec(message);
    let mut line = written.map_err(|error| FrameError::Invalid(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}

/// Writes a message and flushes the connection.
///
/// # Errors
/// The connection fails, or the message cannot be written as JSON.
pub async fn write<W, T>(output: &mut W, message: &T) -> Result<(), FrameError>
where
    W: AsyncWrite + Unpin,
    T: Serialize,
{
    output.write_all(&to_line(message)?).await?;
    output.flush().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn block_on<F: Future>(future: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(future)
    }

    /// All messages in `bytes`, and the error that ends the reading.
    fn read_all(bytes: &[u8], longest: usize) -> (Vec<Vec<u32>>, FrameError) {
        let mut reader = FrameReader::new(bytes);
        let mut messages = Vec::new();
        loop {
            match block_on(reader.read(longest)) {
                Ok(message) => messages.push(message),
                Err(error) => return (messages, error),
            }
        }
    }

    #[test]
    fn messages_are_lines() {
        let mut bytes = Vec::new();
        block_on(write(&mut bytes, &[1, 2])).unwrap();
        block_on(write(&mut bytes, &[3])).unwrap();
        let (messages, error) = read_all(&bytes, 10);
        assert_eq!(messages, [vec![1, 2], vec![3]]);
        assert!(matches!(error, FrameError::Closed));
        // The last line is incomplete.
        let (messages, error) = read_all(b"[1]\n[2", 10);
        assert_eq!(messages, [vec![1]]);
        assert!(matches!(error, FrameError::Closed));
    }

    #[test]
    fn the_limit_is_the_length_without_the_line_break() {
        assert_eq!(read_all(b"[12]\n", 4).0, [vec![12]]);
        let (messages, error) = read_all(b"[12]\n", 3);
        assert!(messages.is_empty());
        assert_eq!(
            error.to_string(),
            "found a message of more than 3 bytes, expected at most 3"
        );
        // A line that never ends must not exhaust the memory.
        let endless = vec![b'['; 1 << 20];
        assert!(matches!(
            read_all(&endless, LONGEST_GREETING).1,
            FrameError::TooLong(_)
        ));
    }

    #[test]
    fn malformed_messages_are_refused() {
        let deep = [vec![b'['; 1 << 15], vec![b'\n']].concat();
        for bytes in [
            &b"\n"[..],
            b"{}\n",
            b"[1]x\n",
            b"\xff\xfe\n",
            b"[\0]\n",
            b"[-1]\n",
            &deep,
        ] {
            let error = read_all(bytes, LONGEST_GREETING).1;
            assert!(matches!(error, FrameError::Invalid(_)), "{error}");
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // A read that is dropped at every pause, as can happen in `select!`, loses nothing.
        #[test]
        fn dropped_reads_lose_nothing(
            messages in prop::collection::vec(prop::collection::vec(any::<u32>(), 0..20), 0..5),
            chunks in prop::collection::vec(1_usize..9, 1..40),
        ) {
            let bytes: Vec<u8> = messages.iter().flat_map(|m| to_line(m).unwrap()).collect();
            let chunks = chunks.iter().cycle();
            let mut reader = FrameReader::new(Pausing { bytes: &bytes, chunks, is_pausing: false });
            let mut context = Context::from_waker(Waker::noop());
            let mut read = Vec::new();
            loop {
                let future = pin!(reader.read::<Vec<u32>>(1000));
                match future.poll(&mut context) {
                    Poll::Pending => {}
                    Poll::Ready(Ok(message)) => read.push(message),
                    Poll::Ready(Err(error)) => {
                        prop_assert!(matches!(error, FrameError::Closed));
                        break;
                    }
                }
            }
            prop_assert_eq!(read, messages);
        }

        #[test]
        fn any_bytes_give_messages_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read_all(&bytes, 50);
        }
    }

    /// An input that pauses after each chunk.
    struct Pausing<'b, I> {
        bytes: &'b [u8],
        chunks: I,
        is_pausing: bool,
    }

    impl<'b, 'c, I: Iterator<Item = &'c usize> + Unpin> AsyncRead for Pausing<'b, I> {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _context: &mut Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.is_pausing = !self.is_pausing;
            if self.is_pausing {
                return Poll::Pending;
            }
            let most = *self.chunks.next().unwrap();
            let count = most.min(self.bytes.len()).min(buffer.remaining());
            let (now, later) = self.bytes.split_at(count);
            buffer.put_slice(now);
            self.bytes = later;
            Poll::Ready(Ok(()))
        }
    }
}

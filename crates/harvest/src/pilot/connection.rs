//! The connection to the daemon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gleaner_domain::error::{Error, Result};
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_rustls::client::TlsStream;

use super::Happening;
use crate::frames::{self, FrameReader};
use crate::state_dir::StateDir;
use crate::tls::Destination;
use crate::wire::{self, FromPilot, Greeting, ToPilot};

/// Minimum and maximum time between two attempts to connect.
const SHORTEST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// Time limit for sending the last messages before the pilot ends.
const CLOSING_LIMIT: Duration = Duration::from_secs(1);

/// An encrypted connection to the daemon, and the secret that must be sent first.
#[derive(Debug)]
pub(super) struct Access {
    pub destination: Destination,
    pub secret: String,
    pub stream: TlsStream<TcpStream>,
}

/// Tries to connect once.
pub(super) async fn connect(state: Arc<StateDir>) -> Result<Access> {
    // The daemon may have moved, so its address is read for each attempt. A shared file system can fail to answer for a
    // while. Another thread therefore reads the address, so that the pilot still notices when its lease expires.
    let read = tokio::task::spawn_blocking(move || {
        Ok::<_, Error>((Destination::read(&state)?, state.secret()?))
    });
    let read = read.await.map_err(|error| Error::Run(error.to_string()))?;
    let (destination, secret) = read?;
    let stream = destination.connect().await?;
    Ok(Access {
        destination,
        secret: secret.text().to_owned(),
        stream,
    })
}

/// The time between two attempts to connect, which doubles after each failure, up to [`LONGEST_DELAY`].
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    /// A factor between 0.75 and 1.25. It differs between pilots, so that they do not all connect at the same time
    /// after a restart of the daemon.
    factor: f64,
}

impl Backoff {
    pub fn new(pilot: u64) -> Self {
        // The fractional parts of multiples of the golden ratio are spread evenly.
        let spread = (pilot as f64 * 0.618_033_988_749_894_9).fract();
        Backoff {
            next: SHORTEST_DELAY,
            factor: 0.75 + 0.5 * spread,
        }
    }

    /// The time until the next attempt.
    pub fn next(&mut self) -> Duration {
        let delay = self.next;
        self.next = (delay * 2).min(LONGEST_DELAY);
        delay.mul_f64(self.factor)
    }

    /// Resets the time to its minimum. Must be called when the daemon has answered.
    pub fn reset(&mut self) {
        self.next = SHORTEST_DELAY;
    }
}

/// An open connection. Dropping this value closes it.
#[derive(Debug)]
pub(super) struct Connection {
    /// Number of the connection among the pilot's connections.
    pub session: u32,
    /// Time at which a message was last received.
    pub heard: Instant,
    /// Whether the daemon has accepted the greeting.
    pub is_welcome: bool,
    output: Option<UnboundedSender<Vec<u8>>>,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl Connection {
    /// Sends the greeting, and passes everything that arrives to `inbox`.
    pub fn open(
        stream: TlsStream<TcpStream>,
        session: u32,
        greeting: &Greeting,
        inbox: UnboundedSender<Happening>,
    ) -> Self {
        let (input, output) = tokio::io::split(stream);
        let (sender, messages) = unbounded_channel();
        let connection = Connection {
            session,
            heard: Instant::now(),
            is_welcome: false,
            output: Some(sender),
            reader: tokio::spawn(read(input, session, inbox.clone())),
            writer: tokio::spawn(write(output, messages, session, inbox)),
        };
        connection.send_line(frames::to_line(greeting));
        connection
    }

    /// Sends a message.
    pub fn send(&self, message: &FromPilot) {
        self.send_line(frames::to_line(message));
    }

    fn send_line(&self, line: Result<Vec<u8>, frames::FrameError>) {
        // A message that cannot be sent is lost with the connection. The loss of the connection is reported to the
        // inbox.
        if let (Ok(line), Some(output)) = (line, &self.output) {
            let _ = output.send(line);
        }
    }

    /// Closes the connection after all messages have been sent.
    pub async fn close(mut self) {
        self.output = None;
        let _ = tokio::time::timeout(CLOSING_LIMIT, &mut self.writer).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.reader.abort();
        self.writer.abort();
    }
}

async fn read(
    input: ReadHalf<TlsStream<TcpStream>>,
    session: u32,
    inbox: UnboundedSender<Happening>,
) {
    let mut reader = FrameReader::new(input);
    loop {
        let message = reader.read::<ToPilot>(wire::LONGEST).await;
        let is_last = message.is_err();
        let happening = match message {
            Ok(message) => Happening::Message { session, message },
            Err(error) => Happening::Lost {
                session,
                reason: error.to_string(),
            },
        };
        if inbox.send(happening).is_err() || is_last {
            return;
        }
    }
}

async fn write(
    mut output: WriteHalf<TlsStream<TcpStream>>,
    mut messages: UnboundedReceiver<Vec<u8>>,
    session: u32,
    inbox: UnboundedSender<Happening>,
) {
    while let Some(line) = messages.recv().await {
        let written = match output.write_all(&line).await {
            Ok(()) => output.flush().await,
            failed => failed,
        };
        if let Err(error) = written {
            let reason = error.to_string();
            let _ = inbox.send(Happening::Lost { session, reason });
            return;
        }
    }
    let _ = output.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_become_rarer() {
        let mut backoff = Backoff::new(0);
        let mut delays = || backoff.next().as_secs_f64() / 0.75;
        assert_eq!((delays(), delays(), delays()), (0.5, 1.0, 2.0));
        assert_eq!((delays(), delays(), delays()), (4.0, 8.0, 10.0));
        assert_eq!(delays(), 10.0);
        backoff.reset();
        assert_eq!(backoff.next().as_secs_f64() / 0.75, 0.5);
        for pilot in 0..100 {
            let delay = Backoff::new(pilot).next().as_secs_f64();
            assert!((0.375..=0.625).contains(&delay), "{pilot}: {delay}");
        }
    }
}

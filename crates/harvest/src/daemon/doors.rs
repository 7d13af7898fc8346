//! Accepts the connections of pilots and clients, and passes messages between them and the keeper.
//!
//! A connection that does not begin with a valid greeting is closed without an answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::keeper::Message;
use super::log::Refusals;
use crate::core::Hello;
use crate::frames::{self, FrameError, FrameReader, LONGEST_GREETING};
use crate::state_dir::Secret;
use crate::wire::{FromPilot, Greeting, LONGEST, Request, Role, VERSION};

/// Maximum number of connections.
const CONNECTIONS: usize = 1024;

/// Maximum number of connections that have not sent a valid greeting.
const STRANGERS: usize = 256;

/// Time limit for the TLS handshake and the greeting.
const GREETING_LIMIT: Duration = Duration::from_secs(10);

/// Time limit for writing a message.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// Time limit for a client's next request.
const REQUEST_LIMIT: Duration = Duration::from_secs(60);

/// Maximum number of messages that are queued for a pilot.
const OUTBOX: usize = 1024;

/// The TLS settings, the secret, the log and the keeper's queue, which all connections share.
pub struct Door {
    /// Encrypts connections.
    pub tls: TlsAcceptor,
    /// The secret that a program must send to connect.
    pub secret: Secret,
    /// Logs refused connections.
    pub refusals: Refusals,
    /// The queue of messages to the keeper.
    pub keeper: mpsc::Sender<Message>,
}

/// Accepts connections forever.
pub async fn listen(listener: TcpListener, door: Arc<Door>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let strangers = Arc::new(Semaphore::new(STRANGERS));
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // The process has no file descriptors left, or the peer has already closed the connection.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let both = (
            Arc::clone(&places).try_acquire_owned(),
            Arc::clone(&strangers).try_acquire_owned(),
        );
        let (Ok(place), Ok(stranger)) = both else {
            door.refusals.add(peer, "too many connections");
            continue;
        };
        let door = Arc::clone(&door);
        tokio::spawn(async move {
            let greeted = timeout(GREETING_LIMIT, greet(&door, stream)).await;
            drop(stranger);
            match greeted {
                Ok(Ok((connection, role))) => connection.serve(&door, role, peer).await,
                Ok(Err(reason)) => door.refusals.add(peer, &reason),
                Err(_) => door.refusals.add(peer, "no greeting within 10 seconds"),
            }
            drop(place);
        });
    }
}

/// A connection whose greeting is valid.
struct Connection {
    input: FrameReader<ReadHalf<TlsStream<TcpStream>>>,
    output: WriteHalf<TlsStream<TcpStream>>,
}

/// Reads and checks the greeting.
async fn greet(door: &Door, stream: TcpStream) -> Result<(Connection, Role), String> {
    // Messages are short, and each must be delivered at once.
    stream.set_nodelay(true).map_err(|e| e.to_string())?;
    let stream = door.tls.accept(stream).await.map_err(|e| e.to_string())?;
    let (input, output) = split(stream);
    let mut input = FrameReader::new(input);
    let greeting: Greeting = match input.read(LONGEST_GREETING).await {
        Ok(greeting) => greeting,
        // The message may contain the secret, so it is not quoted.
        Err(FrameError::Invalid(_)) => return Err("the greeting is malformed".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    if !door.secret.matches(&greeting.secret) {
        return Err("wrong secret".to_owned());
    }
    if greeting.version != VERSION {
        let found = greeting.version;
        return Err(format!(
            "found message version {found}, expected {VERSION}: use the same version of gleaner as the daemon"
        ));
    }
    Ok((Connection { input, output }, greeting.role))
}

impl Connection {
    async fn serve(self, door: &Door, role: Role, peer: SocketAddr) {
        let end = match role {
            Role::Client => self.client(door).await,
            Role::Pilot(hello) => self.pilot(door, hello).await,
        };
        match end {
            Ok(()) | Err(FrameError::Closed | FrameError::Failed(_)) => {}
            Err(error) => door.refusals.add(peer, &error.to_string()),
        }
    }

    /// Answers a client's requests.
    async fn client(mut self, door: &Door) -> Result<(), FrameError> {
        loop {
            let request = timeout(REQUEST_LIMIT, self.input.read::<Request>(LONGEST)).await;
            let Ok(request) = request else {
                return Ok(());
            };
            let (answer, response) = oneshot::channel();
            let message = Message::Client(request?, answer);
            if door.keeper.send(message).await.is_err() {
                return Ok(());
            }
            let Ok(response) = response.await else {
                return Ok(());
            };
            let written = timeout(WRITE_LIMIT, frames::write(&mut self.output, &response)).await;
            written.unwrap_or(Ok(()))?;
        }
    }

    /// Passes messages between a pilot and the keeper until one of them closes the connection.
    async fn pilot(self, door: &Door, hello: Hello) -> Result<(), FrameError> {
        let link = hello.link;
        let (outbox, mut messages) = mpsc::channel(OUTBOX);
        let hello = Message::Hello(hello, outbox);
        let Connection {
            mut input,
            mut output,
        } = self;
        let keeper = &door.keeper;
        if keeper.send(hello).await.is_err() {
            return Ok(());
        }
        let reads = async {
            loop {
                let message: FromPilot = input.read(LONGEST).await?;
                if keeper.send(Message::Pilot(link, message)).await.is_err() {
                    return Ok(());
                }
            }
        };
        let writes = async {
            while let Some(message) = messages.recv().await {
                let written = timeout(WRITE_LIMIT, frames::write(&mut output, &message)).await;
                match written {
                    Ok(written) => written?,
                    Err(_) => return Ok(()),
                }
            }
            Ok(())
        };
        let end = tokio::select! {
            end = reads => end,
            end = writes => end,
        };
        // If the keeper has ended, it does not need this message.
        let _ = keeper.send(Message::Closed(link)).await;
        end
    }
}

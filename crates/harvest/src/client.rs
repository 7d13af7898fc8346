//! The client with which the command line sends requests to the daemon.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gleaner_domain::error::{Error, Result};
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};
use tokio_rustls::client::TlsStream;

use crate::frames::{self, FrameReader};
use crate::state_dir::StateDir;
use crate::tls::Destination;
use crate::wire::{Greeting, LONGEST, Request, Response, Role, VERSION};

/// Time limit for an answer, which a decision or a slow file system can delay.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Number of attempts to get an answer to a request that can be repeated.
const ATTEMPTS: u32 = 10;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// A client of the daemon.
pub struct Client {
    runtime: Runtime,
    state: PathBuf,
}

/// The reason why a request has no answer.
enum Lost {
    /// The daemon cannot be reached, so it has not received the request.
    Unreached(Error),
    /// The connection broke before the answer arrived.
    Unanswered(Error),
}

impl Client {
    /// Creates a client of the daemon that uses the state directory `state`.
    ///
    /// # Errors
    /// The asynchronous runtime cannot be created.
    pub fn new(state: &Path) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let failed = |e| Error::Run(format!("cannot prepare a connection: {e}"));
        Ok(Client {
            runtime: runtime.map_err(failed)?,
            state: state.to_owned(),
        })
    }

    /// Sends a request and waits for the answer. A request that can safely be repeated is sent again if the connection
    /// breaks before the answer arrives.
    ///
    /// # Errors
    /// There is no daemon, or it does not answer.
    pub fn request(&self, request: &Request) -> Result<Response> {
        self.runtime.block_on(self.answer(request))
    }

    /// Like [`Client::request`], but a refusal is an error, and a success returns the text of the answer.
    ///
    /// # Errors
    /// Same as [`Client::request`], or [`Error::Run`] with the daemon's reason if the daemon refuses the request.
    pub fn done(&self, request: &Request) -> Result<String> {
        match self.request(request)? {
            Response::Done { text } => Ok(text),
            Response::Refused { reason } => Err(Error::Run(reason)),
            Response::Status(_) => Err(Error::Run(
                "the daemon returned its status, expected the result of the request".to_owned(),
            )),
        }
    }

    async fn answer(&self, request: &Request) -> Result<Response> {
        let is_repeatable = !matches!(request, Request::Cancel { .. });
        let mut was_sent = false;
        for attempt in 1.. {
            let error = match self.attempt(request).await {
                Ok(response) => return Ok(response),
                // A daemon that was never reached is not running. One that was reached before may be restarting.
                Err(Lost::Unreached(error)) if !was_sent => return Err(error),
                Err(Lost::Unreached(error) | Lost::Unanswered(error)) => error,
            };
            was_sent = true;
            if attempt == ATTEMPTS || !is_repeatable {
                return Err(error);
            }
            sleep(PAUSE).await;
        }
        // This line is never reached, because the loop returns after the last attempt.
        Err(Error::Run("no answer".to_owned()))
    }

    async fn attempt(&self, request: &Request) -> Result<Response, Lost> {
        // The address is read for every attempt, because a restarted daemon may have a new one.
        let (mut input, mut output) = self.connect().await.map_err(Lost::Unreached)?;
        let exchange = async {
            frames::write(&mut output, request).await?;
            input.read(LONGEST).await
        };
        let lost = |why: String| {
            let state = self.state.display();
            Lost::Unanswered(Error::Run(format!(
                "the daemon of {state} has not answered: {why}. Read its log"
            )))
        };
        match timeout(ANSWER_LIMIT, exchange).await {
            Ok(response) => response.map_err(|error| lost(error.to_string())),
            Err(_) => Err(lost(format!(
                "no answer within {} s",
                ANSWER_LIMIT.as_secs()
            ))),
        }
    }

    /// Connects to the daemon and greets it.
    async fn connect(&self) -> Result<(FrameReader<Input>, Output)> {
        let state = StateDir::open(&self.state)?;
        let stream = Destination::read(&state)?
            .connect()
            .await
            .map_err(|error| Error::Run(format!("{error}. Start it with gleaner harvest serve")))?;
        let (input, mut output) = split(stream);
        let greeting = Greeting {
            version: VERSION,
            secret: state.secret()?.text().to_owned(),
            role: Role::Client,
        };
        let greeted = frames::write(&mut output, &greeting).await;
        greeted.map_err(|error| Error::Run(format!("cannot greet the daemon: {error}")))?;
        Ok((FrameReader::new(input), output))
    }
}

type Input = ReadHalf<TlsStream<TcpStream>>;
type Output = WriteHalf<TlsStream<TcpStream>>;

/// A new id for a submission.
///
/// # Errors
/// `/dev/urandom` cannot be read.
pub fn submission_id() -> Result<String> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    let read = File::open(source).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| Error::io("read", source, error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

//! TLS between the daemon and everything that connects to it.
//!
//! The daemon has its own certificate in the state directory. Pilots and clients trust only this certificate. The
//! daemon recognises them by the secret in their first message.

use std::sync::Arc;
use std::time::Duration;

use gleaner_domain::error::{Error, Fault, Result};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsConnector, rustls};

use crate::state_dir::StateDir;

/// The name in the daemon's certificate. It is not a host name, because the daemon may move to another host.
pub const SERVER_NAME: &str = "gleaner-harvest";

/// Time limit for opening a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The only version of TLS that is used. The daemon accepts no early data, so a connection cannot be replayed.
const VERSIONS: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13];

/// TLS settings of the daemon.
///
/// # Errors
/// The certificate or its key cannot be read, or they do not match.
pub fn server_config(state: &StateDir) -> Result<Arc<ServerConfig>> {
    let key_path = state.key_path();
    let key = PrivateKeyDer::from_pem_slice(&state.read_private(&key_path)?);
    let key = key.map_err(|error| invalid_pem(&key_path, &error))?;
    let certificates = vec![certificate(state)?];
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(unusable)?;
    Ok(Arc::new(config))
}

/// TLS settings of pilots and clients, which trust only the daemon's certificate.
///
/// # Errors
/// The certificate cannot be read.
pub fn client_config(state: &StateDir) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(state)?).map_err(unusable)?;
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .map_err(unusable)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Address and certificate of the daemon.
#[derive(Debug, Clone)]
pub struct Destination {
    /// Host and port.
    pub address: String,
    config: Arc<ClientConfig>,
}

impl Destination {
    /// Reads the daemon's address and certificate.
    ///
    /// # Errors
    /// A file cannot be read. For example, the address is missing if no daemon has used the directory yet.
    pub fn read(state: &StateDir) -> Result<Self> {
        Ok(Destination {
            address: state.address()?,
            config: client_config(state)?,
        })
    }

    /// Connects to the daemon.
    ///
    /// # Errors
    /// [`Error::Run`] if no program answers at the address, or if a program other than the daemon answers.
    pub async fn connect(&self) -> Result<TlsStream<TcpStream>> {
        let address = &self.address;
        let failed =
            |why: String| Error::Run(format!("cannot connect to the daemon at {address}: {why}"));
        let limited = tokio::time::timeout(CONNECT_LIMIT, self.attempt()).await;
        match limited {
            Ok(connected) => connected.map_err(|error| failed(error.to_string())),
            Err(_) => {
                let limit = CONNECT_LIMIT.as_secs();
                Err(failed(format!("no answer within {limit} s")))
            }
        }
    }

    async fn attempt(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from(SERVER_NAME).map_err(std::io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        connector.connect(name, stream).await
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificate(state: &StateDir) -> Result<CertificateDer<'static>> {
    let path = state.certificate_path();
    let pem = std::fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    CertificateDer::from_pem_slice(&pem).map_err(|error| invalid_pem(&path, &error))
}

fn invalid_pem(path: &std::path::Path, error: &rustls::pki_types::pem::Error) -> Error {
    let fault = Fault::of(path, format!("{error}"), "a file in PEM format");
    let remedy =
        "delete cert.pem and key.pem while no daemon is running; the next daemon creates new ones";
    fault.remedy(remedy).into()
}

fn unusable(error: rustls::Error) -> Error {
    Error::Run(format!(
        "cert.pem and key.pem cannot be used: {error}; delete both while no daemon is running"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{self, FrameReader};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    /// Connects a client that trusts the certificate of `client` to a server that presents the certificate of `server`.
    /// Returns the message that the server receives.
    async fn exchange(client: &StateDir, server: &StateDir) -> Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        client.write_address(&address).unwrap();
        let acceptor = TlsAcceptor::from(server_config(server)?);
        let serve = async {
            let (stream, _) = listener.accept().await.unwrap();
            let stream = acceptor.accept(stream).await.ok()?;
            FrameReader::new(stream).read::<String>(100).await.ok()
        };
        let connect = async {
            let mut stream = Destination::read(client)?.connect().await?;
            frames::write(&mut stream, &"hello").await.unwrap();
            Ok::<_, Error>(())
        };
        let (received, sent) = tokio::join!(serve, connect);
        sent?;
        Ok(received.unwrap())
    }

    #[tokio::test]
    async fn only_the_certificate_of_the_directory_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let one = StateDir::create(&folder.path().join("one")).unwrap();
        let other = StateDir::create(&folder.path().join("other")).unwrap();
        assert_eq!(exchange(&one, &one).await.unwrap(), "hello");
        let refused = exchange(&one, &other).await.unwrap_err().to_string();
        assert!(
            refused.contains("certificate") && refused.contains("127.0.0.1:"),
            "{refused}"
        );
    }

    #[tokio::test]
    async fn a_missing_daemon_and_a_damaged_certificate_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::create(&folder.path().join("state")).unwrap();
        let missing = Destination::read(&state).unwrap_err().to_string();
        assert!(missing.contains("no daemon"), "{missing}");
        // Port 1 of the loopback interface is not in use.
        state.write_address("127.0.0.1:1").unwrap();
        let refused = Destination::read(&state).unwrap().connect().await;
        assert!(refused.unwrap_err().to_string().contains("127.0.0.1:1"));
        std::fs::write(state.certificate_path(), "nonsense").unwrap();
        let damaged = Destination::read(&state).unwrap_err();
        assert!(damaged.to_string().contains("cert.pem"), "{damaged}");
        assert_eq!(damaged.exit_code(), 3);
    }
}

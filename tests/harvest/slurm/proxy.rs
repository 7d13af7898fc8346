//! Simulates a network that can be cut, with a proxy between the daemon and everything that connects to it.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Time between two checks of the address file, and between two checks of the network's state.
const PAUSE: Duration = Duration::from_millis(10);

/// Forwards connections to the daemon. Whenever the daemon writes its address to the state directory, the proxy
/// replaces this address with its own.
pub struct Proxy {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The daemon's address.
    target: Mutex<String>,
    is_cut: AtomicBool,
    is_over: AtomicBool,
}

impl Proxy {
    /// Starts a proxy for the daemon whose address is in the file `address`, which may not exist yet.
    pub fn start(address: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = format!("{}\n", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        let (redirecting, accepting) = (Arc::clone(&shared), Arc::clone(&shared));
        thread::spawn(move || redirect(&redirecting, &address, &own));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&accepting);
                thread::spawn(move || forward(&shared, stream));
            }
        });
        Proxy { shared }
    }

    /// Cuts the network, and restores it after the time `during`. As on a real network, a connection that survives the
    /// cut loses no bytes.
    pub fn cut(&self, during: Duration) {
        self.shared.is_cut.store(true, Ordering::Relaxed);
        thread::sleep(during);
        self.shared.is_cut.store(false, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Waits while the network is cut.
    fn pass(&self) {
        while self.is_cut.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
        }
    }
}

fn redirect(shared: &Shared, address: &PathBuf, own: &str) {
    let new = address.with_extension("proxy");
    while !shared.is_over.load(Ordering::Relaxed) {
        if let Ok(text) = fs::read_to_string(address)
            && text != own
        {
            text.trim().clone_into(&mut shared.target.lock().unwrap());
            fs::write(&new, own).unwrap();
            fs::rename(&new, address).unwrap();
        }
        thread::sleep(PAUSE);
    }
}

fn forward(shared: &Arc<Shared>, client: TcpStream) {
    shared.pass();
    let target = shared.target.lock().unwrap().clone();
    // If the daemon is not running, the client's connection is closed.
    let Ok(daemon) = TcpStream::connect(target) else {
        return;
    };
    let (from, to) = (client.try_clone().unwrap(), daemon.try_clone().unwrap());
    let other = Arc::clone(shared);
    thread::spawn(move || copy(&other, from, to));
    copy(shared, daemon, client);
}

fn copy(shared: &Shared, mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 16 << 10];
    let _ = to.set_nodelay(true);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        shared.pass();
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    shared.pass();
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

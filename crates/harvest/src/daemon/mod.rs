//! The daemon: its threads, and the messages that they exchange.
//!
//! ```text
//! pilots, clients ── doors ──┐
//! backend thread ────────────┼─ messages ─> keeper: core, journal ── orders, answers, tasks ─> all of them
//! time, signals ─────────────┘                │
//!                                             └─ state ─> page, metrics
//! ```
//!
//! The keeper is one thread that owns all state. All other parts only exchange messages with it.

mod backend_thread;
mod clock;
mod decider;
mod doors;
mod dry_run;
mod keeper;
mod log;
mod roster;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};
use tokio_rustls::TlsAcceptor;

use backend_thread::BackendParts;
use clock::Clock;
use decider::Robust;
use doors::Door;
use keeper::{Keeper, Message, Parts};
use log::Refusals;
use roster::Roster;

pub use decider::exact;
pub use dry_run::dry_run;
pub use log::Log;

use crate::backend;
use crate::config::{BackendConfig, Config};
use crate::core::{Core, Millis, Repeat};
use crate::journal::Journal;
use crate::page;
use crate::state_dir::StateDir;
use crate::tls;
use crate::wire::ToPilot;

/// Maximum number of messages that wait for the keeper.
const MESSAGES: usize = 1024;

/// Time between two ticks of the keeper.
const TICK: Duration = Duration::from_millis(200);

/// Runs the daemon until it is stopped or receives SIGTERM, SIGINT or SIGHUP. A signal stops only the daemon. Tasks
/// keep running until their pilots' leases expire. A daemon that starts before these leases expire takes over the
/// tasks.
///
/// # Errors
/// The state directory is unsuitable or in use, or a setting that must not change has changed. The journal cannot be
/// written, an address is in use, or the backend cannot be used.
pub fn serve(config: &Config, state: &Path, log: &Log) -> Result<()> {
    let state = Arc::new(StateDir::create(state)?);
    let journal = Journal::open(&state.journal_path(), &config.core, Clock::start(0).now())?;
    if journal.is_empty() {
        state.forget_pilots()?;
    }
    let core = restored(&journal, config)?;
    let clock = Clock::start(core.now());
    if !journal.is_empty() {
        let (events, tasks) = (journal.len(), core.status(core.now()).tasks.len());
        let (events, tasks) = (counted(events, "event"), counted(tasks, "task"));
        log(&format!(
            "restored {tasks} from the journal and replayed {events}"
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Error::Run(format!("cannot start the daemon's threads: {e}")))?;
    let (sender, receiver) = mpsc::channel(MESSAGES);
    let (latest, watched) = watch::channel(Arc::new(core.status(clock.now())));
    let address = listen(&runtime, config, &state, log, &sender)?;
    serve_page(&runtime, config, &state, log, watched)?;
    watch_time_and_signals(&runtime, &sender)?;

    let has_pilots = Arc::new(AtomicBool::new(true));
    let (queue, thread) = backend_thread::start(BackendParts {
        backend: backend::open(&config.backend, &state)?,
        poll: config.poll,
        clock,
        log: Arc::clone(log),
        keeper: sender,
        has_pilots: Arc::clone(&has_pilots),
    })?;
    state.write_class_program(&config.class)?;
    // Pilots read the address, so it is written only when everything else is ready.
    state.write_address(&address.to_string())?;
    let keeper = Keeper::new(Parts {
        core,
        settings: config.core.clone(),
        journal,
        decider: Robust::new(config, Arc::clone(log))?,
        clock,
        log: Arc::clone(log),
        backend: queue,
        roster: Roster::new(
            config.core.lead_s,
            config.missing.as_millis() as Millis,
            clock.now(),
        ),
        welcome: welcome(config),
        container: container(config),
        recording: state.path().join("recording"),
        latest,
        has_pilots,
    });
    let end = keeper.run(receiver);
    // The keeper has dropped the queue, so the thread ends after the last command.
    let _ = thread.join();
    runtime.shutdown_timeout(Duration::from_secs(1));
    end
}

/// Restores the core from the journal's last snapshot and the entries after it.
///
/// # Errors
/// The journal cannot be read, or a setting that must not change has changed.
fn restored(journal: &Journal, config: &Config) -> Result<Core> {
    let mut core = match journal.snapshot()? {
        Some(snapshot) => Core::restore(&snapshot)?,
        None => Core::new(journal.settings().clone(), journal.begun())?,
    };
    for (number, entry) in (0_u64..).zip(journal.entries()?) {
        let entry = entry?;
        let mut repeat = Repeat(entry.decision.as_ref());
        let handled = core.handle(entry.time, &entry.event, &mut repeat);
        handled.map_err(|e| {
            Error::Run(format!(
                "entry {number} after the journal's last snapshot: {e}"
            ))
        })?;
        // The journal already contains the batches of the recording.
        core.take_recorded();
    }
    let has_pilots = !core.open_pilots().is_empty();
    let checked = config.core.check_change(core.settings(), has_pilots);
    checked.map_err(Error::Usage)?;
    Ok(core)
}

fn welcome(config: &Config) -> ToPilot {
    ToPilot::Welcome {
        lease_s: config.core.lease_s as u64,
        beat_s: config.beat_s(),
        grace_s: config.core.grace_s.ceil() as u64,
    }
}

fn container(config: &Config) -> Vec<String> {
    match &config.backend {
        BackendConfig::Local(_) => Vec::new(),
        BackendConfig::Slurm(slurm) => slurm.container.clone(),
    }
}

/// Listens for pilots and clients.
fn listen(
    runtime: &Runtime,
    config: &Config,
    state: &StateDir,
    log: &Log,
    keeper: &mpsc::Sender<Message>,
) -> Result<SocketAddr> {
    let (listener, address) = bind(runtime, config.listen)?;
    if address.ip().is_loopback() && matches!(config.backend, BackendConfig::Slurm(_)) {
        log(
            "only pilots on this host can connect: set `listen` to an address that the nodes can reach",
        );
    }
    let door = Door {
        tls: TlsAcceptor::from(tls::server_config(state)?),
        secret: state.secret()?,
        refusals: Refusals::new(Arc::clone(log)),
        keeper: keeper.clone(),
    };
    runtime.spawn(doors::listen(listener, Arc::new(door)));
    log(&format!("listening at {address}"));
    Ok(address)
}

/// Serves the page and the metrics.
fn serve_page(
    runtime: &Runtime,
    config: &Config,
    state: &StateDir,
    log: &Log,
    latest: page::Latest,
) -> Result<()> {
    let (listener, address) = bind(runtime, config.page)?;
    let url = page::url(address);
    log(&format!("the status page is at {url}"));
    let file = state.path().join("page");
    std::fs::write(&file, format!("{url}\n")).map_err(|e| Error::io("write", &file, e))?;
    let log = Arc::clone(log);
    runtime.spawn(async move {
        if let Err(error) = page::serve(listener, latest).await {
            log(&format!("the status page is no longer served: {error}"));
        }
    });
    Ok(())
}

fn bind(runtime: &Runtime, address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let bound = runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    bound.map_err(|e: std::io::Error| Error::Run(format!("cannot listen on {address}: {e}")))
}

/// Sends ticks and signals to the keeper.
fn watch_time_and_signals(runtime: &Runtime, keeper: &mpsc::Sender<Message>) -> Result<()> {
    const REASON: &str = "ended by a signal: tasks keep running until their pilots' leases expire; start the daemon \
                          again to take them over, or use `gleaner harvest stop` to stop them";
    let ticks = keeper.clone();
    runtime.spawn(async move {
        let mut interval = interval(TICK);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            // A tick may be dropped if the queue is full, because a later tick has the same effect.
            let _ = ticks.try_send(Message::Tick);
        }
    });
    let _inside = runtime.enter();
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ] {
        let mut signals =
            signal(kind).map_err(|e| Error::Run(format!("cannot catch signals: {e}")))?;
        let keeper = keeper.clone();
        runtime.spawn(async move {
            if signals.recv().await.is_some() {
                let _ = keeper.send(Message::End(REASON)).await;
            }
        });
    }
    Ok(())
}

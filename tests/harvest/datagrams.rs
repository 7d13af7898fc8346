//! Tests that a datagram to a rank's port counts only if it comes from the rank's own node.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};

use crate::support::Harvest;

/// Environment variable that is set only in the process that has its own network namespace.
const INSIDE: &str = "HARVEST_TEST_NAMESPACE";

/// Arguments of `unshare` for a new network namespace. They require no privileges if users may create namespaces.
const NAMESPACE: [&str; 2] = ["--map-root-user", "--net"];

/// Address of the test's node in the network that connects the two namespaces.
const NEAR: &str = "10.77.0.1";

/// Address of the other node.
const FAR: &str = "10.77.0.2";

/// Script that connects this namespace with the namespace of the process `$1`. The kernel usually drops packets that
/// another node sends to 127.0.0.1. With `route_localnet`, which some sites set for their containers, they arrive.
const CONNECT: &str = "
set -e
ip link set lo up
echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet
ip link add near type veth peer name far netns $1
ip address add $2/24 dev near
ip link set near up
for words in \"address add $3/24 dev far\" 'link set far up' \"route add 127.0.0.1/32 via $2\"; do
    nsenter --target $1 --net --preserve-credentials ip $words
done
";

/// A process on another node: its network namespace is connected to the test's namespace.
struct Stranger(Child);

impl Stranger {
    /// Starts the process. Returns `None` if the system does not allow such namespaces.
    fn start() -> Option<Self> {
        let mut command = Command::new("unshare");
        // The process prints a line once it has its own namespace.
        command.args(["--net", "sh", "-c", "echo; exec sleep 600"]);
        let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        let _ = BufReader::new(child.stdout.take()?).read_line(&mut line);
        let stranger = Stranger(child);
        let mut connect = Command::new("sh");
        connect.args(["-c", CONNECT, "connect", &stranger.pid(), NEAR, FAR]);
        let is_connected = connect.status().is_ok_and(|status| status.success());
        is_connected.then_some(stranger)
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    fn send(&self, text: &str, host: &str, port: u16) {
        let script = "printf %s \"$1\" > \"/dev/udp/$2/$3\"";
        let port = port.to_string();
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.pid(), "--net", "--preserve-credentials"]);
        command.args(["bash", "-c", script, "send", text, host, &port]);
        assert!(command.status().unwrap().success());
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn datagrams_from_another_node_are_refused() {
    if std::env::var_os(INSIDE).is_some() {
        return send_datagrams();
    }
    // The test starts itself again in a new network namespace, so that it cannot disturb the network of this machine.
    let mut probe = Command::new("unshare");
    let probe = probe.args(NAMESPACE).arg("true").stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        return skip();
    }
    let mut inside = Command::new("unshare");
    inside.args(NAMESPACE).arg(std::env::current_exe().unwrap());
    inside.args([
        "--exact",
        "--nocapture",
        "datagrams::datagrams_from_another_node_are_refused",
    ]);
    assert!(inside.env(INSIDE, "1").status().unwrap().success());
}

fn skip() {
    eprintln!("skipped: network namespaces cannot be created and connected here");
}

fn send_datagrams() {
    let Some(stranger) = Stranger::start() else {
        return skip();
    };
    let harvest = Harvest::start(1);
    harvest.submit_text(
        "[[task]]\nname = \"a\"\nmin_nodes = 1\nmax_nodes = 1\nrescale_up = 1\nrescale_down = 1\n\
         command = [\"sh\", \"-c\", \"echo $GLEANER_UDP > udp.part; mv udp.part udp; exec sleep 600\"]\n",
    );
    let written = harvest.state().join("tasks/a/udp");
    harvest.wait("address", |_| written.exists());
    let address = fs::read_to_string(written).unwrap();
    let address: SocketAddr = address.trim().parse().unwrap();

    let text = "id:0 time:1.5 rank_size:1 credit:64 jobname:a";
    // The first datagram is lost, because nothing listens on the address that other nodes use for this node.
    stranger.send(text, NEAR, address.port());
    stranger.send(text, "127.0.0.1", address.port());
    let log = harvest.state().join("logs/a.1.0.log");
    harvest.wait("refusal", |_| {
        let log = fs::read_to_string(&log).unwrap();
        log.contains(&format!("it came from {FAR}:"))
    });
    let own = UdpSocket::bind("127.0.0.1:0").unwrap();
    own.send_to(text.as_bytes(), address).unwrap();
    harvest.wait("progress", |harvest| harvest.task_field("a", "done") != 0.0);
    // Datagrams to the rank's port are handled in order, so the earlier datagrams have also been handled, and were not
    // counted.
    assert_eq!(harvest.task_field("a", "done"), 64.0);
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 1);
    assert!(!harvest.log().contains("panicked"), "{}", harvest.log());
}

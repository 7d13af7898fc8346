//! Tests the status page, both as served by the daemon and as written to a file.

use std::ffi::OsStr;
use std::fs;

use gleaner_testing::check_in_browser;

use crate::support::Harvest;

#[test]
fn the_page_answers_reads_only() {
    let harvest = Harvest::start(1);
    let page = harvest.http("GET", "/", "localhost");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'"));
    let status = harvest.http("GET", "/status.json", "127.0.0.1:80");
    assert!(status.contains("\"mode\":\"running\""), "{status}");
    let metrics = harvest.http("GET", "/metrics", "[::1]");
    assert!(metrics.contains("\ngleaner_nodes_held "), "{metrics}");
    let secret = fs::read_to_string(harvest.state().join("secret")).unwrap();
    for answer in [&page, &status, &metrics] {
        assert!(!answer.contains(secret.trim()));
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = harvest.http(method, "/status.json", "localhost");
        assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    }
    let answer = harvest.http("GET", "/status.json", "evil.example");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let answer = harvest.http("GET", "/secret", "localhost");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
}

#[test]
fn the_page_works_in_a_browser() {
    let harvest = Harvest::start(2);
    harvest.submit(&[(
        "a-task-with-a-long-name-that-has-to-be-wrapped",
        1,
        2,
        100_000,
    )]);
    harvest.wait("work", |harvest| harvest.steps() > 3);
    let url = fs::read_to_string(harvest.state().join("page")).unwrap();
    let still = harvest.path("page.html");
    harvest.text(&["status", "--page", still.to_str().unwrap()]);
    check_in_browser(
        "check-harvest.py",
        &[OsStr::new(url.trim()), still.as_os_str()],
    );
}

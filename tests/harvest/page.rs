//! The status page, live and as a file.

use std::fs;
use std::process::Command;

use gleaner_testing::workspace;

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

/// The script's exit code if there is no Chromium.
const SKIPPED: i32 = 77;

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
    let script = workspace().join("scripts/check-harvest.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(url.trim())
        .arg(still)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(SKIPPED) => eprintln!("{told}"),
        code => assert_eq!(
            code,
            Some(0),
            "{told}\n{}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

//! The status page and the metrics: a small, read-only web server on the loopback interface.
//!
//! | path | content |
//! |---|---|
//! | `/` | the page, which requests `/status.json` every two seconds |
//! | `/status.json` | the [`Status`] |
//! | `/metrics` | the metrics for Prometheus |

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::metrics;
use crate::status::Status;

const HTML: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// Content security policy, which prevents the page from loading anything from other servers.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The latest state, which the daemon updates.
pub type Latest = watch::Receiver<Arc<Status>>;

/// Serves the page until the listener fails.
///
/// # Errors
/// The listener fails.
pub async fn serve(listener: TcpListener, latest: Latest) -> std::io::Result<()> {
    axum::serve(listener, routes(latest)).await
}

fn routes(latest: Latest) -> Router {
    Router::new()
        .route("/", get(|| async { Html(page("null")) }))
        .route("/status.json", get(status))
        .route("/metrics", get(metrics_text))
        .layer(middleware::from_fn(guard))
        .with_state(latest)
}

async fn status(State(latest): State<Latest>) -> Json<Status> {
    let status = Status::clone(&latest.borrow());
    Json(status)
}

async fn metrics_text(State(latest): State<Latest>) -> impl IntoResponse {
    let status = Arc::clone(&latest.borrow());
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], metrics::text(&status))
}

/// Refuses requests for other hosts, and adds security headers to all answers.
///
/// Without this check, another site could make its host name resolve to the loopback address, and read the answers in
/// the user's browser (DNS rebinding). The browser still sends the site's host name in the `Host` header.
async fn guard(request: Request, next: Next) -> Response {
    let mut response = if is_own_host(request.headers()) {
        next.run(request).await
    } else {
        let text = "unexpected host name: open this page at localhost or at a loopback address such as 127.0.0.1\n";
        (StatusCode::FORBIDDEN, text).into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether the host of a request is `localhost` or a loopback address. Any port is accepted, because the port may be
/// forwarded.
fn is_own_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
    else {
        return false;
    };
    let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || address
            .parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// The page with an embedded state. It can be viewed without a daemon.
pub fn still(status: &Status) -> String {
    // Serialisation always succeeds, because all keys are strings.
    let json = serde_json::to_string(status).unwrap_or_else(|_| "null".to_owned());
    // In HTML, `<` could end the element that contains the data. In JSON, it occurs only in strings,
    // where it can be escaped.
    page(&json.replace('<', "\\u003c"))
}

fn page(data: &str) -> String {
    // The data is inserted last, so that its content is not searched for the other placeholders.
    let page = HTML.replacen("/*CSS*/", CSS, 1).replacen("/*JS*/", JS, 1);
    page.replacen("/*DATA*/", data, 1)
}

/// The URL of the page at an address.
pub fn url(address: SocketAddr) -> String {
    format!("http://{address}/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::TaskStatus;

    #[test]
    fn data_cannot_leave_its_element() {
        let task = TaskStatus {
            name: "</script><script>alert(1)</script>/*JS*/".into(),
            groups: Vec::new(),
            state: "active".into(),
            nodes: 0,
            running: 0,
            done: 0.0,
            work: None,
            generation: 0,
            rates: Vec::new(),
            reason: None,
        };
        let status = Status {
            tasks: vec![task],
            ..Status::default()
        };
        let page = still(&status);
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains("\\u003c/script>"));
        assert!(page.contains("/*JS*/"));
    }

    #[test]
    fn the_page_loads_nothing_and_inserts_only_text() {
        for forbidden in [
            "http://",
            "https://",
            "//cdn",
            "innerHTML",
            "eval(",
            "document.write",
        ] {
            assert!(!page("null").contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn only_loopback_hosts_are_served() {
        let is_own = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            is_own_host(&headers)
        };
        for host in [
            "localhost",
            "localhost:80",
            "127.0.0.1:7118",
            "[::1]:80",
            "127.0.0.1",
        ] {
            assert!(is_own(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "10.0.0.1:80",
            "",
        ] {
            assert!(!is_own(host), "{host}");
        }
        assert!(!is_own_host(&HeaderMap::new()));
    }
}

//! Tests the HTML file of a page, and the files of its pictures.

use std::fs;

use super::support::{Figures, HOSTILE, gleaner, packed, page, replays, simulation};

#[test]
fn a_page_is_complete_and_loads_nothing_from_a_network() {
    let directory = replays();
    let page = page(directory.path(), "short");
    assert!(page.len() < 2_500_000, "{} bytes", page.len());
    assert!(page.starts_with("<!doctype html>"));
    for foreign in [
        "src=\"",
        "href=\"http",
        "<link",
        "<iframe",
        "@import",
        "url(",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains("content=\"default-src 'none';"));
    assert!(packed(&page, "library").contains("MIT license"));
    let ids = [
        "nodes",
        "spent",
        "throughput",
        "completion",
        "fragments-short",
        "tasks-short",
        "holds-short",
    ];
    assert_eq!(Figures::of(&page).ids(), ids);
    for told in ["idle.csv", "t-fwd", "SHA-256", "efficiency"] {
        assert!(page.contains(told), "{told}");
    }
}

#[test]
fn hostile_names_are_escaped() {
    let directory = replays();
    let path = directory.path();
    let page = page(path, "short long");
    assert!(!page.contains("<img") && !page.contains(HOSTILE));
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
    assert!(packed(&page, "figures").contains("<img src=x"));
    gleaner(path, "report short --svg pictures").expect(0);
    let svg = fs::read_to_string(path.join("pictures/tasks-short.svg")).unwrap();
    assert!(svg.contains("&lt;/script&gt;") && !svg.contains("<img"));
}

#[test]
fn a_hostile_run_directory_is_shown_as_text() {
    let directory = replays();
    let path = directory.path();
    let name = "<img src=x onerror=alert(1)>\u{202e}";
    fs::rename(path.join("short"), path.join(name)).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gleaner"))
        .current_dir(path)
        .args(["report", name, "-o", "page.html", "--svg", "pictures"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let page = fs::read_to_string(path.join("page.html")).unwrap();
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    for entry in fs::read_dir(path.join("pictures")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        assert!(name.chars().all(plain), "{name}");
    }
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let directory = replays();
    let path = directory.path();
    for out in ["a", "b"] {
        let line = format!("report short long -o {out}.html --svg {out} --png {out}");
        gleaner(path, &line).expect(0);
    }
    let read = |name: &str| fs::read(path.join(name)).unwrap();
    assert_eq!(read("a.html"), read("b.html"));
    let mut pictures = 0;
    for entry in fs::read_dir(path.join("a")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert_eq!(
            read(&format!("a/{name}")),
            read(&format!("b/{name}")),
            "{name}"
        );
        pictures += 1;
    }
    assert_eq!(pictures, 18);
}

#[test]
fn pictures_have_the_format_of_their_names() {
    let directory = simulation();
    let path = directory.path();
    gleaner(path, "report sim --svg out --png out").expect(0);
    for id in [
        "jct-sim",
        "queuing-sim",
        "vcs-sim",
        "utilisation-sim",
        "waiting-sim",
    ] {
        let png = fs::read(path.join(format!("out/{id}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{id}");
        let svg = fs::read_to_string(path.join(format!("out/{id}.svg"))).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"),
            "{id}"
        );
    }
}

#[test]
fn replays_and_simulations_share_a_page() {
    let (replays, simulation) = (replays(), simulation());
    let line = format!(
        "{} short {}",
        "long",
        simulation.path().join("sim").display()
    );
    let page = page(replays.path(), &line);
    for told in [
        "3 runs",
        "Replays side by side",
        "Replay short",
        "Policies compared",
        "points",
    ] {
        assert!(page.contains(told), "{told}");
    }
}

#[test]
fn a_page_or_pictures_must_be_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    gleaner(directory.path(), "report run")
        .expect(2)
        .says(&["--output", "--svg", "--png"]);
    gleaner(directory.path(), "report -o page.html")
        .expect(2)
        .says(&["RUN"]);
}

//! Tests that `gleaner explain` escapes characters that control terminals or browsers in names from files.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::support::run;

/// A name that turns text red and changes the direction of the text after it.
const HOSTILE: &str = "\u{1b}[31mred\u{9b}2J\u{202e}\u{2066}\u{200f}\u{2028}end";
/// The same name, as it must be shown.
const SHOWN: &str = "\\u{1b}[31mred\\u{9b}2J\\u{202e}\\u{2066}\\u{200f}\\u{2028}end";

/// Whether a character controls terminals or changes the direction of text.
fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || ('\u{200e}'..='\u{200f}').contains(&c)
        || ('\u{2028}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// Asserts that a text shows the escaped name and contains no control character.
#[track_caller]
fn is_plain(text: &str) {
    let obeyed = text.chars().find(|c| is_obeyed(*c));
    assert_eq!(obeyed, None, "{text}");
    assert!(text.contains(SHOWN), "{text}");
}

/// Writes a trace with a user, a job and a workload named [`HOSTILE`].
fn trace(directory: &Path) {
    let mut jobs =
        "job_id,user,vc,jobname,gpu_num,submit_time,duration,model,dataset,batchsize,amp,\
                    speed,gpu_util,gmem_util,gmem\n"
            .to_owned();
    for k in 0..200 {
        let user = if k % 2 == 0 { HOSTILE } else { "ann" };
        let id = if k == 0 {
            HOSTILE.to_owned()
        } else {
            k.to_string()
        };
        let seconds = if k % 2 == 0 { 60 } else { 6_000 };
        jobs += &format!(
            "\"{id}\",\"{user}\",a,\"{HOSTILE}\",1,{},{seconds},\"{HOSTILE}\",d,64,0,1,50,20,2000\n",
            k * 5_000
        );
    }
    fs::write(directory.join("jobs.csv"), jobs).unwrap();
    fs::write(directory.join("vc_config.csv"), "vc,num\na,1\n").unwrap();
    let mut profiles =
        "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n".to_owned();
    for k in 0..12 {
        let model = if k == 0 { HOSTILE } else { "m" };
        profiles += &format!(
            "\"{model}\",d,{},0,1,{},20,2000,{}\n",
            64 + k,
            8 * k,
            k / 6 * 2
        );
    }
    fs::write(directory.join("single_data.csv"), profiles).unwrap();
    let pairs = "dataset1,model1,batchsize1,amp1,speed1,dataset2,model2,batchsize2,amp2,speed2,\
                 gpu_util,gmem\nd,m,65,0,0.9,d,m,66,0,0.9,50,4000\n";
    fs::write(directory.join("colocate_info.csv"), pairs).unwrap();
}

#[test]
fn names_are_escaped_on_the_terminal_and_on_pages() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    trace(directory.path());
    let (data, models) = (directory.path().display().to_string(), at("models"));
    run(&[
        "train", "workload", "packing", "--data", &data, "-o", &models,
    ])
    .expect(0);
    let explain = |kind: &str, more: &[&str]| {
        let model = at(&format!("models/{kind}.json"));
        let out = run(&[&["explain", model.as_str()], more].concat()).expect(0);
        assert!(!out.err.chars().any(is_obeyed), "{}", out.err);
        out.out
    };
    let ebm = ["--estimator", "ebm"];
    let job = ["--job", HOSTILE, "--data", &data];
    let term = [&ebm[..], &["--term", "user"]].concat();
    let by_ebm = [&ebm[..], &job].concat();
    let by_history = [&["--estimator", "history"][..], &job].concat();
    let workload = ["--row", "1", "--data", &data];
    for (kind, more) in [
        ("workload", &term),
        ("workload", &by_ebm),
        ("workload", &by_history),
        // Row 1 is the workload named `HOSTILE`.
        ("packing", &workload.to_vec()),
    ] {
        let text = explain(kind, more);
        is_plain(&text);
        let json = explain(kind, &[more, &["--json"][..]].concat());
        assert!(!json.chars().any(is_obeyed), "{json}");
        let page = at("page.html");
        explain(kind, &[more, &["-o", &page][..]].concat());
        let page = fs::read_to_string(page).unwrap();
        // Only the body is searched. The chart library and the styles precede it.
        let body = &page[page.find("<body").unwrap()..];
        assert!(body.contains(SHOWN), "{kind} {more:?}");
        assert!(
            !body.contains('\u{1b}') && !body.contains('\u{202e}'),
            "{kind}"
        );
    }
    // In JSON output, which programs read, a parsed name equals the original name.
    let json: Value =
        serde_json::from_str(&explain("workload", &[&term[..], &["--json"]].concat())).unwrap();
    let cells = json["terms"][0]["cells"].as_array().unwrap();
    assert!(
        cells.iter().any(|cell| cell["bins"][0] == HOSTILE),
        "{json}"
    );
    // The term for a pair of features, one of which is the user, is also escaped.
    let names = explain("workload", &ebm);
    let pair = names.lines().find(|line| line.starts_with("user & "));
    let pair = pair.map(|line| line.split("  ").next().unwrap());
    if let Some(pair) = pair {
        is_plain(&explain(
            "workload",
            &[&ebm[..], &["--term", pair]].concat(),
        ));
    }
    let evaluated = run(&["evaluate", "packing", "--data", &data]).expect(0);
    is_plain(&evaluated.out);
}

//! Tests the readers on the published data. The golden values were computed from the data with pandas.

use gleaner_domain::EventLog;
use gleaner_inputs::write::events::{Layout, write};
use gleaner_inputs::{events, tasks};

use super::support::published;

fn summit() -> Option<EventLog> {
    let path = published("ndstat-10sdn6-evt.tar.gz")?;
    Some(events::read(&path).unwrap().value)
}

#[test]
fn the_summit_log_is_read_whole() {
    let Some(log) = summit() else { return };
    assert_eq!((log.nodes().len(), log.len()), (4_734, 23_883));
    assert_eq!(
        log.times()[0].at_offset(0).to_string(),
        "2021-02-10 00:08:52"
    );
    assert_eq!(
        log.times()[log.len() - 1].at_offset(0).to_string(),
        "2021-02-24 22:19:29"
    );
    assert_eq!(log.change_count(), 846_856);
    let fragments = log
        .rows()
        .flat_map(|(_, changes)| changes)
        .filter(|c| c.idle())
        .count();
    assert_eq!(fragments, 423_502);
    // The mean number of idle nodes is 411.6 over the rows, but 391.4 when weighted by time.
    let mut idle = 0i64;
    let mut sum = 0i64;
    for (_, changes) in log.rows() {
        idle += changes
            .iter()
            .map(|c| if c.idle() { 1 } else { -1 })
            .sum::<i64>();
        sum += idle;
    }
    assert_eq!((sum as f64 / log.len() as f64).round(), 412.0);
    let span = log.times()[log.len() - 1].seconds_since(log.times()[0]);
    assert!((log.idle_node_seconds() / span - 391.377_190_975).abs() < 1e-6);
}

/// The sample `imagenet.toml` has the curves of BFTrainer's task files, and their mean rescale costs.
#[test]
fn the_sample_of_imagenet_trainings_is_bftrainers() {
    let of = |part: &str| published(&format!("ImageNet-imgps-{part}-1001J.pkl"));
    let Some((bounds, curves)) = of("Jbnd").zip(of("JNPs")) else {
        return;
    };
    let theirs = tasks::read(&bounds, Some(&curves), false)
        .unwrap()
        .value
        .tasks;
    let sample = gleaner_testing::workspace().join("dataset/imagenet.toml");
    let ours = tasks::read(&sample, None, false).unwrap().value.tasks;
    for task in &ours {
        let name = |other: &str| other.split_once('-').map(|(_, name)| name.to_lowercase());
        let of_same =
            |other: &&gleaner_domain::TrainingTask| name(&other.name) == Some(task.name.clone());
        let found = theirs.iter().find(of_same).unwrap();
        assert_eq!(task.curve.nodes, found.curve.nodes, "{}", task.name);
        assert_eq!(task.curve.progress, found.curve.progress, "{}", task.name);
        assert_eq!(
            (task.min_nodes, task.max_nodes),
            (found.min_nodes, found.max_nodes)
        );
    }
    assert_eq!(ours.len(), 7);
    let mean = |cost: fn(&gleaner_domain::TrainingTask) -> f64| {
        theirs.iter().map(cost).sum::<f64>() / theirs.len() as f64
    };
    assert_eq!(mean(|task| task.rescale_up).round(), ours[0].rescale_up);
    assert_eq!(mean(|task| task.rescale_down).round(), ours[0].rescale_down);
}

#[test]
fn the_summit_log_survives_every_form() {
    let Some(log) = summit() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, layout) in [
        ("log.gev", Layout::Long),
        ("long.csv", Layout::Long),
        ("wide.csv", Layout::Wide),
        ("long.parquet", Layout::Long),
        ("wide.parquet", Layout::Wide),
    ] {
        let path = folder.path().join(name);
        write(&log, &path, layout, None).unwrap();
        let back = events::read(&path).unwrap().value;
        assert!(back == log, "{name}");
    }
}

#[test]
fn all_published_tasks_are_sound() {
    for (set, count) in [
        ("ImageNet-imgps-{}-1001J.pkl", 1001),
        ("ImageNet-spdup-{}-1001J.pkl", 1001),
        ("hps-shufflenet-{}-1000J.pkl", 1000),
        ("hps-shufflenet-{}-10J.pkl", 10),
    ] {
        let (Some(bounds), Some(curves)) = (
            published(&set.replace("{}", "Jbnd")),
            published(&set.replace("{}", "JNPs")),
        ) else {
            return;
        };
        let loaded = tasks::read(&bounds, Some(&curves), false).unwrap();
        assert_eq!(loaded.value.tasks.len(), count, "{set}");
        assert_eq!(loaded.notes, Vec::<String>::new());
        assert_eq!(loaded.sources.len(), 2);
        let first = &loaded.value.tasks[0];
        assert_eq!(first.submit.at_offset(0).to_string(), "2021-02-10 20:21:15");
        assert_eq!(
            (first.min_nodes, first.max_nodes, first.work),
            (1, 64, 1.3e8)
        );
        assert_eq!(*first.curve.nodes, [0, 1, 2, 4, 8, 16, 32, 64]);
    }
}

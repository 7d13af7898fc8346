//! A progress bar for work that takes longer than a second, shown only on terminals.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Shows the progress of a loop, unless stderr is not a terminal or the option --quiet is given.
pub struct Progress {
    begun: Instant,
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl Progress {
    /// Creates a bar that appears after a second, unless `quiet` is set.
    pub fn new(quiet: bool) -> Self {
        Progress {
            begun: Instant::now(),
            bar: None,
            quiet,
        }
    }

    /// Shows that `done` of `total` events are complete.
    pub fn update(&mut self, done: usize, total: usize) {
        if self.quiet {
            return;
        }
        if self.bar.is_none() && self.begun.elapsed() > Duration::from_secs(1) {
            // indicatif draws to stderr, and only if stderr is a terminal.
            let style = ProgressStyle::with_template("{bar:40} {pos}/{len}, {eta} left{msg}");
            let bar = ProgressBar::new(total as u64);
            self.bar = Some(style.map_or(bar.clone(), |style| bar.with_style(style)));
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
    }

    /// Shows `words`, a short note about the loop, after the bar.
    pub fn say(&mut self, words: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("; {words}"));
        }
    }

    /// Runs `print` with the progress bar hidden.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

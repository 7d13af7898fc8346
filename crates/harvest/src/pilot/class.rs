//! Determines the class of the pilot's node.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::say;
use crate::state_dir::StateDir;

/// Time limit for the program that prints the class.
const LIMIT: Duration = Duration::from_secs(30);

/// Maximum number of characters in the name of a class.
const LONGEST: usize = 100;

/// Environment variable with the class of the node.
pub(super) const VARIABLE: &str = "GLEANER_CLASS";

/// Returns `given` if it is set. Otherwise, the class is the first line that the program in the daemon's settings
/// prints or, without such a program, the value of `GLEANER_CLASS`. `None` if the class is unknown. The daemon decides
/// whether it needs the class.
pub(super) async fn find(given: Option<&str>, state: &StateDir) -> Option<String> {
    let found = match given {
        Some(class) => Some(class.to_owned()),
        None => match state.class_program() {
            Ok(words) if words.is_empty() => std::env::var(VARIABLE).ok(),
            Ok(words) => print(&words).await,
            Err(error) => {
                say(&error.to_string());
                None
            }
        },
    };
    let class: String = found?.trim().chars().take(LONGEST).collect();
    Some(class).filter(|class| !class.is_empty())
}

/// The first line that a program prints.
async fn print(words: &[String]) -> Option<String> {
    let failed = |why: String| {
        say(&format!(
            "the class of the node is unknown: {}: {why}",
            words.join(" ")
        ));
        None
    };
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    match timeout(LIMIT, command.output()).await {
        Ok(Ok(output)) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Some(text.lines().next().unwrap_or_default().to_owned())
        }
        Ok(Ok(output)) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            failed(format!("{}: {}", output.status, errors.trim()))
        }
        Ok(Err(error)) => failed(error.to_string()),
        Err(_) => failed(format!("it did not end within {} seconds", LIMIT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(given: Option<&str>, program: &[&str]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::create(&folder.path().join("state")).unwrap();
        let words: Vec<String> = program.iter().map(|&word| word.to_owned()).collect();
        state.write_class_program(&words).unwrap();
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(find(given, &state))
    }

    #[test]
    fn the_class_is_given_or_the_first_line_of_the_program() {
        let program = ["printf", " NVIDIA A100 \nNVIDIA A100\n"];
        assert_eq!(found(None, &program).as_deref(), Some("NVIDIA A100"));
        assert_eq!(found(Some("v100"), &program).as_deref(), Some("v100"));
        let long = "x".repeat(101);
        assert_eq!(found(Some(&long), &[]).unwrap().len(), LONGEST);
    }

    #[test]
    fn a_program_that_fails_or_prints_nothing_gives_no_class() {
        for program in [
            &["sh", "-c", "echo a; exit 1"][..],
            &["true"],
            &["no-such-program"],
        ] {
            assert_eq!(found(None, program), None, "{program:?}");
        }
    }
}

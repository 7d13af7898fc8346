//! `gleaner man`: writes the manual pages of the program and of every subcommand.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::{command, remark};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_io::files;

/// Write the manual pages of all commands.
///
/// A page contains the text of --help. `make install` writes the pages to share/man/man1 under its prefix.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Example:\n  \
    gleaner man ~/.local/share/man/man1\n  \
    man gleaner-replay")]
pub struct Args {
    /// Directory for the pages, created if missing.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// The directory cannot be created, or a page cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let directory = &args.directory;
    fs::create_dir_all(directory).map_err(|error| Error::io("create", directory, error))?;
    let mut program = command().disable_help_subcommand(true);
    program.build();
    let pages = pages(&program, None);
    for page in &pages {
        let path = directory.join(format!("{}.1", page.name));
        let text = page.render();
        let text = text.map_err(|error| Error::io("write", &path, error))?;
        files::write_bytes(&path, &text)?;
    }
    remark(&[format!(
        "{}: {}",
        directory.display(),
        counted(pages.len(), "manual page")
    )]);
    Ok(())
}

/// The manual page of a command.
struct Page<'a> {
    /// Name such as `gleaner-ingest-slurm`.
    name: String,
    /// The command, after clap has built it.
    command: &'a Command,
    /// Name of the parent command's page.
    parent: Option<String>,
}

/// The pages of a command and of all its subcommands.
fn pages<'a>(command: &'a Command, parent: Option<&str>) -> Vec<Page<'a>> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let page = Page {
        name: name.to_owned(),
        command,
        parent: parent.map(str::to_owned),
    };
    let below = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let below = below.flat_map(|sub| pages(sub, Some(name)));
    std::iter::once(page).chain(below).collect()
}

impl Page<'_> {
    /// The page in troff.
    fn render(&self) -> io::Result<Vec<u8>> {
        // A quoted empty argument. The renderer would drop an unquoted one, and thus shift the arguments after it.
        const NO_DATE: &str = "\"\"";
        let man = Man::new(self.command.clone())
            .date(NO_DATE)
            .source(concat!("Gleaner ", env!("CARGO_PKG_VERSION")))
            .manual("Gleaner Manual");
        let mut out = Vec::new();
        man.render_title(&mut out)?;
        man.render_name_section(&mut out)?;
        man.render_synopsis_section(&mut out)?;
        man.render_description_section(&mut out)?;
        man.render_options_section(&mut out)?;
        if self.command.has_subcommands() {
            man.render_subcommands_section(&mut out)?;
        }
        let after = self.command.get_after_long_help();
        let after = after.or_else(|| self.command.get_after_help());
        for text in after.into_iter().chain(self.command.get_before_help()) {
            sections(&text.to_string()).to_writer(&mut out)?;
        }
        if let Some(parent) = &self.parent {
            see_also(parent).to_writer(&mut out)?;
        }
        Ok(out)
    }
}

/// Divides the text after the options into sections. A line that ends in a colon is a section heading if an indented
/// line follows. Indented lines are kept unchanged; other lines are reflowed.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut is_literal = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let literal = line.strip_prefix("  ");
        if literal.is_some() != is_literal {
            is_literal = literal.is_some();
            roff.control(if is_literal { "EX" } else { "EE" }, []);
        }
        let is_heading = lines.peek().is_some_and(|next| next.starts_with("  "));
        match (literal, line.strip_suffix(':')) {
            (Some(line), _) => roff.text([roman(line)]),
            (None, Some(heading)) if is_heading => {
                roff.control("SH", [heading.to_uppercase().as_str()])
            }
            (None, _) if line.is_empty() => roff.control("PP", []),
            (None, _) => roff.text([roman(line)]),
        };
    }
    if is_literal {
        roff.control("EE", []);
    }
    roff
}

fn see_also(parent: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold(parent), roman("(1)")]);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_lines_stay_and_headings_end_in_a_colon() {
        let text =
            "Exit codes:\n  0  done\n\nA colon: here.\nOr here:\n\nExamples:\n  a \\\n    .b";
        let expected = ".SH \"EXIT CODES\"\n.EX\n0  done\n.EE\n.PP\nA colon: here.\nOr here:\n.PP\n\
                        .SH EXAMPLES\n.EX\na \\\\\n  .b\n.EE\n";
        assert_eq!(sections(text).to_roff(), expected);
    }
}

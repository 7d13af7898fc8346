//! Starts and watches programs, and ends them together with everything that they started.
//!
//! A program runs in its own process group and, where possible, in its own control group. A mark in the program's
//! environment identifies the processes that the program starts outside its group. A watcher ends the program if this
//! process is killed. The program's output is read line by line, and the length of a line is limited.

mod cgroup;
mod find;
mod lines;
mod marked;
mod process;
mod socket_folders;
mod stop;
mod tail;
mod watcher;

pub use cgroup::{Cgroup, Cgroups};
pub use find::{find_program, is_executable};
pub use lines::{LONGEST_LINE, Line, read_lines};
pub use process::{Process, kill_all};
pub use socket_folders::{SocketFolder, SocketFolders};
pub use stop::{is_stopping, stop};
pub use tail::Tail;

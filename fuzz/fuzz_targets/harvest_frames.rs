//! Any input is either read as the messages of a connection or rejected. Each message that was read can be written, and
//! reading it again gives the same message.
#![no_main]

use std::fmt::Debug;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use gleaner_harvest::frames::{FrameError, FrameReader, LONGEST_GREETING, to_line};
use gleaner_harvest::task_file;
use gleaner_harvest::wire::{FromPilot, Greeting, LONGEST, Request, Role, ToPilot};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|bytes: &[u8]| {
    read_as_daemon(bytes);
    let mut reader = FrameReader::new(bytes);
    while checked::<ToPilot>(&mut reader, LONGEST).is_ok() {}
});

/// Reads the greeting, and then the messages of a pilot or of a client.
fn read_as_daemon(bytes: &[u8]) {
    let mut reader = FrameReader::new(bytes);
    match checked::<Greeting>(&mut reader, LONGEST_GREETING).map(|greeting| greeting.role) {
        Ok(Role::Pilot(_)) => while checked::<FromPilot>(&mut reader, LONGEST).is_ok() {},
        Ok(Role::Client) => {
            while let Ok(request) = checked(&mut reader, LONGEST) {
                if let Request::Submit { tasks, search, .. } = request {
                    let _ = tasks.iter().try_for_each(task_file::check);
                    let _ = search.map(|search| search.check());
                }
            }
        }
        Err(_) => {}
    }
}

/// Reads a message, and checks that it stays the same when it is written and read again.
fn checked<T>(reader: &mut FrameReader<&[u8]>, longest: usize) -> Result<T, FrameError>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let message: T = read(reader, longest)?;
    let line = to_line(&message).expect("the message that was read can be written");
    let again: T = read(&mut FrameReader::new(&line[..]), usize::MAX)
        .expect("the written message can be read");
    assert_eq!(again, message);
    Ok(message)
}

fn read<T: DeserializeOwned>(
    reader: &mut FrameReader<&[u8]>,
    longest: usize,
) -> Result<T, FrameError> {
    let future = pin!(reader.read(longest));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(read) => read,
        Poll::Pending => unreachable!("all bytes are available"),
    }
}

//! The network between the daemon and its pilots.
//!
//! Messages of a connection arrive late, but in order. When a connection breaks, some messages in transit still arrive,
//! and all later messages are lost.

use gleaner_harvest::core::{Event, Link, Millis, Order, Report, RunId};

use crate::noise::For;
use crate::world::{Happening, World};

/// A message from a pilot.
#[derive(Debug, Clone)]
pub enum FromPilot {
    /// An event that names the connection: a greeting, an exit, or a departure.
    Event(Event),
    Beat(u64),
    Bye,
    Progress(RunId, Report),
}

/// A message to a pilot.
#[derive(Debug, Clone)]
pub enum ToPilot {
    Welcome,
    Beat(u64),
    Order(Order),
}

/// A connection of a pilot.
#[derive(Debug)]
pub struct Connection {
    pub link: Link,
    /// If the connection is broken, the time until which messages in transit still arrive.
    pub broken: Option<Millis>,
    /// Whether the pilot notices the break only by the silence that follows.
    pub is_quiet: bool,
    /// Arrival times of the last message to the daemon and the last message to the pilot.
    last: [Millis; 2],
    sent: u64,
}

impl World {
    /// Opens a connection.
    pub fn connect(&mut self, link: Link) -> u64 {
        let number = self.number();
        self.connections.insert(
            number,
            Connection {
                link,
                broken: None,
                is_quiet: false,
                last: [0; 2],
                sent: 0,
            },
        );
        number
    }

    /// Breaks a connection. If `is_quiet` is set, the pilot does not notice the break at once.
    pub fn break_connection(&mut self, number: u64, is_quiet: bool) {
        let mut draw = self.noise.draw(For::Break, &[number]);
        let now = self.now;
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        if connection.broken.is_none() {
            let extra = if draw.percent(60) {
                0
            } else {
                draw.between(0, 2000)
            };
            connection.broken = Some(now + extra);
            connection.is_quiet = is_quiet || draw.percent(20);
            let link = connection.link;
            if draw.percent(50) {
                self.daemon.forget_connection(link);
            }
            self.say(|| format!("{} session {} breaks", link.pilot, link.session));
        }
    }

    /// Closes a connection whose pilot has ended. Messages in transit still arrive.
    pub fn close_connection(&mut self, number: u64) {
        let now = self.now;
        if let Some(connection) = self.connections.get_mut(&number) {
            connection.broken.get_or_insert(now + 5000);
        }
    }

    /// Breaks all connections, because the daemon has crashed. No message in transit arrives.
    pub fn break_connections(&mut self) {
        for connection in self.connections.values_mut() {
            let until = connection.broken.get_or_insert(self.now - 1);
            *until = (self.now - 1).min(*until);
        }
    }

    /// Draws the arrival time of the next message on a connection, in the direction that `to_pilot` selects. `None` if the
    /// connection does not exist.
    fn arrival(&mut self, number: u64, to_pilot: bool) -> Option<Millis> {
        let connection = self.connections.get_mut(&number)?;
        connection.sent += 1;
        let mut draw = self.noise.draw(
            For::Delay,
            &[
                connection.link.pilot.0,
                connection.link.session.into(),
                connection.sent,
            ],
        );
        let delay = if draw.percent(3) {
            draw.between(0, 4000)
        } else {
            draw.between(0, 120)
        };
        let last = &mut connection.last[usize::from(to_pilot)];
        *last = (self.now + delay).max(*last);
        Some(*last)
    }

    /// Sends a message to the daemon.
    pub fn send_to_daemon(&mut self, number: u64, message: FromPilot) {
        if let Some(at) = self.arrival(number, false) {
            self.at(at, Happening::ToDaemon(number, message));
        }
    }

    /// Sends a message to a pilot.
    pub fn send_to_pilot(&mut self, number: u64, message: ToPilot) {
        if let Some(at) = self.arrival(number, true) {
            self.at(at, Happening::ToPilot(number, message));
        }
    }

    /// The link of a connection, if a message can still arrive on it.
    pub fn arrives(&self, number: u64) -> Option<Link> {
        let connection = self.connections.get(&number)?;
        let is_lost = connection.broken.is_some_and(|until| self.now > until);
        (!is_lost).then_some(connection.link)
    }
}

//! The pilot's handling of the daemon's messages.

use super::*;

impl World {
    /// Handles a message from the daemon.
    pub fn pilot_hears(&mut self, number: u64, message: ToPilot) {
        let Some(link) = self.arrives(number) else {
            return;
        };
        let now = self.now;
        let id = link.pilot;
        let Some(pilot) = self
            .pilots
            .get_mut(&id)
            .filter(|p| p.connection == Some(number))
        else {
            return;
        };
        pilot.heard = now;
        match message {
            ToPilot::Welcome => {
                pilot.is_welcome = true;
                pilot.answer(u64::MAX);
                let is_announced = pilot.departure.as_ref().is_some_and(|d| d.is_announced);
                let runs: Vec<RunId> = pilot.known.keys().copied().collect();
                for known in pilot.known.values_mut() {
                    // The last report may have been lost with the previous connection.
                    known.is_new = known.progress.is_some();
                }
                // The departure is sent before the exits. Otherwise, the programs would appear to have ended by
                // themselves.
                if is_announced {
                    self.tell_event(id, |link| Event::Leaving { link });
                }
                for run in runs {
                    self.report_progress(id, run);
                }
                self.send_exits(id);
            }
            ToPilot::Beat(number) => pilot.answer(number),
            ToPilot::Order(order) => self.obey(id, order),
        }
    }

    fn obey(&mut self, id: PilotId, order: Order) {
        let now = self.now;
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        let node = pilot.node;
        match order {
            Order::Launch(launch) => self.obey_launch(id, &launch),
            Order::Stop { run, kill } => self.obey_stop(id, run, kill),
            Order::Nodes { run, nodes } => {
                if pilot.known.contains_key(&run) {
                    self.set_nodes(node, run, &nodes);
                }
            }
            Order::Forget { run } => {
                if pilot
                    .known
                    .get(&run)
                    .is_none_or(|known| known.state != RankState::Running)
                {
                    pilot.known.remove(&run);
                    let last = pilot.forgotten.entry(run.task).or_default();
                    *last = run.generation.max(*last);
                }
            }
            Order::Dismiss => self.depart(id, now + self.grace_ms(), false),
        }
    }

    /// Starts a rank, unless the pilot already knows its run or has forgotten it.
    fn obey_launch(&mut self, id: PilotId, launch: &Launch) {
        let run = launch.run;
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        if pilot.is_forgotten(run) {
            return;
        }
        if !pilot.known.contains_key(&run) {
            let is_closed = pilot.departure.is_some();
            let state = if is_closed {
                RankState::Exited { code: None }
            } else {
                RankState::Running
            };
            pilot.known.insert(
                run,
                Known {
                    state,
                    progress: None,
                    is_new: false,
                },
            );
            if !is_closed {
                let node = pilot.node;
                self.start_rank(id, node, launch);
            }
        }
        self.send_exit(id, run);
    }

    fn obey_stop(&mut self, id: PilotId, run: RunId, kill: bool) {
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        if pilot.is_forgotten(run) {
            return;
        }
        let node = pilot.node;
        let refused = Known {
            state: RankState::Exited { code: None },
            progress: None,
            is_new: false,
        };
        let known = pilot.known.entry(run).or_insert(refused);
        let is_running = known.state == RankState::Running;
        if !is_running {
            self.send_exit(id, run);
        } else if kill {
            self.end_process(node, run, None);
        } else {
            if self.sabotage == Some(Sabotage::EarlyExits) {
                let code = None;
                self.tell_event(id, |link| Event::Exited { link, run, code });
            }
            self.terminate(node, run);
            if self.plan.pilots_kill {
                self.kill_at(node, run, self.now + self.grace_ms());
            }
        }
    }
}

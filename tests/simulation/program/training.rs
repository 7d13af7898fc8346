//! The training of a run: its ranks work, write checkpoints, report, lose each other, and end.

use super::*;

impl World {
    /// Performs the next step of a run's program.
    pub fn step_run(&mut self, id: RunId) {
        let task = self.daemon.tasks[&id.task];
        let ranks: Vec<(usize, usize)> = self.processes_of(id, false);
        let now = self.now;
        let Some(run) = self.programs[task].run.as_mut().filter(|run| run.id == id) else {
            return;
        };
        if ranks.is_empty() {
            run.is_stepping = false;
            return;
        }
        run.steps += 1;
        let seconds = (now - run.stepped) as f64 / 1000.0;
        run.stepped = now;
        let mut draw = self.noise.draw(
            For::Program,
            &[task as u64, u64::from(id.generation), run.steps],
        );
        self.after(draw.between(400, 1200), Happening::Run(id));
        self.notice_losses(task, &ranks);
        let members = self.members(task, &ranks);
        self.advance(task, members, seconds);
        self.report(task);
    }

    /// The nodes and rank numbers of a run's processes.
    fn processes_of(&self, id: RunId, is_worker: bool) -> Vec<(usize, usize)> {
        let own = self.processes.iter().filter(|((_, run), _)| *run == id);
        let own = own.filter(|(_, process)| process.is_worker == is_worker);
        own.map(|((node, _), process)| (*node, process.rank))
            .collect()
    }

    /// The number of running ranks of a task, and the number of nodes that they know.
    pub fn shape(&self, task: usize) -> (usize, usize) {
        let known = self.programs[task]
            .run
            .as_ref()
            .map_or(0, |run| run.nodes.len());
        (self.ranks_of_task(task).len(), known)
    }

    /// Index of the class of the nodes of a task's last run.
    pub fn class_of_run(&self, task: usize) -> Option<usize> {
        let run = self.programs[task].run.as_ref()?;
        self.class_of(run.first)
    }

    /// If a run has lost a rank without which it cannot continue, its other ranks fail or hang.
    fn notice_losses(&mut self, task: usize, ranks: &[(usize, usize)]) {
        let plan = &self.plan.tasks[task];
        let (style, hangs) = (plan.submission.launch, plan.hangs);
        let Some(run) = self.programs[task]
            .run
            .as_mut()
            .filter(|run| !run.is_broken && !run.is_ending)
        else {
            return;
        };
        let lives = |node: &usize| ranks.iter().any(|(at, _)| at == node);
        run.is_broken = match style {
            LaunchStyle::Restart => !run.started.iter().all(lives),
            // The first rank hosts the rendezvous store.
            LaunchStyle::Torchrun => run.started.contains(&run.first) && !lives(&run.first),
            LaunchStyle::Torchft | LaunchStyle::Horovod => false,
        };
        if run.is_broken && !hangs {
            let (id, steps) = (run.id, run.steps);
            for &(node, rank) in ranks {
                let mut draw = self
                    .noise
                    .draw(For::Rank, &[task as u64, steps, rank as u64]);
                let serial = self.processes[&(node, id)].serial;
                let code = Some(1);
                self.after(
                    draw.between(100, 4000),
                    Happening::Ends {
                        node,
                        run: id,
                        code,
                        serial,
                    },
                );
            }
        }
    }

    /// Number of nodes on which a run is working; 0 if it is waiting.
    fn members(&mut self, task: usize, ranks: &[(usize, usize)]) -> usize {
        let plan = &self.plan.tasks[task];
        let terms = plan.terms(self.class_of_run(task));
        let (style, min_nodes) = (plan.submission.launch, terms.min_nodes as usize);
        if style == LaunchStyle::Horovod {
            self.keep_workers(task);
        }
        let now = self.now;
        let Some(id) = self.programs[task].run.as_ref().map(|run| run.id) else {
            return 0;
        };
        let workers = self.processes_of(id, true).len();
        let Some(run) = &mut self.programs[task].run else {
            return 0;
        };
        let members = match style {
            LaunchStyle::Restart if ranks.len() < run.nodes.len() => 0,
            LaunchStyle::Torchrun if !ranks.iter().any(|(node, _)| *node == run.first) => 0,
            _ => ranks.len() + workers,
        };
        if style.is_elastic() && members != run.members {
            (run.members, run.paused) = (members, now + 1500);
        }
        let waits = run.is_broken || run.is_ending || now < run.paused || members < min_nodes;
        if waits { 0 } else { members }
    }

    /// Starts and stops workers on the nodes that the driver of an elastic Horovod run lists. A worker belongs to the
    /// pilot job on its node.
    fn keep_workers(&mut self, task: usize) {
        let Some(run) = &self.programs[task].run else {
            return;
        };
        let (id, nodes, steps) = (run.id, run.nodes.clone(), run.steps);
        let Some(driver) = nodes.first().copied() else {
            return;
        };
        let workers = self.processes_of(id, true);
        for &(node, rank) in &workers {
            if !nodes.contains(&node) {
                let mut draw = self
                    .noise
                    .draw(For::Rank, &[task as u64, steps, rank as u64]);
                let serial = self.processes[&(node, id)].serial;
                let code = None;
                self.after(
                    draw.between(0, 2500),
                    Happening::Ends {
                        node,
                        run: id,
                        code,
                        serial,
                    },
                );
            }
        }
        for node in nodes {
            let has_process = self.processes.contains_key(&(node, id));
            if node != driver
                && !has_process
                && let Some(pilot) = self.pilot_on(node)
                && self.pilots[&pilot].is_serving()
            {
                self.start_process(pilot, node, id, (task, node, true));
            }
        }
    }

    /// Lets a run do work, save checkpoints, and complete.
    fn advance(&mut self, task: usize, members: usize, seconds: f64) {
        let plan = &self.plan.tasks[task];
        let (work, is_endless, poison) = (plan.work, plan.is_endless, plan.poison);
        let checkpoint_ms = plan.checkpoint_ms;
        let curve = plan.terms(self.class_of_run(task)).curve;
        let rate = plan.speed * curve.progress.get(members).copied().unwrap_or(0.0);
        let now = self.now;
        let program = &mut self.programs[task];
        let Some(run) = &mut program.run else {
            return;
        };
        if run.is_ending {
            let run = run.id;
            self.end_run(task, run);
            return;
        }
        if members == 0 {
            return;
        }
        run.done += rate * seconds;
        if let Some(poison) = poison.filter(|poison| run.done >= *poison) {
            run.done = poison;
            program.peak = program.peak.max(run.done);
            self.fail_rank(task, Some(3));
            return;
        }
        if run.done >= work && !is_endless {
            (run.done, run.is_ending) = (work, true);
            (program.is_complete, program.checkpoint) = (true, work);
        }
        program.peak = program.peak.max(run.done);
        if now - run.saved >= checkpoint_ms {
            (program.checkpoint, run.saved) = (run.done, now);
        }
    }

    /// Ends all ranks of a program that has done its work, including those that are just starting.
    fn end_run(&mut self, task: usize, id: RunId) {
        for (node, run) in self.ranks_of_task(task) {
            let mut draw = self.noise.draw(
                For::Rank,
                &[task as u64, u64::from(id.generation), node as u64],
            );
            let serial = self.processes[&(node, run)].serial;
            let code = Some(0);
            self.after(
                draw.between(0, 1500),
                Happening::Ends {
                    node,
                    run,
                    code,
                    serial,
                },
            );
        }
    }

    /// Reports the progress of a run through its first running rank. If the first rank of a run is lost, another rank
    /// thus takes over.
    fn report(&mut self, task: usize) {
        let now = self.now;
        let plan = &self.plan.tasks[task];
        let Some(run) = &mut self.programs[task].run else {
            return;
        };
        if now - run.reported < plan.report_ms {
            return;
        }
        run.reported = now;
        let (id, mut done) = (run.id, run.done);
        if plan.lies {
            let mut draw = self.noise.draw(For::Program, &[task as u64, run.steps, 1]);
            done = draw.pick(&[1e300, -1.0, 0.0, 1e17, 3.0, 5e-324, f64::MAX, 1e-200, 3e99]);
        }
        let ranks = self.ranks_of_task(task);
        let rank_of = |place: &&(usize, RunId)| self.processes[*place].rank;
        let Some(&(node, _)) = ranks.iter().min_by_key(rank_of) else {
            return;
        };
        let report = self.report_of(task, done);
        let pilot = self.processes[&(node, id)].pilot;
        let known = self
            .pilots
            .get_mut(&pilot)
            .and_then(|pilot| pilot.known.get_mut(&id));
        if let Some(known) = known.filter(|known| known.state == RankState::Running) {
            (known.progress, known.is_new) = (Some(report), true);
            let best = self.programs[task]
                .reported
                .entry(id.generation)
                .or_insert(done);
            *best = best.max(done);
            self.report_progress(pilot, id);
        }
    }

    /// Delivers a late report of an earlier run.
    pub fn repeat_old_report(&mut self, task: usize) {
        let program = &self.programs[task];
        let Some(run) = &program.run else {
            return;
        };
        let mut old = program.reported.range(..run.id.generation);
        if let Some((&generation, &done)) = old.next_back() {
            let run = RunId {
                generation,
                ..run.id
            };
            self.feed_progress(run, Report { done, loss: None });
        }
    }
}

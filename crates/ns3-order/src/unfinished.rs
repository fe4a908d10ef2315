//! Why flows had not finished when a run ended.

use crate::simulation::Simulation;
use fabric::Cause;

/// What happens after a run's end.
struct Future {
    /// The flows of which a packet is under way.
    moving: Vec<bool>,
    any_moves: bool,
    /// Whether a PFC frame is under way.
    frames: bool,
    /// The ports that will look through their QPs.
    scans: Vec<bool>,
}

impl Simulation<'_> {
    /// The flows that did not finish, and why.
    pub(crate) fn unfinished(&self) -> Vec<(u32, Cause)> {
        let future = self.future();
        let open = (0..self.qps.len()).filter(|&flow| !self.qps[flow].ended);
        open.map(|flow| (flow as u32, self.cause(flow, &future))).collect()
    }

    fn future(&self) -> Future {
        let mut moving = vec![false; self.flows.len()];
        self.packets.flows().for_each(|flow| moving[flow as usize] = true);
        let pending = |port: &crate::network::Port| port.busy || self.events.is_pending(&port.wake);
        let mut scans: Vec<bool> = self.ports.iter().map(pending).collect();
        for ((qp, flow), moves) in self.qps.iter().zip(&self.flows).zip(&moving) {
            if !qp.started {
                let ports = &self.nodes[flow.src as usize].ports;
                ports.iter().for_each(|&port| scans[port as usize] = true);
            } else if *moves {
                // The ACK that comes of it has the port look.
                scans[qp.port as usize] = true;
            }
        }
        Future {
            any_moves: moving.contains(&true),
            moving,
            frames: self.packets.has_frames(),
            scans,
        }
    }

    fn cause(&self, flow: usize, future: &Future) -> Cause {
        let qp = &self.qps[flow];
        if !qp.started {
            return Cause::NotStarted;
        }
        if future.moving[flow] {
            return Cause::Sending;
        }
        if self.awaits_timeout(flow) {
            return Cause::Sending;
        }
        if qp.snd_nxt >= qp.size || qp.is_window_bound() {
            // It waits for something that was lost.
            return Cause::Lost;
        }
        let port = &self.ports[qp.port as usize];
        let class = 1 << qp.priority;
        if port.paused & class != 0 {
            let is_wanted = self.ports[port.peer as usize].pausing & class != 0;
            let ends = self.settings.conweave || future.frames || (is_wanted && future.any_moves);
            return if ends { Cause::Sending } else { Cause::Paused };
        }
        if future.scans[qp.port as usize] { Cause::Sending } else { Cause::Waiting }
    }

    /// Whether all that a flow sent arrived, and its receiver does not acknowledge the end of it.
    pub(crate) fn is_unacknowledged(&self, flow: u32) -> bool {
        let (qp, flow) = (&self.qps[flow as usize], &self.flows[flow as usize]);
        let expected = self.connections[flow.connection as usize].receiver.expected;
        u64::from(expected) == qp.snd_nxt && !self.settings.acknowledges(expected)
    }
}

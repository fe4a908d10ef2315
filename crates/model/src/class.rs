//! Settings of single traffic classes.

use units::{Bytes, Rate};

/// What one traffic class has of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassSettings {
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// How switches mark its packets. `None`: as those of other classes.
    pub marking: Option<ClassMarking>,
    /// The share of the free buffer that one of its queues may take, where PFC does not protect it.
    /// `None`: as that of other classes.
    pub lossy_alpha: Option<f64>,
}

/// How switches mark the packets of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClassMarking {
    /// Not at all.
    Off,
    /// By thresholds.
    Law {
        /// Nothing is marked up to this queue length.
        kmin: Bytes,
        /// Everything is marked above this queue length.
        kmax: Bytes,
        /// Marking probability at `kmax`.
        pmax: f64,
        /// The port rate that the thresholds are for; other ports scale them. `None`: all ports.
        at: Option<Rate>,
    },
}

//! What a run leaves behind.
//!
//! Tables are plain columns that whoever runs the network fills row by row; Arrow appears only
//! where they leave Rust ([`FlowTable::to_record_batch`] and its kin). The [`Summary`] is what
//! `summary.json` holds, and the [`digest()`] says whether two runs did the same. [`MessageTable`]
//! and [`LoadTable`] say what is asked of a network before it is run.

mod by_tag;
mod column;
mod digest;
mod drops;
mod flows;
mod plan;
mod plan_checks;
mod ports;
mod record;
mod series;
mod statistics;
mod summary;
mod traces;
mod unfinished;
mod warning;

pub use by_tag::{MAX_TAGS, TagStatistics, jain_of_flows, statistics_by_scheme, statistics_by_tag};
pub use digest::digest;
pub use drops::Drop;
pub use flows::{FlowTable, UNFINISHED};
pub use model::{Cause, FlowRecovery};
pub use plan::{HopTable, LoadTable, MessageTable};
pub use plan_checks::{BufferRow, MarkingRow, PlanChecks};
pub use ports::PortTable;
pub use series::{Series, SeriesInfo};
pub use statistics::{SizeBin, SlowdownStatistics, intra_inter_slowdown, slowdown_statistics};
pub use summary::{Deadlock, SCHEMA_VERSION, Summary};
pub use traces::{PacketTrace, PfcTrace, TraceInfo};
pub use unfinished::Unfinished;
pub use warning::{Warning, WarningInfo, WarningKind};

// The Arrow types of the public functions, so that users need not depend on them by name.
pub use arrow_array;
pub use arrow_schema;

//! How much memory this process may still take, and whether a need fits.
//!
//! Limits come from the system (Linux alone; elsewhere none is known): those of the process, those
//! of its control group and the groups above, and what the machine has.

use crate::error::{Result, ScenarioError};
use std::fmt::Display;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// A need may exceed a limit by an eighth before it is refused: estimates are not exact.
const CLEARLY: f64 = 1.125;
/// Address space that is in use beyond resident memory: code, stacks, what libraries reserve.
const RESERVED: u64 = 256 << 20;
/// What reading and checking a scenario takes for each message: measured as peak resident memory at
/// 250,000 and 1,000,000 messages, 144 to 190 bytes to read and 107 to 132 to check.
pub const BYTES_PER_MESSAGE: u64 = 250;
/// Fewer messages than this fit everywhere: limits are not read for them.
const FEW_MESSAGES: u64 = 100_000;

/// A limit beyond which the system refuses memory or ends the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What it is called.
    pub name: String,
    /// What can be done about it.
    pub mend: &'static str,
    /// Bytes that may be taken in all.
    pub most: u64,
    /// Bytes that may still be taken.
    pub room: u64,
}

/// What a process may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Those that nobody gets past.
    pub hard: Vec<Limit>,
    /// Bytes that the machine has free, swap included.
    pub free: Option<u64>,
}

/// Whether a need fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Fits,
    /// It may not: why.
    Tight(String),
    /// It does not: why, and what can be done about the limit.
    TooMuch(String, &'static str),
}

impl Limits {
    /// The limits of this process.
    pub fn of_process() -> Limits {
        Limits::read(Path::new("/"))
    }

    /// The limits as the files of `proc` and `sys` below `root` tell them.
    pub fn read(root: &Path) -> Limits {
        let text = |path: &str| read_to_string(root.join(path)).unwrap_or_default();
        let status = text("proc/self/status");
        let used = |name: &str| kilobytes(&status, name).unwrap_or(0);
        let resident = used("VmRSS:");
        let mut hard = Vec::new();
        let own = text("proc/self/limits");
        for (line, name, in_use, mend) in [
            (
                "Max address space",
                "the limit on address space",
                used("VmSize:").min(resident + RESERVED),
                "raise that limit (ulimit -v)",
            ),
            (
                "Max data size",
                "the limit on data",
                used("VmData:").min(resident + RESERVED),
                "raise that limit (ulimit -d)",
            ),
        ] {
            let value = own.lines().find_map(|at| at.strip_prefix(line));
            let value = value.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
            if let Some(most) = value {
                let room = u64::saturating_sub(most, in_use);
                hard.push(Limit { name: name.to_owned(), mend, most, room });
            }
        }
        hard.extend(cgroups(root, &text("proc/self/cgroup"), &text("proc/self/mountinfo")));
        let machine = text("proc/meminfo");
        let swap = kilobytes(&machine, "SwapTotal:").unwrap_or(0);
        if let Some(all) = kilobytes(&machine, "MemTotal:") {
            let most = all + swap;
            let mend = "take a machine with more";
            let name = "the memory of this machine".to_owned();
            hard.push(Limit { name, mend, most, room: most.saturating_sub(resident) });
        }
        let free = kilobytes(&machine, "MemAvailable:");
        let free = free.map(|free| free + kilobytes(&machine, "SwapFree:").unwrap_or(0));
        Limits { hard, free }
    }

    /// The hard limit that leaves least.
    pub fn tightest(&self) -> Option<&Limit> {
        self.hard.iter().min_by_key(|limit| limit.room)
    }

    /// Whether `need` bytes more fit. The reasons begin with `what` needs them, such as "the run
    /// needs about".
    pub fn judge(&self, what: impl Display, need: u64) -> Verdict {
        if let Some(limit) = self.tightest().filter(|limit| need > limit.room) {
            let why = format!(
                "{what} {} of memory; {} is {}, which leaves {}",
                size(need),
                limit.name,
                size(limit.most),
                size(limit.room)
            );
            return if need as f64 > CLEARLY * limit.room as f64 {
                Verdict::TooMuch(why, limit.mend)
            } else {
                Verdict::Tight(why)
            };
        }
        match self.free {
            Some(free) if need > free => Verdict::Tight(format!(
                "{what} {} of memory; {} is free now",
                size(need),
                size(free)
            )),
            _ => Verdict::Fits,
        }
    }
}

/// What reading a listed message takes beside [`BYTES_PER_MESSAGE`]: measured as 260 bytes in all
/// with 400,000 lines of CSV.
const BYTES_PER_LINE: u64 = 150;
/// What reading a byte of a scenario file takes: measured as 45 with 100,000 messages in one.
const BYTES_PER_LETTER: u64 = 40;

/// Refuses a flow file of `lines` lines if they clearly do not fit into memory.
pub(crate) fn check_lines(lines: u64, key: &str) -> Result<()> {
    if lines < FEW_MESSAGES {
        return Ok(());
    }
    let what = format!("the {lines} lines of the file need at least");
    refuse(what, lines * (BYTES_PER_MESSAGE + BYTES_PER_LINE), key, "list fewer messages")
}

/// Refuses a scenario file of `bytes` bytes if what it describes clearly does not fit into memory.
pub(crate) fn check_text(bytes: usize) -> Result<()> {
    let bytes = bytes as u64;
    if bytes < 1 << 20 {
        return Ok(());
    }
    let what = format!("to read a scenario file of {} takes about", size(bytes));
    refuse(what, bytes * BYTES_PER_LETTER, "", "list messages in a `flows_file`, which takes less")
}

fn refuse(what: String, need: u64, key: &str, less: &str) -> Result<()> {
    match Limits::of_process().judge(what, need) {
        Verdict::Fits | Verdict::Tight(_) => Ok(()),
        Verdict::TooMuch(why, mend) => {
            Err(ScenarioError::new(key, why).hint(format!("{less}; or {mend}")))
        }
    }
}

/// Refuses `messages` messages if they clearly do not fit into memory. The error names `key`.
pub(crate) fn check_messages(messages: u64, key: &str) -> Result<()> {
    if messages < FEW_MESSAGES {
        return Ok(());
    }
    let what = format!("the {messages} messages up to here need at least");
    refuse(what, messages.saturating_mul(BYTES_PER_MESSAGE), key, "have fewer messages")
}

/// Bytes as people read them.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} KB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The number behind `name` in a list of lines such as `VmRSS:   10 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The limits of the control groups of this process, from its own upwards, of both versions.
fn cgroups(root: &Path, own: &str, mounts: &str) -> Vec<Limit> {
    let mut found = Vec::new();
    for line in own.lines() {
        // number:controllers:path
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let files = match controllers {
            "" => &VERSION_2,
            one if one.split(',').any(|one| one == "memory") => &VERSION_1,
            _ => continue,
        };
        let Some((inside, mount)) = mounts.lines().find_map(|line| files.mount(line)) else {
            continue;
        };
        // A container sees the part of the tree that was mounted for it.
        let path = path.strip_prefix(inside.trim_end_matches('/')).unwrap_or("");
        let top = root.join(mount.trim_start_matches('/'));
        let mut group: PathBuf = top.join(path.trim_start_matches('/'));
        loop {
            found.extend(files.limit(&group));
            if group == top || !group.pop() {
                break;
            }
        }
    }
    found
}

/// What a version of control groups calls things.
struct Files {
    kind: &'static str,
    most: &'static str,
    used: &'static str,
    /// Files that the kernel keeps in memory and gives up when it needs room.
    reclaimable: [&'static str; 2],
}

const VERSION_1: Files = Files {
    kind: "cgroup",
    most: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: ["total_inactive_file ", "total_active_file "],
};
const VERSION_2: Files = Files {
    kind: "cgroup2",
    most: "memory.max",
    used: "memory.current",
    reclaimable: ["inactive_file ", "active_file "],
};

impl Files {
    /// Of a line of `mountinfo` that mounts the memory controller: which part of the tree, and
    /// where.
    fn mount<'a>(&self, line: &'a str) -> Option<(&'a str, &'a str)> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (inside, place) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let is_it = after.next()? == self.kind
            && (self.kind == VERSION_2.kind
                || after.nth(1)?.split(',').any(|option| option == "memory"));
        is_it.then_some((inside, place))
    }

    /// The limit of a group, if it has one.
    fn limit(&self, group: &Path) -> Option<Limit> {
        let number = |name: &str| read_to_string(group.join(name)).ok()?.trim().parse().ok();
        let most: u64 = number(self.most)?;
        // Without a limit version 1 has the largest multiple of a page.
        if most >= i64::MAX as u64 / 2 {
            return None;
        }
        let used: u64 = number(self.used)?;
        let statistics = read_to_string(group.join("memory.stat")).unwrap_or_default();
        let line = |name: &str| {
            let rest = statistics.lines().find_map(|line| line.strip_prefix(name))?;
            rest.trim().parse::<u64>().ok()
        };
        let reclaimable: u64 = self.reclaimable.iter().filter_map(|name| line(name)).sum();
        Some(Limit {
            name: "the limit of the control group".to_owned(),
            mend: "give the job or container more",
            most,
            room: most.saturating_sub(used.saturating_sub(reclaimable)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, remove_dir_all, write};

    const STATUS: &str = "VmSize:\t 2000000 kB\nVmRSS:\t 100000 kB\nVmData:\t 50000 kB\n";
    const MACHINE: &str = "MemTotal: 16000000 kB\nMemFree: 1 kB\nMemAvailable: 4000000 kB\n\
                           SwapTotal: 1000000 kB\nSwapFree: 500000 kB\n";

    /// The limits of a system with these files beside `status` and `meminfo`.
    fn limits(name: &str, files: &[(&str, &str)]) -> Limits {
        let root =
            std::env::temp_dir().join(format!("rocelab-memory-{}-{name}", std::process::id()));
        let base = [("proc/self/status", STATUS), ("proc/meminfo", MACHINE)];
        for (path, text) in base.iter().chain(files) {
            let path = root.join(path);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text).unwrap();
        }
        let read = Limits::read(&root);
        remove_dir_all(root).unwrap();
        read
    }

    fn rooms(limits: &Limits) -> Vec<u64> {
        limits.hard.iter().map(|limit| limit.room).collect()
    }

    const RESIDENT: u64 = 100_000 * 1024;
    const MACHINE_ROOM: u64 = 17_000_000 * 1024 - RESIDENT;

    #[test]
    fn limits_of_the_process() {
        let text = "Limit      Soft Limit  Hard Limit  Units\n\
                    Max data size             unlimited            unlimited            bytes\n\
                    Max address space         2048000000           unlimited            bytes\n";
        let found = limits("process", &[("proc/self/limits", text)]);
        // Of what is reserved and not resident, most may still be used.
        assert_eq!(rooms(&found), [2_048_000_000 - RESIDENT - RESERVED, MACHINE_ROOM]);
        assert_eq!(found.free, Some(4_500_000 * 1024));
        let data = text.replace("Max data size             unlimited", "Max data size  100000000");
        let found = limits("data", &[("proc/self/limits", &data)]);
        assert_eq!(rooms(&found)[1], 100_000_000 - 50_000 * 1024);
    }

    #[test]
    fn limits_of_control_groups_version_2_and_of_those_above() {
        let group = "sys/fs/cgroup/slurm/job";
        let found = limits(
            "v2",
            &[
                ("proc/self/cgroup", "0::/slurm/job/task\n"),
                ("proc/self/mountinfo", "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
                (&format!("{group}/task/memory.max"), "max\n"),
                (&format!("{group}/memory.max"), "3000\n"),
                (&format!("{group}/memory.current"), "1500\n"),
                (&format!("{group}/memory.stat"), "anon 1\ninactive_file 400\nactive_file 100\n"),
                ("sys/fs/cgroup/slurm/memory.max", "9000\n"),
                ("sys/fs/cgroup/slurm/memory.current", "2000\n"),
            ],
        );
        assert_eq!(rooms(&found), [2000, 7000, MACHINE_ROOM]);
        assert_eq!(found.tightest().unwrap().most, 3000);
    }

    #[test]
    fn limits_of_control_groups_version_1_in_a_container() {
        let found = limits(
            "v1",
            &[
                ("proc/self/cgroup", "5:cpu:/docker/a\n4:memory,x:/docker/a\n0::/\n"),
                (
                    "proc/self/mountinfo",
                    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                     35 31 0:32 /docker/a /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                ),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n"),
                ("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 300\n"),
            ],
        );
        assert_eq!(rooms(&found), [4300, MACHINE_ROOM]);
        let free = "9223372036854771712\n";
        let files = [
            ("proc/self/cgroup", "4:memory:/\n"),
            ("proc/self/mountinfo", "35 31 0:32 / /sys/m rw - cgroup cgroup rw,memory\n"),
            ("sys/m/memory.limit_in_bytes", free),
            ("sys/m/memory.usage_in_bytes", "1\n"),
        ];
        assert_eq!(rooms(&limits("v1-free", &files)), [MACHINE_ROOM]);
    }

    #[test]
    fn a_need_is_judged_with_numbers() {
        let limit = |room| Limit {
            name: "the limit".to_owned(),
            mend: "raise it",
            most: 8_000_000_000,
            room,
        };
        let limits = Limits {
            hard: vec![limit(9_000_000_000), limit(4_000_000_000)],
            free: Some(2_000_000_000),
        };
        assert_eq!(limits.judge("it needs about", 2_000_000_000), Verdict::Fits);
        let told = "it needs about 2.1 GB of memory; 2.0 GB is free now";
        assert_eq!(limits.judge("it needs about", 2_100_000_000), Verdict::Tight(told.to_owned()));
        let told = "it needs about 4.1 GB of memory; the limit is 8.0 GB, which leaves 4.0 GB";
        assert_eq!(limits.judge("it needs about", 4_100_000_000), Verdict::Tight(told.to_owned()));
        let told = "it needs about 5.0 GB of memory; the limit is 8.0 GB, which leaves 4.0 GB";
        assert_eq!(
            limits.judge("it needs about", 5_000_000_000),
            Verdict::TooMuch(told.to_owned(), "raise it")
        );
        assert_eq!(Limits::default().judge("it needs about", u64::MAX), Verdict::Fits);
    }
}

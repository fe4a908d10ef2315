//! MMUs for tests. Priority 3 is lossless, priorities 0, 2 and 3 have data.

use super::admission::Stored;
use super::{Admission, Full, Mmu, MmuConfig, Refused};
use crate::compat::Compat;
use crate::network::setup::{Headroom, PfcConfig, Threshold};
use model::PauseTiming;
use units::{Bytes, Rate};

pub(super) const STORED: Admission = Ok(Stored { pauses: false });
pub(super) const STORED_PAUSE: Admission = Ok(Stored { pauses: true });
pub(super) const HEADROOM_FULL: Admission = Err(Refused { full: Full::Headroom, pauses: false });
pub(super) const HEADROOM_FULL_PAUSE: Admission =
    Err(Refused { full: Full::Headroom, pauses: true });
pub(super) const BUFFER_FULL: Admission = Err(Refused::BUFFER);

pub(super) fn mmu(buffer: u64, pfc: &PfcConfig, headroom: Vec<u64>) -> Mmu {
    mmu_with_alpha(buffer, pfc, headroom, None)
}

pub(super) fn mmu_with_alpha(
    buffer: u64,
    pfc: &PfcConfig,
    headroom: Vec<u64>,
    lossy_alpha: Option<u32>,
) -> Mmu {
    mmu_of_ports(buffer, pfc, headroom.into_iter().map(Some).collect(), lossy_alpha)
}

pub(super) fn mmu_of_ports(
    buffer: u64,
    pfc: &PfcConfig,
    headroom: Vec<Option<u64>>,
    lossy_alpha: Option<u32>,
) -> Mmu {
    Mmu::new(MmuConfig {
        buffer,
        lossy_alpha: [lossy_alpha; 8],
        pfc,
        data_priorities: 1 << 0 | 1 << 2 | 1 << 3,
        rates: vec![Rate::from_gbps(100); headroom.len()],
        headroom,
        compat: Compat::default(),
    })
}

pub(super) fn fixed(xoff: u64, xon: u64) -> PfcConfig {
    PfcConfig {
        timing: PauseTiming::default(),
        lossless: 1 << 3,
        threshold: Threshold::Static { xoff: Bytes::new(xoff), xon: Bytes::new(xon) },
        of_class: [None; 8],
        headroom: Headroom::Auto,
    }
}

pub(super) fn dynamic(alpha: u32, resume_offset: u64, reserve: u64) -> PfcConfig {
    PfcConfig {
        timing: PauseTiming::default(),
        lossless: 1 << 3,
        threshold: Threshold::Dynamic {
            alpha,
            shifted_above: None,
            resume_offset: Bytes::new(resume_offset),
            reserve: Bytes::new(reserve),
        },
        of_class: [None; 8],
        headroom: Headroom::Auto,
    }
}

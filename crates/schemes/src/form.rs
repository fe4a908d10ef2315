//! The form of a law: as its paper has it, or as the HPCC simulator does.

crate::choice! {
    /// Which form of a law a sender works by.
    pub enum Form {
        /// The paper's.
        Paper = "paper",
        /// The HPCC simulator's.
        Ns3 = "ns3",
    }
}

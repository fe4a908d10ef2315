use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name($inner);

        impl $name {
            /// Returns the identifier with this number.
            #[inline]
            pub const fn new(n: $inner) -> $name {
                $name(n)
            }
            /// Returns its number.
            #[inline]
            pub const fn get(self) -> $inner {
                self.0
            }
            /// Returns its number as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A host or a switch: its index in the network's list of nodes.
    NodeId(u32)
}
id! {
    /// A port of a node: its index among the node's ports, in the order of the links.
    PortId(u16)
}
id! {
    /// A message (a row of the flow table): its index in order of posting time.
    FlowId(u32)
}
/// A priority (traffic class), 0 to 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Priority(u8);

impl Priority {
    /// How many priorities there are.
    pub const COUNT: u8 = 8;

    /// Returns the priority with this number.
    ///
    /// # Panics
    /// If the number is above 7. In a constant that is an error of the compiler.
    #[inline]
    pub const fn new(number: u8) -> Priority {
        assert!(number < Priority::COUNT, "a priority is 0 to 7");
        Priority(number)
    }
    /// Returns its number.
    #[inline]
    pub const fn get(self) -> u8 {
        self.0
    }
    /// Returns its number as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which scheme a QP has in a run with two; in other runs it is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MixSide {
    /// The first scheme of the run.
    #[default]
    First,
    /// The second one.
    Second,
}

impl MixSide {
    /// Both, by their index.
    pub const ALL: [MixSide; 2] = [MixSide::First, MixSide::Second];

    /// Returns its index in [`ALL`](Self::ALL), and in lists with an entry for each scheme.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Priority;
    use std::panic::catch_unwind;

    /// Protects from a packet that a wrong number would put into another class's queue.
    #[test]
    fn a_priority_above_seven_is_refused() {
        assert_eq!(Priority::new(7).index(), 7);
        assert!(catch_unwind(|| Priority::new(8)).is_err());
    }
}

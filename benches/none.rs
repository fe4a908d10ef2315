//! Nothing but benchmarks lives here.

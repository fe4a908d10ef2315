//! What every scheme promises.

schemes::invariants! { mine::Mine }

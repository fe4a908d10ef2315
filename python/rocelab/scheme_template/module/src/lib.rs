//! The simulator with these schemes beside those of rocelab that `rocelab scheme build` takes.

rocelab_bindings::module! {
    mine::Mine;
}

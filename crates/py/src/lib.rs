//! The extension module `rocelab._rocelab`, with the schemes of the crate `schemes`.

rocelab_bindings::module! {}

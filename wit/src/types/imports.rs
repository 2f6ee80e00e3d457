//! What `host.wit` names: the host's side, in a module for each interface.

mod conversation;
mod files;
mod llm;
mod log;
mod report;
mod session;
mod state;
mod traces;
mod ui;

pub use conversation::*;
pub use files::*;
pub use llm::*;
pub use log::*;
pub use report::*;
pub use session::*;
pub use state::*;
pub use traces::*;
pub use ui::*;

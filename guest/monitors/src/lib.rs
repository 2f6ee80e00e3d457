//! Behaviour monitors.
use chaperone_sdk::{Context, Description, Plugin};
struct Monitors;
impl Plugin for Monitors {
    fn describe(_: &mut Context) -> Description {
        chaperone_sdk::describe("monitors", "0", "", [])
    }
}
chaperone_sdk::export!(Monitors);

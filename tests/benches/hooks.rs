//! What a hook costs.
fn main() {
    divan::main();
}

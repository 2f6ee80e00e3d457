//! `interface state`: what a plugin remembers.

wit_enum! {
    /// How far a value reaches.
    Scope {
        /// Follows the branch: after the user goes back or forks, the plugin has
        /// what it had at that entry.
        Branch = "branch",
        /// One value for the whole session, whatever branch it is on.
        Session = "session",
        /// One value for the project, across its sessions.
        Project = "project",
    }
}

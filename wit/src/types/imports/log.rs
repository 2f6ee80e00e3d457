//! `interface log`: lines for whoever develops the plugin.

wit_enum! {
    /// How much it matters.
    Level {
        /// For whoever develops the plugin.
        Debug = "debug",
        /// For whoever wonders what it does.
        Info = "info",
        /// Something is wrong; the plugin goes on.
        Warn = "warn",
        /// Something failed.
        Error = "error",
    }
}

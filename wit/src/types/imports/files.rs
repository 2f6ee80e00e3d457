//! `interface files`: files of the project and of the user.

record! {
    /// A file or folder.
    Location {
        /// A mount's name, such as `workspace`, `project` or `user`; or `git`, whose only file, `status`, the host makes when
        /// it is asked to refresh it.
        mount = "mount": String,
        /// Relative to the mount; empty for the mount itself.
        path = "path": String,
    }
}

variant! {
    /// Why a file could not be read or written.
    FileError {
        /// There is no such file or folder.
        NotFound = "not-found",
        /// The manifest does not grant this; the text says what is missing.
        Denied(String) = "denied",
        /// Larger than the host reads at once; its size in bytes.
        TooLarge(u64) = "too-large",
        /// Not UTF-8 text.
        NotUtf8 = "not-utf8",
        /// Not a JSON document; where and why. The file was left as it is.
        NotJson(String) = "not-json",
        /// The patch does not apply, such as a `test` that fails. The file was left as it is.
        Conflict(String) = "conflict",
        /// The operating system's words.
        Io(String) = "io",
    }
}

//! What tools are called. Every host has its own names for the same tools; watchers know those of pi.

use super::Host;

/// The name that watchers know a host's tool by. Any other tool keeps its name.
pub(super) fn name(host: Host, tool: &str) -> &str {
    match (host, tool) {
        (Host::ClaudeCode, "Bash") => "bash",
        (Host::ClaudeCode, "Write") => "write",
        (Host::ClaudeCode, "Edit" | "MultiEdit" | "NotebookEdit") => "edit",
        (Host::ClaudeCode, "Read") => "read",
        (Host::ClaudeCode, "Grep") => "grep",
        (Host::ClaudeCode, "Glob") => "find",
        (Host::ClaudeCode, "LS") => "ls",
        (Host::Codex, "Bash" | "exec_command" | "shell" | "shell_command" | "local_shell") => "bash",
        (Host::Codex, "apply_patch" | "Edit") => "edit",
        (Host::GeminiCli, "run_shell_command") => "bash",
        (Host::GeminiCli, "write_file") => "write",
        (Host::GeminiCli, "replace") => "edit",
        (Host::GeminiCli, "read_file" | "read_many_files") => "read",
        (Host::GeminiCli, "grep_search" | "search_file_content") => "grep",
        (Host::GeminiCli, "glob") => "find",
        (Host::GeminiCli, "list_directory") => "ls",
        (_, other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_tool_has_one_name_at_every_host() {
        for (host, tool) in
            [(Host::ClaudeCode, "Bash"), (Host::Codex, "exec_command"), (Host::GeminiCli, "run_shell_command")]
        {
            assert_eq!(name(host, tool), "bash");
        }
        assert_eq!(name(Host::ClaudeCode, "mcp__github__search"), "mcp__github__search");
        assert_eq!(name(Host::GeminiCli, "Bash"), "Bash", "another host's word means nothing here");
    }
}

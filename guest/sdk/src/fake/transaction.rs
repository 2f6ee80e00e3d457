//! One hook under way on a fake host.

use std::collections::{BTreeMap, BTreeSet};

use chaperone_contract::*;

use super::{key, traces};
use crate::host::{Host, Unanswered};

/// What a hook reads.
pub(super) struct View<'host> {
    pub(super) session: &'host Snapshot,
    pub(super) branch: &'host Branch,
    pub(super) models: &'host [ModelInfo],
    pub(super) files: &'host BTreeMap<(String, String), String>,
    pub(super) reads: &'host BTreeMap<(String, String), Result<String, FileError>>,
    pub(super) lists: &'host BTreeMap<(String, String), Result<Vec<String>, FileError>>,
    pub(super) state: &'host BTreeMap<Scope, Vec<u8>>,
    pub(super) traces: &'host [Trace],
    pub(super) next_request: RequestId,
}

/// One hook under way.
pub(super) struct Transaction<'host> {
    pub(super) host: View<'host>,
    pub(super) effects: Vec<Effect>,
}

impl Transaction<'_> {
    fn request(&mut self, effect: impl FnOnce(RequestId) -> Effect) -> RequestId {
        let id = self.host.next_request;
        self.host.next_request += 1;
        self.effects.push(effect(id));
        id
    }
}

impl Host for Transaction<'_> {
    fn snapshot(&self) -> Snapshot {
        let branch = self.host.branch;
        Snapshot {
            leaf: branch.leaf().map(|entry| entry.id.clone()),
            branch_length: u32::try_from(branch.entries().len()).unwrap_or(u32::MAX),
            ..self.host.session.clone()
        }
    }

    fn entries_before(&self, before: Option<&str>, limit: u32) -> Vec<Entry> {
        self.host.branch.entries_before(before, limit).into_iter().map(|entry| (*entry).clone()).collect()
    }

    fn entries_since_user(&self, include_user: bool, limit: u32) -> Vec<Entry> {
        self.host.branch.entries_since_user(include_user, limit).into_iter().map(|entry| (*entry).clone()).collect()
    }

    fn models(&self) -> Vec<ModelInfo> {
        self.host.models.to_vec()
    }

    fn list(&self, folder: &Location) -> Result<Vec<String>, FileError> {
        if let Some(answer) = self.host.lists.get(&key(folder)) {
            return answer.clone();
        }
        let prefix = if folder.path.is_empty() { String::new() } else { format!("{}/", folder.path) };
        let names: BTreeSet<String> = self
            .host
            .files
            .keys()
            .filter(|(mount, _)| *mount == folder.mount)
            .filter_map(|(_, path)| path.strip_prefix(&prefix))
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => rest.into(),
            })
            .collect();
        if names.is_empty() { Err(FileError::NotFound) } else { Ok(names.into_iter().collect()) }
    }

    fn read(&self, file: &Location) -> Result<String, FileError> {
        let key = key(file);
        if let Some(answer) = self.host.reads.get(&key) {
            return answer.clone();
        }
        let text = self.host.files.get(&key).ok_or(FileError::NotFound)?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text).into())
    }

    fn state(&self, scope: Scope) -> Option<Vec<u8>> {
        self.host.state.get(&scope).cloned()
    }

    fn traces(&self, query: &TraceQuery) -> Vec<Trace> {
        traces::read(self.host.traces, &self.host.session.session_id, query)
    }

    fn accounts(&self, whole_project: bool) -> Vec<Account> {
        let session = &self.host.session.session_id;
        traces::accounts(self.host.traces.iter().filter(|trace| whole_project || trace.session_id == *session))
    }

    fn complete(&mut self, request: CompletionRequest) -> RequestId {
        self.request(|id| Effect::Complete(CompleteEffect { id, request }))
    }

    fn ask(&mut self, prompt: Prompt) -> RequestId {
        self.request(|id| Effect::Ask { id, prompt })
    }

    fn refresh(&mut self, file: Location) -> RequestId {
        self.request(|id| Effect::Refresh { id, file })
    }

    fn write(&mut self, file: Location, text: String, only_if_absent: bool) -> RequestId {
        self.request(|id| Effect::Write { id, file, text, only_if_absent })
    }

    fn patch(&mut self, file: Location, initial: Json, patch: Json) -> RequestId {
        self.request(|id| Effect::Patch { id, file, initial, patch })
    }

    fn arm(&mut self, milliseconds: u64) -> RequestId {
        self.request(|id| Effect::Arm { id, milliseconds })
    }

    fn perform(&mut self, effect: Unanswered) {
        self.effects.push(effect.into());
    }
}

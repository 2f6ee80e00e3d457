//! Tells the client what plugins do.

use std::collections::BTreeMap;

use chaperone_contract::{Effect, Event, Reply};

use super::outbox::Outbox;
use super::protocol::{Changed, ClientCapabilities, GateCapability, HostNote, Noted, Told};
use crate::drive::{HookRun, Note, Observer};
use crate::files::Change;

/// Which plugins have described themselves anew.
#[derive(Debug, Default)]
pub struct Descriptions {
    /// Whether one of them did, or failed to, since this was last looked at.
    pub are_news: bool,
    /// Why a plugin could not, by its name.
    pub errors: BTreeMap<String, String>,
}

/// What a session does, on its way to the client.
pub struct Teller<'t> {
    /// The session's id.
    pub session: &'t str,
    /// What the client can do.
    pub client: &'t ClientCapabilities,
    /// Where it goes.
    pub outbox: &'t mut Outbox,
    /// What is noticed on the way.
    pub descriptions: &'t mut Descriptions,
}

impl Teller<'_> {
    /// Tells what the sidecar has to say of a plugin.
    pub fn say(&mut self, plugin: &str, note: HostNote) {
        self.outbox.tell(&Noted { session: self.session.into(), plugin: plugin.into(), note });
    }
}

impl Observer for Teller<'_> {
    fn hook(&mut self, run: &HookRun<'_>) {
        if *run.event == Event::Describe {
            self.descriptions.are_news = true;
            match run.result {
                Ok(_) => _ = self.descriptions.errors.remove(run.plugin),
                Err(failure) => _ = self.descriptions.errors.insert(run.plugin.into(), failure.to_string()),
            }
        }
        match run.result {
            Ok(committed) => {
                for effect in committed.effects.iter().filter(|effect| is_for(self.client, effect)) {
                    let (session, plugin) = (self.session.into(), run.plugin.into());
                    self.outbox.tell(&Told { session, plugin, effect: effect.clone() });
                }
                if let (Event::ToolStart { call }, Reply::Gate(gate)) = (run.event, &committed.reply)
                    && !self.client.gate.is_enough_for(gate)
                {
                    self.say(run.plugin, HostNote::Ungated { call_id: call.id.clone(), gate: gate.clone() });
                }
            }
            Err(failure) => {
                self.say(run.plugin, HostNote::Failed { hook: run.event.name().into(), reason: failure.to_string() });
            }
        }
    }

    fn changed(&mut self, plugin: &str, change: &Change) {
        if change.before.as_ref() != Some(&change.after) {
            self.outbox.tell(&Changed {
                session: self.session.into(),
                plugin: plugin.into(),
                file: change.location.clone(),
                path: change.path.display().to_string(),
                created: change.before.is_none(),
            });
        }
    }

    fn note(&mut self, plugin: &str, note: &Note) {
        let note = match note.clone() {
            // Several plugins may hold one call: the client hears of what it comes to.
            Note::Decided { call_id, refusal } => {
                if self.client.gate == GateCapability::Hold {
                    let (session, plugin) = (self.session.into(), plugin.into());
                    self.outbox.tell(&Told { session, plugin, effect: Effect::Release { call_id, refusal } });
                }
                return;
            }
            Note::Denied { effect } => HostNote::Denied { effect: effect.into() },
            Note::Quarantined { failures } => HostNote::Quarantined { failures },
            Note::RanAway { hooks } => HostNote::RanAway { hooks },
            Note::Answered { label, usage, ok, took } => {
                let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                HostNote::Answered { label, usage, ok, took_ms }
            }
        };
        self.say(plugin, note);
    }
}

/// Whether an effect is the client's to carry out, or to show.
fn is_for(client: &ClientCapabilities, effect: &Effect) -> bool {
    match effect {
        Effect::Complete(_)
        | Effect::Cancel { .. }
        | Effect::Refresh { .. }
        | Effect::Write { .. }
        | Effect::Patch { .. }
        | Effect::Set { .. }
        | Effect::Arm { .. }
        | Effect::Disarm { .. }
        | Effect::Release { .. } => false,
        Effect::Ask { .. } => client.dialogs,
        Effect::Inject(_)
        | Effect::Abort
        | Effect::Notify { .. }
        | Effect::SetStatus { .. }
        | Effect::SetWidget { .. }
        | Effect::Show(_)
        | Effect::Judged(_)
        | Effect::Spared(_)
        | Effect::Found(_)
        | Effect::Decided(_)
        | Effect::Log { .. } => true,
    }
}

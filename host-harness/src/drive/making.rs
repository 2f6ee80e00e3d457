//! Files that the host makes when a plugin asks for that.

use chaperone_contract::*;
use tokio::task::AbortHandle;

use super::{DriveError, Ended, Observer, Session, Ticket};
use crate::files::Repository;

/// Of what nobody waits for any more.
const LATE: &str = "it took too long";

/// A file that is being made.
pub(super) struct Making {
    file: Location,
    pub(super) task: AbortHandle,
}

impl Session {
    /// Begins to make a file, or says at once what comes of that.
    pub(super) fn make(&mut self, ticket: Ticket, file: Location) {
        let folder = match self.plugins[ticket.0].files.repository(&file) {
            Ok(Repository::Of(_)) if self.gave_up => {
                return self.keep(ticket, &file, Err(FileError::Io(LATE.into())));
            }
            Ok(Repository::Of(folder)) => folder.clone(),
            Ok(Repository::Said(said)) => {
                let said = said.clone();
                return self.keep(ticket, &file, Ok(said));
            }
            Ok(Repository::OutOfReach(reason)) => {
                let reason = reason.clone();
                return self.keep(ticket, &file, Err(FileError::Io(reason)));
            }
            Err(error) => {
                let (index, id) = ticket;
                return self.due.push_back((index, Event::Stored { id, outcome: Err(error) }));
            }
        };
        let git = self.git.clone();
        let task = self.tasks.spawn(async move { (ticket, Ended::Made(git.status(&folder).await)) });
        self.making.insert(ticket, Making { file, task });
    }

    /// A file has been made, or cannot be.
    pub(super) fn made(
        &mut self,
        ticket: Ticket,
        text: Result<String, FileError>,
        observer: &mut dyn Observer,
    ) -> Result<(), DriveError> {
        if let Some(Making { file, .. }) = self.making.remove(&ticket) {
            self.keep(ticket, &file, text);
        }
        self.drain(observer)
    }

    /// Waits no longer for files that are being made.
    pub(super) fn give_up_making(&mut self) {
        for (ticket, Making { file, task }) in std::mem::take(&mut self.making) {
            task.abort();
            self.keep(ticket, &file, Err(FileError::Io(LATE.into())));
        }
    }

    fn keep(&mut self, (index, id): Ticket, file: &Location, text: Result<String, FileError>) {
        let outcome = self.plugins[index].files.keep(file, text);
        self.due.push_back((index, Event::Stored { id, outcome }));
    }
}

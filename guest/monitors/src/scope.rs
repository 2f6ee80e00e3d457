//! Whose work a monitor looks at.

use chaperone_sdk::{Agent, AgentKind};
use serde::{Deserialize, Serialize};

use crate::glob::Glob;
use crate::words::words;

words! {
    /// `scope.target`: which of the session's agents.
    Target {
        /// The one that the user talks to. Only this one can be steered.
        Main = "main",
        /// Those that another agent started.
        Subagent = "subagent",
        /// Every one.
        All = "all",
        /// Those that run a step of a workflow.
        Workflow = "workflow",
    }
}

/// The `scope` of a monitor. What is `None` does not narrow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Which agents.
    pub target: Target,
    /// `filter.agent_type`: only agents with one of these names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<Vec<String>>,
    /// `filter.step_name`: only steps of a workflow with such a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_name: Option<Glob>,
    /// `filter.workflow`: only within workflows with such a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Glob>,
}

impl Default for Subject {
    /// The main agent, whatever its name.
    fn default() -> Self {
        Self { target: Target::Main, agent_type: None, step_name: None, workflow: None }
    }
}

impl Subject {
    /// Whether the agent's work is to be looked at. A filter on something that the agent does not have lets nothing
    /// through.
    pub fn includes(&self, agent: &Agent) -> bool {
        let by_target = match self.target {
            Target::All => true,
            Target::Main => agent.kind == AgentKind::Main,
            Target::Subagent => agent.kind == AgentKind::Subagent,
            Target::Workflow => agent.kind == AgentKind::WorkflowStep,
        };
        let named = |names: &Vec<String>| agent.name.as_ref().is_some_and(|name| names.contains(name));
        by_target
            && self.agent_type.as_ref().is_none_or(named)
            && passes(self.step_name.as_ref(), agent.step.as_deref())
            && passes(self.workflow.as_ref(), agent.workflow.as_deref())
    }
}

fn passes(glob: Option<&Glob>, name: Option<&str>) -> bool {
    glob.is_none_or(|glob| name.is_some_and(|name| glob.matches(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(kind: AgentKind) -> Agent {
        Agent {
            kind,
            name: Some("audit-fixer".into()),
            workflow: Some("release".into()),
            step: Some("review-1".into()),
        }
    }

    /// Of main, subagent, workflow step: who is included.
    fn included(subject: &Subject) -> [bool; 3] {
        [AgentKind::Main, AgentKind::Subagent, AgentKind::WorkflowStep].map(|kind| subject.includes(&agent(kind)))
    }

    #[test]
    fn d17_the_target_is_enforced_and_is_the_main_agent_by_default() {
        let target = |target| Subject { target, ..Subject::default() };
        assert_eq!(included(&Subject::default()), [true, false, false]);
        assert_eq!(included(&target(Target::Subagent)), [false, true, false]);
        assert_eq!(included(&target(Target::Workflow)), [false, false, true]);
        assert_eq!(included(&target(Target::All)), [true, true, true]);
    }

    #[test]
    fn d17_filters_narrow_by_agent_step_and_workflow() {
        let all = Subject { target: Target::All, ..Subject::default() };
        let names = |names: &[&str]| Some(names.iter().map(|&name| name.into()).collect());
        let glob = |text: &str| Some(text.parse().unwrap());
        assert_eq!(included(&Subject { agent_type: names(&["x", "audit-fixer"]), ..all.clone() }), [true; 3]);
        assert_eq!(included(&Subject { agent_type: names(&["audit"]), ..all.clone() }), [false; 3]);
        assert_eq!(included(&Subject { step_name: glob("review-*"), ..all.clone() }), [true; 3]);
        assert_eq!(included(&Subject { step_name: glob("build-*"), ..all.clone() }), [false; 3]);
        assert_eq!(included(&Subject { workflow: glob("rel?ase"), ..all.clone() }), [true; 3]);
        assert_eq!(included(&Subject { workflow: glob("nightly"), ..all }), [false; 3]);
    }

    #[test]
    fn a_filter_on_what_the_agent_does_not_have_lets_nothing_through() {
        let nameless = Agent { kind: AgentKind::Main, name: None, workflow: None, step: None };
        let any = || Some("*".parse().unwrap());
        assert!(Subject::default().includes(&nameless));
        assert!(!Subject { agent_type: Some(vec!["x".into()]), ..Subject::default() }.includes(&nameless));
        assert!(!Subject { step_name: any(), ..Subject::default() }.includes(&nameless));
        assert!(!Subject { workflow: any(), ..Subject::default() }.includes(&nameless));
    }
}

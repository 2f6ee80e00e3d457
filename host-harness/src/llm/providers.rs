//! Several providers as one.

use std::future::ready;
use std::sync::Arc;

use chaperone_contract::{LlmError, ModelInfo};

use super::{Answer, BoxFuture, Call, Provider};

/// A set of providers with different names, one of which is the default.
///
/// A call goes to the provider that its model names, or else to one that serves models of that name. A call without a model goes to the provider of the session's own
/// model where that is in the set, else to the default, which then picks its own model.
pub struct Providers {
    default: Arc<dyn Provider>,
    others: Vec<Arc<dyn Provider>>,
}

/// Two providers have one name, so a model of that name could belong to either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two providers are called `{0}`; give one of them another name")]
pub struct DuplicateProvider(pub String);

impl Providers {
    /// The providers `others` beside the `default` one.
    pub fn new(default: Arc<dyn Provider>, others: Vec<Arc<dyn Provider>>) -> Result<Self, DuplicateProvider> {
        let set = Self { default, others };
        let names: Vec<_> = set.members().map(Provider::name).collect();
        match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            Some((_, twice)) => Err(DuplicateProvider((*twice).to_owned())),
            None => Ok(set),
        }
    }

    /// The default comes first.
    fn members(&self) -> impl Iterator<Item = &dyn Provider> {
        std::iter::once(&self.default).chain(&self.others).map(|member| &**member)
    }

    fn named(&self, name: &str) -> Option<&dyn Provider> {
        self.members().find(|member| member.name() == name)
    }

    /// Who passes on what is for the provider of this name.
    fn serving(&self, name: &str) -> Option<&dyn Provider> {
        self.members().find(|member| member.serves(name))
    }

    fn route(&self, call: &Call) -> Result<&dyn Provider, LlmError> {
        match (&call.request.model, &call.session_model) {
            (Some(wanted), _) => {
                self.named(&wanted.provider).or_else(|| self.serving(&wanted.provider)).ok_or_else(|| {
                    let names: Vec<_> = self.members().map(|member| format!("`{}`", member.name())).collect();
                    LlmError::UnknownModel(format!(
                        "`{}/{}`: no provider is called `{}`; there is {}",
                        wanted.provider,
                        wanted.model,
                        wanted.provider,
                        names.join(", ")
                    ))
                })
            }
            (None, Some(own)) => Ok(self.named(&own.provider).unwrap_or(&*self.default)),
            (None, None) => Ok(&*self.default),
        }
    }
}

impl Provider for Providers {
    /// The default's name.
    fn name(&self) -> &str {
        self.default.name()
    }

    /// Everybody's models, the default's first.
    fn models(&self) -> Vec<ModelInfo> {
        self.members().flat_map(Provider::models).collect()
    }

    fn complete<'a>(&'a self, call: &'a Call, progress: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
        match self.route(call) {
            Ok(provider) => provider.complete(call, progress),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::{Completion, StopReason};

    use super::*;
    use crate::llm::fixtures::{call, model};

    /// Answers with its own name.
    struct Named(&'static str);

    impl Provider for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn models(&self) -> Vec<ModelInfo> {
            vec![ModelInfo { id: model(self.0, "m"), context_window: None, max_output_tokens: None, reasons: false }]
        }

        fn complete<'a>(&'a self, _: &'a Call, _: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
            Box::pin(ready(Ok(Completion {
                text: self.0.into(),
                stop_reason: StopReason::Stop,
                usage: None,
                model: model(self.0, "m"),
                parts: Vec::new(),
            })))
        }
    }

    fn both() -> Providers {
        Providers::new(Arc::new(Named("first")), vec![Arc::new(Named("second"))]).unwrap()
    }

    async fn who(call: Call) -> Result<String, LlmError> {
        both().complete(&call, &|_| ()).await.map(|answer| answer.text)
    }

    #[tokio::test]
    async fn a_call_goes_to_the_provider_that_its_model_names() {
        let mut call = call("?");
        call.session_model = Some(model("first", "m"));
        call.request.model = Some(model("second", "m"));
        assert_eq!(who(call).await.unwrap(), "second");
    }

    /// Passes calls on to whoever is called `elsewhere`.
    struct Passing;

    impl Provider for Passing {
        fn name(&self) -> &str {
            "passing"
        }

        fn serves(&self, provider: &str) -> bool {
            provider == "elsewhere"
        }

        fn models(&self) -> Vec<ModelInfo> {
            Vec::new()
        }

        fn complete<'a>(&'a self, _: &'a Call, _: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
            Box::pin(ready(Err(LlmError::Provider("passed on".into()))))
        }
    }

    #[tokio::test]
    async fn who_passes_calls_on_gets_those_that_name_another_provider_unless_that_one_is_there() {
        let set = Providers::new(Arc::new(Named("first")), vec![Arc::new(Passing)]).unwrap();
        let mut call = call("?");
        call.request.model = Some(model("elsewhere", "m"));
        assert_eq!(set.complete(&call, &|_| ()).await, Err(LlmError::Provider("passed on".into())));
        let set = Providers::new(Arc::new(Passing), vec![Arc::new(Named("elsewhere"))]).unwrap();
        assert_eq!(set.complete(&call, &|_| ()).await.unwrap().text, "elsewhere");
        call.request.model = None;
        call.session_model = Some(model("elsewhere", "m"));
        let set = Providers::new(Arc::new(Named("first")), vec![Arc::new(Passing)]).unwrap();
        assert_eq!(set.complete(&call, &|_| ()).await.unwrap().text, "first", "the user has named somebody");
    }

    #[tokio::test]
    async fn without_a_model_the_provider_of_the_sessions_own_model_answers() {
        let mut call = call("?");
        call.session_model = Some(model("second", "m"));
        assert_eq!(who(call).await.unwrap(), "second");
    }

    #[tokio::test]
    async fn the_default_answers_where_nobody_serves_the_sessions_own_model() {
        let mut other = call("?");
        other.session_model = Some(model("elsewhere", "m"));
        assert_eq!(who(other).await.unwrap(), "first");
        assert_eq!(who(call("?")).await.unwrap(), "first");
    }

    #[tokio::test]
    async fn a_provider_that_nobody_configured_is_an_unknown_model_and_the_text_lists_the_others() {
        let mut call = call("?");
        call.request.model = Some(model("third", "m"));
        assert_eq!(
            who(call).await.unwrap_err(),
            LlmError::UnknownModel("`third/m`: no provider is called `third`; there is `first`, `second`".into())
        );
    }

    #[test]
    fn two_providers_of_one_name_are_refused() {
        let refused = Providers::new(Arc::new(Named("first")), vec![Arc::new(Named("first"))]).err();
        assert_eq!(refused, Some(DuplicateProvider("first".into())));
    }

    #[test]
    fn the_models_of_all_are_listed_with_the_defaults_first() {
        let ids: Vec<_> = both().models().into_iter().map(|info| info.id).collect();
        assert_eq!(ids, [model("first", "m"), model("second", "m")]);
        assert_eq!(both().name(), "first");
    }
}

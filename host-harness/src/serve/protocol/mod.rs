//! What is said over the pipe, as types. In JSON they are the contract's form: `docs/json.md`.

mod envelope;
mod exchange;
mod told;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use envelope::{ErrorIn, Id, Incoming, NotificationLine, RequestLine, ResponseLine, incoming};
pub use exchange::*;
pub use told::*;

/// The version of the protocol.
pub const PROTOCOL_VERSION: u32 = 1;

/// The parameters of a request, and what it is answered with.
pub trait Method: DeserializeOwned {
    /// The method's name.
    const NAME: &'static str;
    /// What the other side gets for it.
    type Result: Serialize;
}

/// The parameters of a message that is not answered.
pub trait Notification: Serialize {
    /// The method's name.
    const NAME: &'static str;
}

/// The requests of one side, as one enum.
macro_rules! requests {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $method:literal => $result:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($(#[$case_doc])* $case($case),)*
        }

        $(impl Method for $case {
            const NAME: &'static str = $method;
            type Result = $result;
        })*

        impl $name {
            /// The names of the methods.
            pub const NAMES: &[&str] = &[$($method),*];

            /// Reads the parameters of a method. None where there is no such method.
            pub fn read(
                method: &str,
                params: Option<&serde_json::value::RawValue>,
            ) -> Option<Result<Self, crate::serve::errors::Fault>> {
                Some(match method {
                    $($method => crate::serve::errors::read("params", params).map($name::$case),)*
                    _ => return None,
                })
            }

            /// For the schema: each method's name, parameters and result.
            #[cfg(feature = "schema")]
            pub(in crate::serve) fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<[schemars::Schema; 2]> {
                vec![$([generator.subschema_for::<$case>(), generator.subschema_for::<$result>()]),*]
            }
        }
    };
}

/// The messages of one side that are not answered, as one enum.
macro_rules! notifications {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $method:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($(#[$case_doc])* $case($case),)*
        }

        $(impl Notification for $case {
            const NAME: &'static str = $method;
        })*

        impl $name {
            /// The names of the methods.
            pub const NAMES: &[&str] = &[$($method),*];

            /// Reads the parameters of a method. None where there is no such method.
            pub fn read(
                method: &str,
                params: Option<&serde_json::value::RawValue>,
            ) -> Option<Result<Self, crate::serve::errors::Fault>> {
                Some(match method {
                    $($method => crate::serve::errors::read("params", params).map($name::$case),)*
                    _ => return None,
                })
            }

            /// For the schema: each method's parameters.
            #[cfg(feature = "schema")]
            pub(in crate::serve) fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<schemars::Schema> {
                vec![$(generator.subschema_for::<$case>()),*]
            }
        }
    };
}

use {notifications, requests};

//! Macros that define a type once for every side: plain Rust, JSON, and the component boundary.

/// A WIT record: each field with its WIT name.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident = $wit:tt: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "host", derive(wasmtime::component::ComponentType, wasmtime::component::Lift, wasmtime::component::Lower))]
        #[cfg_attr(feature = "host", component(record))]
        pub struct $name {
            $(
                $(#[$field_doc])*
                #[cfg_attr(feature = "host", component(name = $wit))]
                pub $field: $type,
            )*
        }
    };
}

/// A WIT variant: each case with its WIT name.
macro_rules! variant {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident $(($type:ty))? = $wit:tt,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "host", derive(wasmtime::component::ComponentType, wasmtime::component::Lift, wasmtime::component::Lower))]
        #[cfg_attr(feature = "host", component(variant))]
        pub enum $name {
            $(
                $(#[$case_doc])*
                #[cfg_attr(feature = "host", component(name = $wit))]
                $case $(($type))?,
            )*
        }
    };
}

/// A WIT enum: each case with its WIT name.
macro_rules! wit_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $wit:tt,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "host", derive(wasmtime::component::ComponentType, wasmtime::component::Lift, wasmtime::component::Lower))]
        #[cfg_attr(feature = "host", component(enum))]
        #[repr(u8)]
        pub enum $name {
            $(
                $(#[$case_doc])*
                #[cfg_attr(feature = "host", component(name = $wit))]
                $case,
            )*
        }

        impl $name {
            /// Every case, in the order of the contract.
            pub const ALL: &[Self] = &[$(Self::$case),*];

            /// The name in the contract.
            pub fn name(self) -> &'static str {
                match self { $(Self::$case => $wit,)* }
            }

            /// What a guest's bindings call to read a discriminant.
            #[doc(hidden)]
            pub fn _lift(discriminant: u8) -> Self {
                Self::ALL[usize::from(discriminant)]
            }
        }
    };
}

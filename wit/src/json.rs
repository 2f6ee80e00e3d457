//! JSON forms that serde's derives do not give.

/// `result` as `{"ok": …}` or `{"err": …}`.
pub mod outcome {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum Outcome<T, E> {
        Ok(T),
        Err(E),
    }

    /// For `#[serde(with)]`.
    pub fn serialize<T: Serialize, E: Serialize, S: Serializer>(
        value: &Result<T, E>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Ok(value) => Outcome::<&T, &E>::Ok(value),
            Err(error) => Outcome::Err(error),
        }
        .serialize(serializer)
    }

    /// For `#[serde(with)]`.
    pub fn deserialize<'de, T: Deserialize<'de>, E: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Result<T, E>, D::Error> {
        Ok(match Outcome::deserialize(deserializer)? {
            Outcome::Ok(value) => Ok(value),
            Outcome::Err(error) => Err(error),
        })
    }
}

/// `list<u8>` as text where it is UTF-8, else as a list of numbers.
pub mod bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(untagged)]
    pub(crate) enum Bytes<T, B> {
        Text(T),
        Raw(B),
    }

    /// For `#[serde(with)]`.
    pub fn serialize<S: Serializer>(value: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(value) {
            Ok(text) => Bytes::Text(text),
            Err(_) => Bytes::Raw(value),
        }
        .serialize(serializer)
    }

    /// For `#[serde(with)]`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Bytes::<String, Vec<u8>>::deserialize(deserializer)? {
            Bytes::Text(text) => text.into_bytes(),
            Bytes::Raw(bytes) => bytes,
        })
    }
}

//! Walking a TOML document by its spans, and collecting what is wrong on the way.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::fault::{ConfigError, Fault};
use super::nearest::nearest;
use super::{Config, sections};
use crate::project::expand_home;

/// What relative paths and `~` stand for.
pub(super) struct Origin {
    pub folder: PathBuf,
    pub home: Option<PathBuf>,
}

pub(super) fn config(file: &str, text: &str, origin: &Origin) -> Result<Config, ConfigError> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { file, text, origin, faults: Vec::new() };
    if !errors.is_empty() {
        for error in errors {
            let (message, mend) = match error.message().split_once(", expected ") {
                Some((message, expected)) => (message, format!("expected here: {expected}")),
                None if error.message().contains("duplicate") => (error.message(), "keep one of the two".to_owned()),
                None => (error.message(), "write `name = value` or `[table]`".to_owned()),
            };
            reader.fault(error.span().unwrap_or(0..0), message.to_owned(), mend);
        }
        return Err(reader.into_error());
    }
    let root = Table { title: "the file".to_owned(), span: 0..0, entries: document.get_ref() };
    let config = sections::config(&mut reader, &root);
    if reader.faults.is_empty() { Ok(config) } else { Err(reader.into_error()) }
}

/// A table of the document.
pub(super) struct Table<'d> {
    /// How errors call it.
    pub title: String,
    /// Its header, or the whole of an inline table.
    pub span: Range<usize>,
    pub entries: &'d DeTable<'d>,
}

impl<'d> Table<'d> {
    pub(super) fn get(&self, name: &str) -> Option<Field<'d>> {
        let (key, value) = self.entries.get_key_value(name)?;
        Some(Field::new(key, value))
    }

    /// In alphabetical order.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field<'d>> {
        self.entries.iter().map(|(key, value)| Field::new(key, value))
    }
}

/// A key and its value, or an element of a list that stands behind that key.
#[derive(Clone)]
pub(super) struct Field<'d> {
    pub name: &'d str,
    /// Of the key.
    pub key_span: Range<usize>,
    /// Of the value.
    pub span: Range<usize>,
    value: &'d DeValue<'d>,
}

impl<'d> Field<'d> {
    fn new(key: &'d Spanned<DeString<'d>>, value: &'d Spanned<DeValue<'d>>) -> Field<'d> {
        Field { name: key.get_ref(), key_span: key.span(), span: value.span(), value: value.get_ref() }
    }

    pub(super) fn as_text(&self) -> Option<&'d str> {
        self.value.as_str()
    }

    pub(super) fn as_flag(&self) -> Option<bool> {
        self.value.as_bool()
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    fn type_name(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }
}

/// Reads values, and notes a fault for each that is not what it should be.
pub(super) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    origin: &'t Origin,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    pub(super) fn fault(&mut self, span: Range<usize>, message: String, mend: impl Into<String>) {
        self.faults.push(Fault::new(self.file, self.text, span, message, mend.into()));
    }

    /// A fault whose value may be a secret, and is not shown.
    pub(super) fn fault_of_secret(&mut self, field: &Field<'_>, message: String, mend: impl Into<String>) {
        self.fault(field.key_span.clone(), message, mend);
        if let Some(fault) = self.faults.last_mut() {
            fault.hide_what_follows();
        }
    }

    /// The text that stands at a span.
    pub(super) fn quoted(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    fn into_error(mut self) -> ConfigError {
        self.faults.sort_by_key(|fault| (fault.line, fault.column));
        ConfigError::Faulty(self.faults)
    }

    fn wrong_type(&mut self, field: &Field<'_>, wanted: &str, mend: impl Into<String>) {
        let message = format!("`{}` must be {wanted}, not {}", field.name, field.type_name());
        self.fault(field.span.clone(), message, mend);
    }

    /// A table in which every field is one of `known`.
    pub(super) fn table<'d>(&mut self, field: &Field<'d>, title: &str, known: &[&str]) -> Option<Table<'d>> {
        let table = self.open_table(field, title)?;
        self.check_fields(&table, known);
        Some(table)
    }

    /// A table with fields of any name.
    pub(super) fn open_table<'d>(&mut self, field: &Field<'d>, title: &str) -> Option<Table<'d>> {
        let DeValue::Table(entries) = field.value else {
            self.wrong_type(field, "a table", format!("write a table `[{title}]`"));
            return None;
        };
        Some(Table { title: format!("`{title}`"), span: field.span.clone(), entries })
    }

    /// A list of tables in which every field is one of `known`.
    pub(super) fn tables<'d>(&mut self, field: &Field<'d>, title: &str, known: &[&str]) -> Vec<Table<'d>> {
        let mend = format!("write `[[{title}]]`, with two brackets, once for each");
        let Some(elements) = self.elements(field, "a list of tables", &mend) else { return Vec::new() };
        elements.iter().filter_map(|element| self.table(element, title, known)).collect()
    }

    pub(super) fn check_fields(&mut self, table: &Table<'_>, known: &[&str]) {
        for field in table.fields().filter(|field| !known.contains(&field.name)) {
            let message = format!("unknown field `{}` in {}", field.name, table.title);
            let mend = meant(field.name, known, "known fields");
            if field.name.to_lowercase().contains("key") {
                self.fault_of_secret(&field, message, mend);
            } else {
                self.fault(field.key_span.clone(), message, mend);
            }
        }
    }

    fn elements<'d>(&mut self, field: &Field<'d>, wanted: &str, mend: &str) -> Option<Vec<Field<'d>>> {
        let DeValue::Array(elements) = field.value else {
            self.wrong_type(field, wanted, mend);
            return None;
        };
        let element =
            |value: &'d Spanned<DeValue<'d>>| Field { span: value.span(), value: value.get_ref(), ..field.clone() };
        Some(elements.iter().map(element).collect())
    }

    /// A string that is not empty.
    pub(super) fn text(&mut self, field: &Field<'_>, mend: &str) -> Option<String> {
        match field.as_text() {
            Some("") => {
                self.fault(field.span.clone(), format!("`{}` is empty", field.name), mend);
                None
            }
            Some(text) => Some(text.to_owned()),
            None => {
                self.wrong_type(field, "a string", mend);
                None
            }
        }
    }

    /// A list of strings that are not empty, each with its place.
    pub(super) fn texts(&mut self, field: &Field<'_>, mend: &str) -> Option<Vec<(String, Range<usize>)>> {
        let mut texts = Vec::new();
        for element in self.elements(field, "a list of strings", mend)? {
            match element.as_text() {
                Some("") => self.fault(element.span, format!("`{}` holds an empty string", field.name), mend),
                Some(text) => texts.push((text.to_owned(), element.span)),
                None => {
                    let message = format!("`{}` must hold strings, not {}", field.name, element.type_name());
                    self.fault(element.span, message, mend);
                }
            }
        }
        Some(texts)
    }

    /// One of a few words.
    pub(super) fn word(&mut self, field: &Field<'_>, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(field, &format!("write one of {}", list(words)))?;
        let word = words.iter().find(|word| **word == text).copied();
        if word.is_none() {
            let message = format!("`{}` cannot be `{text}`", field.name);
            self.fault(field.span.clone(), message, meant(&text, words, "possible"));
        }
        word
    }

    /// A path; relative ones start from the folder of the file.
    pub(super) fn path(&mut self, field: &Field<'_>, mend: &str) -> Option<PathBuf> {
        let text = self.text(field, mend)?;
        Some(self.origin.folder.join(expand_home(Path::new(&text), self.origin.home.as_deref())))
    }

    pub(super) fn flag(&mut self, field: &Field<'_>) -> Option<bool> {
        let flag = field.as_flag();
        if flag.is_none() {
            self.wrong_type(field, "true or false", "write `true` or `false`, without quotes");
        }
        flag
    }

    /// A whole number within a range; `unit` is what it counts.
    pub(super) fn number<N>(&mut self, field: &Field<'_>, range: RangeInclusive<N>, unit: &str) -> Option<N>
    where
        N: Copy + PartialOrd + TryFrom<u64> + std::fmt::Display,
    {
        let mend = format!("write a whole number of {unit} from {} to {}", range.start(), range.end());
        let DeValue::Integer(integer) = field.value else {
            self.wrong_type(field, "a whole number", mend);
            return None;
        };
        let number =
            u64::from_str_radix(integer.as_str(), integer.radix()).ok().and_then(|number| N::try_from(number).ok());
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let message = format!("`{}` is out of range: {}", field.name, self.quoted(&field.span));
            self.fault(field.span.clone(), message, mend);
        }
        number
    }
}

/// Names the one that was probably meant, and else all that there are.
pub(super) fn meant(name: &str, known: &[&str], what: &str) -> String {
    match nearest(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("{what}: {}", list(known)),
    }
}

pub(super) fn list(names: &[&str]) -> String {
    format!("`{}`", names.join("`, `"))
}

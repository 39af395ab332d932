//! Session options, `SET lance_pushdown.<key> = <bool>`.

use std::any::Any;

use datafusion::common::config::{ConfigEntry, ConfigExtension, ExtensionOptions};
use datafusion::config::ConfigOptions;
use datafusion::error::{DataFusionError, Result};

/// Which capabilities the rule may use. Every switch is on by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PushdownOptions {
    /// The rule as a whole; off, it returns every plan untouched and reports nothing.
    pub enabled: bool,
    /// Answer fragments from facts in memory (bucket (b)).
    pub literal_counts: bool,
    /// Decide filters from statistics, and use zone maps that were read when the table was registered. Off, literals
    /// follow from the manifest alone, and without a filter only.
    pub statistics: bool,
    /// Answer fragments from indexes (bucket (a)).
    pub index_counts: bool,
    /// Answer `COUNT(column)`, not only `COUNT(*)`.
    pub count_column: bool,
}

const KEYS: [(&str, &str); 5] = [
    ("enabled", "Rewrite aggregates over Lance scans"),
    ("literal_counts", "Answer fragments from facts in memory where they are exact"),
    ("statistics", "Decide filters from the manifest and zone maps, and count NULLs from zone maps"),
    ("index_counts", "Answer fragments from bitmap indexes where they are exact"),
    ("count_column", "Answer COUNT(column), not only COUNT(*)"),
];

impl PushdownOptions {
    /// `COUNT(*)` and `COUNT(column)` without DISTINCT, filters decided by statistics or evaluated by bitmap indexes, one
    /// base relation: nothing beyond it, whatever later versions add to the default.
    pub const fn initial_scope() -> Self {
        Self { enabled: true, literal_counts: true, statistics: true, index_counts: true, count_column: true }
    }

    /// The session's options, or the default where the extension is not registered.
    pub fn from_config(config: &ConfigOptions) -> Self {
        config.extensions.get::<Self>().copied().unwrap_or_default()
    }

    fn switch(&mut self, key: &str) -> Option<&mut bool> {
        match key {
            "enabled" => Some(&mut self.enabled),
            "literal_counts" => Some(&mut self.literal_counts),
            "statistics" => Some(&mut self.statistics),
            "index_counts" => Some(&mut self.index_counts),
            "count_column" => Some(&mut self.count_column),
            _ => None,
        }
    }
}

impl Default for PushdownOptions {
    fn default() -> Self {
        Self::initial_scope()
    }
}

impl ConfigExtension for PushdownOptions {
    const PREFIX: &'static str = "lance_pushdown";
}

impl ExtensionOptions for PushdownOptions {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(*self)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let parsed = value.parse::<bool>().map_err(|_| {
            DataFusionError::Configuration(format!("lance_pushdown.{key} is true or false, not `{value}`"))
        })?;
        let switch = self.switch(key).ok_or_else(|| {
            let known = KEYS.map(|(name, _)| name).join(", ");
            DataFusionError::Configuration(format!("lance_pushdown.{key} does not exist (known: {known})"))
        })?;
        *switch = parsed;
        Ok(())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let mut options = *self;
        KEYS.iter()
            .map(|(key, description)| ConfigEntry {
                // `SHOW` looks entries up by their full key.
                key: format!("{}.{key}", Self::PREFIX),
                value: options.switch(key).map(|value| value.to_string()),
                description,
            })
            .collect()
    }
}

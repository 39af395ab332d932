//! The handle that a session is set up with.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use datafusion::catalog::TableProvider;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::session_state::SessionState;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionConfig;
use lance::Dataset;

use crate::count_from_mask::{IndexReader, LanceIndexReader};
use crate::error::Result;
use crate::options::PushdownOptions;
use crate::provider::PushdownTable;
use crate::registry::{DatasetFacts, PerManifest, lock};
use crate::report::PushdownReport;
use crate::rule::AggregatePushdown;
use crate::statistics::ZoneMaps;

type Rules = Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>;

/// Reports kept for [`LancePushdown::take_reports`]; older ones are dropped.
const MAX_REPORTS: usize = 1024;

/// Fragments in all reports kept, about 100 bytes each; at least one report is kept.
const MAX_REPORTED_FRAGMENTS: usize = 100_000;

/// What the rule, its tables and its owner share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) reader: Arc<dyn IndexReader>,
    facts: PerManifest<DatasetFacts>,
    zone_maps: PerManifest<ZoneMaps>,
    reports: Mutex<VecDeque<PushdownReport>>,
}

impl Shared {
    /// What was preloaded for this dataset version.
    pub(crate) fn facts(&self, dataset: &Dataset) -> Option<Arc<DatasetFacts>> {
        self.facts.get(&dataset.manifest)
    }

    /// Loads the index metadata of this dataset version, once.
    pub(crate) async fn preload(&self, dataset: &Dataset) -> lance::Result<()> {
        if self.facts.get(&dataset.manifest).is_some() {
            return Ok(());
        }
        let facts = DatasetFacts::load(dataset).await?;
        self.facts.get_or_insert_with(&dataset.manifest, move || facts);
        Ok(())
    }

    /// What zone maps of this dataset version say, if they were read.
    pub(crate) fn zone_maps(&self, dataset: &Dataset) -> Option<Arc<ZoneMaps>> {
        self.zone_maps.get(&dataset.manifest)
    }

    /// Reads the zone maps of this dataset version, once.
    async fn preload_zone_maps(&self, dataset: &Dataset) -> Result<()> {
        if self.zone_maps.get(&dataset.manifest).is_some() {
            return Ok(());
        }
        let zone_maps = ZoneMaps::load(dataset).await?;
        self.zone_maps.get_or_insert_with(&dataset.manifest, move || zone_maps);
        Ok(())
    }

    pub(crate) fn record(&self, report: PushdownReport) {
        let mut reports = lock(&self.reports);
        reports.push_back(report);
        let mut fragments: usize = reports.iter().map(|report| report.fragments.len()).sum();
        while reports.len() > 1 && (reports.len() > MAX_REPORTS || fragments > MAX_REPORTED_FRAGMENTS) {
            fragments -= reports.pop_front().map_or(0, |oldest| oldest.fragments.len());
        }
    }
}

/// Aggregate pushdown for one or more sessions; clones share everything.
///
/// Register its rule in the session and its tables in the catalog. A stock
/// [`LanceTableProvider`](lance::datafusion::LanceTableProvider) works too, with less: only the indexes that the scan's
/// own filter uses are then known.
#[derive(Debug, Clone)]
pub struct LancePushdown {
    shared: Arc<Shared>,
}

impl LancePushdown {
    /// A pushdown that reads indexes through Lance.
    pub fn new() -> Self {
        Self::with_reader(Arc::new(LanceIndexReader::new()))
    }

    /// A pushdown with another way to indexes, for tests and caches.
    pub fn with_reader(reader: Arc<dyn IndexReader>) -> Self {
        let (facts, zone_maps) = (PerManifest::default(), PerManifest::default());
        Self { shared: Arc::new(Shared { reader, facts, zone_maps, reports: Mutex::default() }) }
    }

    /// The rule. Its place is right before `aggregate_statistics`.
    pub fn rule(&self) -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
        Arc::new(AggregatePushdown::new(Arc::clone(&self.shared)))
    }

    /// Inserts the rule into a list of physical optimizer rules: right before `aggregate_statistics`, which would
    /// otherwise take unfiltered counts first, or at the head of a list without it.
    pub fn register_rule(&self, mut rules: Rules) -> Rules {
        let place = rules.iter().position(|rule| rule.name() == "aggregate_statistics").unwrap_or(0);
        rules.insert(place, self.rule());
        rules
    }

    /// A session with DataFusion's defaults, the rule, and [`PushdownOptions`] so that `SET lance_pushdown.…` works.
    pub fn session_state(&self, mut config: SessionConfig) -> SessionState {
        let extensions = &mut config.options_mut().extensions;
        if extensions.get::<PushdownOptions>().is_none() {
            extensions.insert(PushdownOptions::default());
        }
        SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_physical_optimizer_rules(self.register_rule(PhysicalOptimizer::new().rules))
            .build()
    }

    /// The dataset as a table that preloads index metadata for the rule whenever it is scanned.
    pub fn table(&self, dataset: Arc<Dataset>) -> Arc<dyn TableProvider> {
        Arc::new(PushdownTable::new(dataset, Arc::clone(&self.shared)))
    }

    /// [`LancePushdown::table`] with all metadata loaded at once, and with the contents of the dataset's zone maps:
    /// planning over it reads nothing, and filters are decided per fragment where the zone maps allow.
    ///
    /// It reads one small file for each segment of a zone map, and keeps a few values per fragment and column.
    ///
    /// # Errors
    /// If the index metadata or a zone map cannot be read.
    pub async fn open_table(&self, dataset: Arc<Dataset>) -> Result<Arc<dyn TableProvider>> {
        self.shared.preload(&dataset).await?;
        self.shared.preload_zone_maps(&dataset).await?;
        Ok(self.table(dataset))
    }

    /// The reports since the last call, oldest first: one for each aggregate over a Lance scan that was planned.
    /// At most 1024 are kept, and fewer once they speak of more than 100 000 fragments.
    pub fn take_reports(&self) -> Vec<PushdownReport> {
        std::mem::take(&mut *lock(&self.shared.reports)).into()
    }
}

impl Default for LancePushdown {
    fn default() -> Self {
        Self::new()
    }
}

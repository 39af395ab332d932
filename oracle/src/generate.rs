//! Seeded generation of cases. A case depends on the seed and its own number only, so any one can be made again alone.

mod bias;
mod columns;
mod having;
mod history;
mod nested;
mod predicate;
mod rows;
mod shape;
mod strategy;
mod values;
mod workload;

use datafusion::common::config::ExtensionOptions;
use lance_pushdown::PushdownOptions;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use bias::{Bias, biased_case};
pub use strategy::{RecipeTree, cases, queries, recipes, table_histories, workloads};

use crate::recipe::{Case, RECIPE_VERSION, Recipe, Settings};

/// The name of the generated table.
pub const TABLE: &str = "t";

/// Case number `index` of the run with this seed.
#[must_use]
pub fn case(seed: u64, index: u64) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    Case { seed, index, recipe: recipe(&mut rng) }
}

fn recipe(rng: &mut ChaCha8Rng) -> Recipe {
    let (table, columns) = history::generate(rng);
    let workload = workload::generate(&columns, rng);
    Recipe { version: RECIPE_VERSION, table, workload, settings: settings(rng) }
}

fn settings(rng: &mut impl Rng) -> Settings {
    let switches = PushdownOptions::default().entries();
    let off = switches.iter().filter(|_| rng.random_bool(0.06));
    // An entry's key has the extension's prefix.
    let off = off.filter_map(|entry| Some((entry.key.rsplit('.').next()?.to_owned(), "false".to_owned())));
    let pushdown = off.collect();
    let stock_provider = rng.random_bool(0.2);
    Settings {
        pushdown,
        target_partitions: *[1, 2, 4].choose(rng).unwrap_or(&1),
        batch_size: *[1, 3, 64, 8192].choose(rng).unwrap_or(&8192),
        stock_provider,
        zone_maps_read: !stock_provider && rng.random_bool(0.7),
        exact_floats: rng.random_bool(0.25),
        price_seed: rng.random_bool(0.6).then(|| rng.random()),
        in_memory: rng.random_bool(0.25),
        text_views: rng.random_bool(0.3),
        memory_limit: rng
            .random_bool(0.2)
            .then(|| [1 << 10, 4 << 10, 16 << 10, 64 << 10].choose(rng).copied())
            .flatten(),
    }
}

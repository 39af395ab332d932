//! Cases of a certain kind: drawn again until one is.

use std::fmt;
use std::str::FromStr;

use super::case;
use crate::fuzz::{Point, static_points};
use crate::recipe::{Case, Recipe};
use crate::{OracleError, Result};

/// How often a case is drawn for a bias. What fits more seldom than one in so many cases is seldom found.
const DRAWS: u64 = 200;

/// Wanted of a case: a coverage point that its recipe shows before anything runs, as `history: drop column`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bias(Point);

impl Bias {
    /// A bias to a point of [`static_points`].
    #[must_use]
    pub fn new(point: Point) -> Self {
        Self(point)
    }

    /// Does the recipe show it?
    #[must_use]
    pub fn fits(&self, recipe: &Recipe) -> bool {
        static_points(recipe).contains(&self.0)
    }
}

impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Bias {
    type Err = OracleError;

    fn from_str(text: &str) -> Result<Self> {
        let point = text.split_once(": ").and_then(|(group, name)| Some(Point::new(crate::fuzz::group(group)?, name)));
        point
            .map(Self)
            .ok_or_else(|| OracleError::Options(format!("'{text}' is no coverage point, as 'history: append'")))
    }
}

/// Case number `index` of the run with this seed, of the kind that is wanted: the first of a few hundred draws that fits,
/// or, if none does, the case that [`case`] makes. It depends on nothing but the three.
#[must_use]
pub fn biased_case(seed: u64, index: u64, bias: &Bias) -> Case {
    let unbiased = case(seed, index);
    if bias.fits(&unbiased.recipe) {
        return unbiased;
    }
    // Seeds next to one another are as unlike as any.
    let again = (1..DRAWS).map(|draw| case(seed.wrapping_add(draw), index).recipe);
    match again.into_iter().find(|recipe| bias.fits(recipe)) {
        Some(recipe) => Case { seed, index, recipe },
        None => unbiased,
    }
}

//! `--only`: which cases of a run count.

use std::collections::BTreeSet;

use super::catalogue::catalogue;
use super::coverage::Point;
use super::static_points::SHOWN;
use crate::{OracleError, Result};

/// Texts, in lower case, that points of a case must contain.
#[derive(Debug)]
pub(super) struct Selection {
    /// Found in what recipes show: they choose before anything runs.
    shown: Vec<String>,
    /// Found only in what cases go through: such a case runs first and counts then, or not.
    reached: Vec<String>,
}

impl Selection {
    pub(super) fn new(only: &[String]) -> Result<Self> {
        let (mut shown, mut reached) = (Vec::new(), Vec::new());
        for text in only {
            let text = text.to_lowercase();
            let named: Vec<Point> =
                catalogue().map(|known| known.point).filter(|point| contains(point, &text)).collect();
            if named.is_empty() {
                return Err(OracleError::Options(format!("no coverage point contains '{text}'")));
            }
            let is_shown = named.iter().any(|point| SHOWN.contains(&point.group));
            if is_shown { &mut shown } else { &mut reached }.push(text);
        }
        Ok(Self { shown, reached })
    }

    /// May a case count whose recipe shows these points?
    pub(super) fn shows(&self, shown: &BTreeSet<Point>) -> bool {
        all_in(&self.shown, shown)
    }

    /// Does a case count that went through these points?
    pub(super) fn reaches(&self, reached: &BTreeSet<Point>) -> bool {
        all_in(&self.reached, reached)
    }
}

fn all_in(texts: &[String], points: &BTreeSet<Point>) -> bool {
    texts.iter().all(|text| points.iter().any(|point| contains(point, text)))
}

fn contains(point: &Point, text: &str) -> bool {
    point.to_string().to_lowercase().contains(text)
}

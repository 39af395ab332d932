//! The generator for others' property tests: as a proptest strategy and as `arbitrary::Arbitrary`.

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;

use super::case;
use crate::recipe::{Case, Recipe};

/// All cases that the generator can make. They shrink by their recipes, not by their seeds, so not through proptest.
pub fn cases() -> impl Strategy<Value = Case> {
    (any::<u64>(), any::<u64>()).prop_map(|(seed, index)| case(seed, index)).no_shrink()
}

impl proptest::arbitrary::Arbitrary for Case {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        cases().boxed()
    }
}

impl proptest::arbitrary::Arbitrary for Recipe {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        cases().prop_map(|case| case.recipe).boxed()
    }
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(case(bytes.arbitrary()?, bytes.arbitrary()?))
    }
}

impl<'a> Arbitrary<'a> for Recipe {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Case::arbitrary(bytes).map(|case| case.recipe)
    }
}

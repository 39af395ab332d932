//! Recipes replay: through JSON, and from their seeds.

use asap_oracle::generate::{case, cases};
use asap_oracle::recipe::{Operation, Recipe};
use asap_oracle::value::{Float, Value};
use proptest::prelude::*;

proptest! {
    #[test]
    fn round_trip_through_json(case in cases()) {
        let json = case.recipe.to_json().unwrap();
        prop_assert_eq!(Recipe::from_json(&json).unwrap(), case.recipe);
    }

    #[test]
    fn depend_on_seed_and_index_only(seed: u64, index in 0_u64..1000) {
        prop_assert_eq!(case(seed, index), case(seed, index));
        prop_assert_ne!(case(seed, index).recipe, case(seed, index + 1).recipe);
    }
}

#[test]
fn every_float_survives_json() {
    for bits in [0, 1 << 63, 0x7ff8_0000_0000_0000, 0xfff8_0000_0000_0001, f64::INFINITY.to_bits(), 1.5_f64.to_bits()] {
        let value = Value::Float64(Float(f64::from_bits(bits)));
        let json = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value, "{json}");
    }
}

#[test]
fn refuses_what_cannot_be_followed() {
    let recipe = case(1, 1).recipe;
    let mut newer = recipe.clone();
    newer.version += 1;
    assert!(newer.validate().unwrap_err().to_string().contains("version"));

    let mut twice = recipe.clone();
    twice.table.history.push(Operation::Create { rows: Vec::new() });
    assert!(twice.validate().unwrap_err().to_string().contains("create"));

    let mut narrow = recipe;
    narrow.table.history.push(Operation::Append { rows: vec![Vec::new()] });
    assert!(narrow.validate().unwrap_err().to_string().contains("does not fit"));
}

//! The registry of model values: every quantity by its name, as a function of what it is
//! asked of.

use serde::{Deserialize, Deserializer, de};

use super::question::Formula;
use super::{curve, fluid, layers, measured, onset, sessions, trap};
use crate::nearest;

/// A quantity of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// Its name in the files.
    pub name: &'static str,
    /// How it is computed.
    pub of: Formula,
}

/// Every quantity, in the order of the paper's sections.
pub fn quantities() -> impl Iterator<Item = Quantity> {
    [
        sessions::QUANTITIES,
        onset::QUANTITIES,
        trap::QUANTITIES,
        fluid::QUANTITIES,
        curve::QUANTITIES,
        layers::QUANTITIES,
        measured::QUANTITIES,
    ]
    .into_iter()
    .flatten()
    .map(|(name, of)| Quantity { name, of: *of })
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let asked = String::deserialize(from)?;
        quantities().find(|quantity| quantity.name == asked).ok_or_else(|| {
            let known = quantities().map(|quantity| quantity.name);
            de::Error::custom(nearest::unknown("quantity", &asked, "", known))
        })
    }
}

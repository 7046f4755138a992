//! Whether the user accepted what the plans cost, each consequence by its name.

use super::{Plan, Refusal};
use crate::knowledge::Consequence;

/// Why the accepted consequences do not match the costs of these plans. Either a consequence is not accepted,
/// or no plan has the accepted one. One word accepts one consequence, and no word accepts all.
pub fn unaccepted(plans: &[Plan], accepted: &[Consequence]) -> Vec<Refusal> {
    let missing = plans
        .iter()
        .filter(|plan| plan.cost.must_be_accepted() && !accepted.contains(&plan.cost.consequence))
        .map(|plan| Refusal {
            target: plan.target.clone().into(),
            why: format!("it costs {}: {}", plan.cost.consequence, plan.cost.text),
            needs: format!(
                "whoever may decide that accepts it by its name: --accept {}",
                plan.cost.consequence.typed()
            ),
        });
    let needless = accepted.iter().filter_map(|word| {
        let plan = plans.first()?;
        plans
            .iter()
            .all(|plan| plan.cost.consequence != *word)
            .then(|| Refusal {
                target: plan.target.clone().into(),
                why: format!("--accept {} accepts what nothing here costs", word.typed()),
                needs: format!(
                    "only the consequence of this very plan is accepted: {}",
                    plan.cost.consequence.typed()
                ),
            })
    });
    missing.chain(needless).collect()
}

//! Whether the user accepted what the plans cost, each consequence by its name.

use super::{Instead, Plan, Refusal};
use crate::knowledge::Consequence;

/// Why the accepted consequences do not match the costs of these plans. Either a consequence is not accepted,
/// or no plan has the accepted one. One word accepts one consequence, and no word accepts all.
pub fn unaccepted(plans: &[Plan], accepted: &[Consequence]) -> Vec<Refusal> {
    let missing = plans
        .iter()
        .filter(|plan| plan.cost.must_be_accepted() && !accepted.contains(&plan.cost.consequence))
        .map(not_accepted);
    let needless = accepted.iter().filter_map(|word| {
        let plan = plans.first()?;
        plans.iter().all(|plan| plan.cost.consequence != *word).then(|| {
            Refusal::new(
                &plan.target,
                format!("{} was accepted, and nothing here costs that", word.typed()),
                "only costs of this plan are accepted",
                Instead::only("Read the cost in the plan above."),
            )
        })
    });
    missing.chain(needless).collect()
}

fn not_accepted(plan: &Plan) -> Refusal {
    let cost = plan.cost.consequence.typed();
    let why = if plan.cost.known {
        format!("the removal costs {cost}, and nobody has accepted that")
    } else {
        format!(
            "this finalizer is unknown, so it may protect data: {cost} is assumed, and nobody has accepted that"
        )
    };
    Refusal::new(
        &plan.target,
        why,
        "whoever owns the data accepts the cost (kubectl finalizers remove --help)",
        Instead::explain(
            &plan.target,
            "First find out who should remove it, and what that cleans up:",
        ),
    )
}

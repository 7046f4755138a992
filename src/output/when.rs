//! The words for the situations of steps and the conditions of outlooks.

use crate::diagnose::model::{Moment, When};

/// The heading of the steps for a situation.
pub fn heading(when: When) -> &'static str {
    match when {
        When::Now => "what to do",
        When::Mistake => "deleted by mistake?",
        When::Intended => "deletion intended?",
        When::KeepData => "keep the data?",
        When::KeepSnapshot => "keep the snapshot?",
        When::StillThere => "still there?",
        When::NoProgress => "number does not fall?",
        When::HolderRuns => "does it run?",
        When::HolderGone => "is it gone?",
        When::HolderNeverBack => "will it never come back?",
        When::NobodyHandles => "nobody handles it?",
        When::ProductGone => "product is gone?",
        When::ProductUnwanted => "is the product to go, with all its data?",
        When::DriverGone => "the driver is gone",
        When::WriterGone => "whoever wrote it is gone?",
        When::NodeBack => "node comes back?",
        When::MachineOff => "machine is off?",
        When::MachineGone => "machine is gone?",
        When::CanWait => "can it wait?",
        When::GiveUp => "give it up?",
        When::LostForGood => "lost for good?",
        When::NeverBack => "it cannot come back?",
        When::NoReleaseRemoves => "no release removes it?",
        When::StillNeeded => "is it still needed?",
        When::MakeAgain => "make it again?",
        When::Gone => "when it is gone",
    }
}

/// The condition of an outlook, in front of what then happens.
pub fn condition(when: Moment) -> &'static str {
    match when {
        Moment::NothingDone => "if nothing is done",
        Moment::Meanwhile => "meanwhile",
        Moment::Done => "done when",
        Moment::UntilGone => "until it is gone",
        Moment::Soon => "soon",
        Moment::WhoDeleted => "who deleted it",
        Moment::Namespace => "its namespace",
        Moment::Goes => "when it goes",
        Moment::ClaimGoes => "when the claim goes",
        Moment::ClaimsGo => "when its claims go",
        Moment::Succeeds => "when it succeeds",
        Moment::WorkDone => "when that is done",
        Moment::DeletedNow => "if it is deleted now",
        Moment::Removal => "when it is removed",
        Moment::RemovedNow => "if it is removed now",
        Moment::RemovedByHand => "if the finalizer is removed by hand",
    }
}

//! Zones, the order of commit, push and job, and the verdict.

use trapcheck::provenance::Verdict;
use trapcheck::provenance::time::parse;

use crate::provenance::fixture::{COMMITTED_UNIX, Exported, Project, request};

fn pushed_at(proof: &Exported<'_>, time: &str) {
    proof.edit(|p| p.push.as_mut().expect("a push").time = time.into());
}

fn first_job_at(proof: &Exported<'_>, time: &str) {
    proof.edit(|p| p.jobs.as_mut().expect("jobs").first_submitted = time.into());
}

#[test]
fn a_push_before_the_first_job_is_pre_registered() {
    let project = Project::new();
    let verified = project.proof().sound();
    assert_eq!(verified.verdict, Verdict::PreRegistered);
    assert_eq!(verified.committed_unix, COMMITTED_UNIX);
    assert_eq!(verified.pushed_unix, Some(COMMITTED_UNIX + 27));
    assert_eq!(verified.first_job_unix, Some(COMMITTED_UNIX + 43 * 60 + 44));
}

#[test]
fn the_same_moment_in_another_zone_is_the_same_proof() {
    let project = Project::new();
    let proof = project.proof();
    let sound = proof.sound();
    for time in ["2026-11-05T20:07:35Z", "2026-11-05 20:07:35 UTC", "2026-11-05 15:07:35 -05:00"] {
        pushed_at(&proof, time);
        assert_eq!(proof.sound().pushed_unix, sound.pushed_unix);
    }
}

#[test]
fn a_wrong_time_zone_fails_with_the_reason() {
    let project = Project::new();
    let proof = project.proof();
    // Daylight saving time had ended on 1 November.
    pushed_at(&proof, "2026-11-05 14:07:35 CDT");
    proof.fails("CDT was not kept then: CST was");
    // Local time taken for UTC lies six hours before the commit.
    pushed_at(&proof, "2026-11-05 14:07:35 UTC");
    proof.fails("pushed 5 h 59 m before the commit was made: a wrong time zone?");
    pushed_at(&proof, "2026-11-05 14:07:35");
    proof.fails("it names no zone");
    pushed_at(&proof, "2026-11-05 14:07:35 CET");
    proof.fails("unknown zone");
    pushed_at(&proof, "2026-11-05 14:07:35 CST");
    proof.sound();
    first_job_at(&proof, "2026-11-05 14:50:52 CDT");
    proof.fails("CDT was not kept then");
    // A job's local time taken for UTC makes the registration late.
    first_job_at(&proof, "2026-11-05 14:50:52 UTC");
    proof.fails("late, not pre-registered");
}

#[test]
fn a_push_may_precede_the_commit_by_the_skew_of_two_clocks_only() {
    let project = Project::new();
    let proof = project.proof();
    pushed_at(&proof, "2026-11-05 14:02:08 CST");
    assert_eq!(proof.sound().pushed_unix, Some(COMMITTED_UNIX - 300));
    pushed_at(&proof, "2026-11-05 14:02:07 CST");
    proof.fails("pushed 5 m 1 s before the commit was made");
}

#[test]
fn a_push_that_does_not_precede_the_first_job_is_registered_only() {
    let project = Project::new();
    let proof = project.proof();
    first_job_at(&proof, "2026-11-05 14:07:35 CST");
    proof.fails("registered, not pre-registered: committed 2026-11-05T20:07:08Z, pushed 2026-11-05T20:07:35Z");
    proof.edit(|p| p.claim = Some(Verdict::Registered));
    assert_eq!(proof.sound().verdict, Verdict::Registered);
    first_job_at(&proof, "2026-11-05 14:07:36 CST");
    assert_eq!(proof.sound().verdict, Verdict::PreRegistered, "a weaker claim is borne out");
}

#[test]
fn a_commit_without_a_known_push_is_registered_only() {
    let project = Project::new();
    let mut request = request();
    (request.push, request.claim) = (None, None);
    let proof = project.proof_of(&request);
    assert_eq!(proof.sound().verdict, Verdict::Registered);
    assert_eq!(proof.objects().len(), 6, "no commits of a push");
    proof.edit(|p| p.claim = Some(Verdict::PreRegistered));
    proof.fails("registered, not pre-registered");
}

#[test]
fn a_commit_that_does_not_precede_the_first_job_is_late_whatever_is_claimed() {
    let project = Project::new();
    let proof = project.proof();
    for claim in [None, Some(Verdict::Registered), Some(Verdict::Late)] {
        proof.edit(|p| p.claim = claim);
        first_job_at(&proof, "2026-11-05 14:07:08 CST");
        proof.fails("late, not");
        first_job_at(&proof, "2026-11-05 14:07:09 CST");
        if claim != Some(Verdict::Late) {
            assert_eq!(proof.sound().verdict, Verdict::Registered);
        }
    }
}

#[test]
fn a_registration_without_jobs_is_pending_and_proves_nothing_yet() {
    let project = Project::new();
    let mut request = request();
    (request.jobs, request.claim) = (None, None);
    let proof = project.proof_of(&request);
    assert_eq!(proof.sound().verdict, Verdict::Pending);
    proof.edit(|p| p.claim = Some(Verdict::PreRegistered));
    proof.fails("pending, not pre-registered");
}

#[test]
fn the_fixtures_times_are_the_ones_it_says() {
    assert_eq!(parse("2026-11-05 14:07:08 CST"), Ok(COMMITTED_UNIX));
}

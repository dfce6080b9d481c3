//! The workload and the protocol of the cell that is calibrated.

use anyhow::Context;

use crate::cli::workload::SessionsArgs;
use trapcheck::nearest::unknown;
use trapcheck::setup::{Cell, Configs, Protocol, Workload};

use super::Args;

/// The cell's own, or as asked for. A workload of sessions is called as the cell calls it.
///
/// # Errors
/// A name that is not given or that there is not, or sessions that cannot be read.
pub fn of<'a>(
    args: &Args,
    configs: &'a Configs,
    old: Option<&Cell>,
    pool_tokens: u64,
) -> anyhow::Result<(Workload, &'a Protocol)> {
    let pick = |flag: &str, asked: &Option<String>, own: Option<&String>| {
        asked.as_ref().or(own).cloned().with_context(|| {
            format!("this cell has no file yet: say which {flag} it uses with --{flag} NAME")
        })
    };
    let name = pick("workload", &args.workload, old.map(|c| &c.workload))?;
    let protocol = pick("protocol", &args.protocol, old.map(|c| &c.protocol))?;
    let asked = SessionsArgs::named(&name, None).in_file(args.sessions.clone());
    let chosen = asked.chosen(configs, pool_tokens)?.context("no sessions")?;
    Ok((
        Workload { name, ..chosen.workload },
        configs.protocols.get(&protocol).with_context(|| {
            let known = configs.protocols.keys().map(String::as_str);
            unknown("protocol", &protocol, "configs/protocols", known)
        })?,
    ))
}

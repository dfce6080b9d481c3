//! Which registration judges a run, and how the run stands to it. Decided here for
//! everybody: `score`, `verdict`, tables and figures.

use std::borrow::Cow;

use crate::configs::Configs;
use crate::rule::registration::RegistrationFile;
use crate::rule::registration::{PUBLISHED_RULE, Status};
use crate::rule::state::Load;
use crate::run::{Meta, Source};

/// How a run stands to the registration it is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunBinding {
    /// Its `meta.json` carries the hash of this FILLED registration.
    Bound(String),
    /// It carries the hash of this registration, whose verdicts are not decisive.
    NotDecisive(String, Status),
    /// It carries the hash of a file that this registration restates.
    Restated(String),
    /// It carries no hash; it is judged by this registration of its cell, exploratory.
    Unbound(String),
    /// It carries no hash and its cell has no registration of the paired test; it is judged
    /// by the paper's published rule, exploratory.
    Published,
    /// It carries a hash that the registration it is judged by does not have.
    Elsewhere(String),
    /// It carries no hash, and these files fit it: none of them judges it.
    Several(Vec<String>),
    /// Its cell is not configured.
    None,
}

impl RunBinding {
    /// Whether the run was made for the registration, decisive or not.
    pub const fn is_bound(&self) -> bool {
        matches!(self, Self::Bound(_) | Self::NotDecisive(..) | Self::Restated(_))
    }

    /// Whether a registration of the paired test judges the run, not the published rule in
    /// its place.
    pub const fn is_of_a_registration(&self) -> bool {
        !matches!(self, Self::Published | Self::Several(_) | Self::None)
    }

    /// Whether a verdict over the run decides: it is bound to a FILLED registration, and an
    /// engine's. A simulated run decides nothing about an engine.
    pub fn decides(&self, meta: &Meta) -> bool {
        matches!(self, Self::Bound(_)) && meta.source == Source::Engine
    }

    /// In one word, beside the registration it speaks of and that one's status.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Bound(_) | Self::NotDecisive(..) => "bound",
            Self::Restated(_) => "bound to what it restates",
            Self::Unbound(_) => "not bound",
            Self::Published => "published rule",
            Self::Elsewhere(_) => "bound to another",
            Self::Several(_) => "several fit",
            Self::None => "none",
        }
    }

    /// The registration it speaks of: its name, or the hash of one that is not here.
    pub fn registration(&self) -> Option<&str> {
        match self {
            Self::Bound(name)
            | Self::NotDecisive(name, _)
            | Self::Restated(name)
            | Self::Unbound(name)
            | Self::Elsewhere(name) => Some(name),
            Self::Published => Some(PUBLISHED_RULE),
            Self::Several(_) | Self::None => None,
        }
    }

    /// The words of the output.
    pub fn words(&self) -> String {
        match self {
            Self::Bound(name) => format!("bound to {name}"),
            Self::NotDecisive(name, status) => format!("bound to {name} ({})", status.word()),
            Self::Restated(name) => format!("bound to the file that {name} restates"),
            Self::Unbound(name) => format!("exploratory: not bound, judged by {name}"),
            Self::Published => {
                format!("exploratory: judged by {PUBLISHED_RULE}, no registration for its cell")
            }
            Self::Elsewhere(hash) => {
                format!("bound to another registration ({}...)", hash.get(..12).unwrap_or(hash))
            }
            Self::Several(files) => format!(
                "not judged: {} registrations fit ({}); choose one with --rule FILE",
                files.len(),
                files.join(", ")
            ),
            Self::None => "its cell is not configured".into(),
        }
    }
}

/// The registration that judges a run: the `pinned` one for its own cells; else the one the
/// run is bound to, or that restates it; else its cell's; else the published rule.
///
/// # Errors
/// How the run stands, where nothing judges it: several registrations fit, or its cell is
/// not configured.
pub(crate) fn judge_of<'a>(
    meta: &Meta,
    configs: &'a Configs,
    pinned: Option<&'a RegistrationFile>,
) -> Result<Cow<'a, RegistrationFile>, RunBinding> {
    if let Some(file) = pinned.filter(|file| file.registration.is_about(&meta.cell)) {
        return Ok(Cow::Borrowed(file));
    }
    if let Some(bound) = &meta.registration {
        let restated =
            || configs.paired_of_cell(&meta.cell).find(|file| file.restates(&bound.sha256));
        if let Some(file) = configs.bound_by(&bound.sha256).or_else(restated) {
            return Ok(Cow::Borrowed(file));
        }
    }
    match configs.paired_rule_of_cell(&meta.cell) {
        Ok(Some(file)) => Ok(Cow::Borrowed(file)),
        Ok(None) => {
            let cell = configs.cell_called(&meta.cell).ok_or(RunBinding::None)?;
            Ok(Cow::Owned(RegistrationFile::published(cell)))
        }
        Err(fit) => Err(RunBinding::Several(
            fit.iter().map(|file| file.path.display().to_string()).collect(),
        )),
    }
}

/// How a run stands to a registration. A control may be bound to one that the registration
/// names.
pub fn bind(meta: &Meta, file: &RegistrationFile, configs: &Configs) -> RunBinding {
    let registration = &file.registration;
    let Some(bound) = &meta.registration else {
        return match file.is_published() {
            true => RunBinding::Published,
            false => RunBinding::Unbound(registration.name.clone()),
        };
    };
    let to = |file: &RegistrationFile| {
        let name = file.registration.name.clone();
        match file.registration.status {
            Status::Filled => RunBinding::Bound(name),
            status => RunBinding::NotDecisive(name, status),
        }
    };
    if bound.sha256 == file.sha256 {
        return to(file);
    }
    if file.restates(&bound.sha256) {
        return RunBinding::Restated(registration.name.clone());
    }
    let parents = || {
        let named =
            |file: &&RegistrationFile| registration.controls_of.contains(&file.registration.name);
        configs.registrations.values().filter(named)
    };
    let restated = || {
        let parent = parents().find(|file| file.restates(&bound.sha256))?;
        Some(RunBinding::Restated(parent.registration.name.clone()))
    };
    let parent = parents().find(|file| file.sha256 == bound.sha256).map(to);
    parent.or_else(restated).unwrap_or_else(|| RunBinding::Elsewhere(bound.sha256.clone()))
}

/// What a registration judges a run against; `None` for a run without a rate of its own.
pub(crate) fn load_of(meta: &Meta, file: &RegistrationFile) -> Option<Load> {
    let registration = &file.registration;
    Some(Load {
        lambda_per_s: meta.rate.lambda?,
        lambda_ref_per_s: registration.lambda_ref_per_s,
        all_miss_tokens_per_s: registration.all_miss_tokens_per_s.unwrap_or(f64::NAN),
    })
}

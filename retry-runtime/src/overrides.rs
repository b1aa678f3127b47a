//! Numbers that an operator sets without a new build.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::{
    backoff::Backoff,
    jitter::Jitter,
    policy::Policy,
    site::{Site, sites},
};

/// Parts of policies that are set at run time, for functions given by name.
///
/// | key | as | |
/// |---|---|---|
/// | `max` | calls in total, or `unlimited` | `5` |
/// | `base_ms`, `cap_ms`, `hint_cap_ms` | milliseconds | `200` |
/// | `factor` | a number of at least 1 | `1.5` |
/// | `backoff` | `exponential`, `linear`, `fibonacci`, `fixed`, `none` | `linear` |
/// | `jitter` | `full`, `equal`, `decorrelated`, `none`, or a ratio | `0.5` |
///
/// They come from the environment ([`from_env`](Self::from_env)), from a configuration that `serde`
/// reads (feature `serde`), or from [`set`](Self::set). [`apply`](Self::apply) makes them hold.
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{Overrides, retryable};
///
/// #[retryable(max = 3, backoff = "none", on = "any", name = "shop::order")]
/// fn order(calls: &mut u32) -> Result<(), &'static str> {
///     *calls += 1;
///     Err("closed")
/// }
///
/// Overrides::new().set("order", "max", "5").apply()?;
/// let mut calls = 0;
/// order(&mut calls).unwrap_err();
/// assert_eq!(calls, 5);
///
/// let wrong = Overrides::new().set("order", "max", "0").apply().unwrap_err();
/// assert_eq!(
///     wrong.to_string(),
///     "shop::order: `max` is 0: it must be at least 1, it counts calls, the first included"
/// );
/// # }
/// # Ok::<(), retry_runtime::OverrideError>(())
/// ```
///
/// # Names
///
/// A function is given by its whole name, `shop::order`, or by the end of it, `order`, where no other
/// function has that end. Several functions with the same whole name are all meant.
///
/// # Precedence
///
/// What is overridden wins over the keys of the attribute, which win over its `policy`. Of two
/// overrides of the same key, that which was added last wins: so
/// `config.and(Overrides::from_env("SHOP_RETRY")?)` lets the environment win over the configuration.
///
/// # Cost
///
/// None where an attempt succeeds and nobody is told. After a failure, and at the beginning of a call
/// of which somebody is told, a look at a flag; where something is overridden also a lock, for the time
/// of a copy.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "nothing is overridden until they are applied"]
pub struct Overrides {
    given: Vec<Given>,
}

#[derive(Clone, Debug, PartialEq)]
struct Given {
    name: String,
    key: String,
    value: String,
    /// The variable that they come from
    variable: Option<String>,
}

/// A part of a policy with its new value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Setting {
    Max(Option<u32>),
    Base(Duration),
    Factor(f64),
    Backoff(Backoff),
    Cap(Duration),
    Jitter(Jitter),
    HintCap(Duration),
}

static APPLYING: Mutex<()> = Mutex::new(());

type Read = fn(&str) -> Option<Setting>;

/// What can be overridden: a key, how its value reads, and what is allowed.
const KEYS: &[(&str, Read, &str)] = &[
    ("max", max, "a number of calls, or `unlimited`"),
    ("base_ms", |text| millis(text).map(Setting::Base), MILLIS),
    (
        "factor",
        |text| text.parse().ok().map(Setting::Factor),
        "a number of at least 1",
    ),
    (
        "backoff",
        backoff,
        "`exponential`, `linear`, `fibonacci`, `fixed` or `none`",
    ),
    (
        "hint_cap_ms",
        |text| millis(text).map(Setting::HintCap),
        MILLIS,
    ),
    ("cap_ms", |text| millis(text).map(Setting::Cap), MILLIS),
    (
        "jitter",
        jitter,
        "`full`, `equal`, `decorrelated`, `none`, or a ratio within 0.0..=1.0",
    ),
];

const MILLIS: &str = "a whole number of milliseconds";

fn max(text: &str) -> Option<Setting> {
    match text {
        "unlimited" => Some(Setting::Max(None)),
        number => number.parse().ok().map(|calls| Setting::Max(Some(calls))),
    }
}

fn millis(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_millis)
}

fn backoff(text: &str) -> Option<Setting> {
    let shape = match text {
        "exponential" => Backoff::Exponential,
        "linear" => Backoff::Linear,
        "fibonacci" => Backoff::Fibonacci,
        "fixed" => Backoff::Fixed,
        "none" => Backoff::None,
        _ => return None,
    };
    Some(Setting::Backoff(shape))
}

fn jitter(text: &str) -> Option<Setting> {
    let jitter = match text {
        "full" => Jitter::Full,
        "equal" => Jitter::Equal,
        "decorrelated" => Jitter::Decorrelated,
        "none" => Jitter::None,
        ratio => Jitter::Ratio(ratio.parse().ok()?),
    };
    Some(Setting::Jitter(jitter))
}

impl Setting {
    pub(crate) const fn on(self, policy: Policy) -> Policy {
        match self {
            Self::Max(None) => policy.unlimited(),
            Self::Max(Some(calls)) => policy.max(calls),
            Self::Base(wait) => policy.base(wait),
            Self::Factor(factor) => policy.factor(factor),
            Self::Backoff(shape) => policy.backoff(shape),
            Self::Cap(wait) => policy.cap(wait),
            Self::Jitter(jitter) => policy.jitter(jitter),
            Self::HintCap(wait) => policy.hint_cap(wait),
        }
    }
}

impl Overrides {
    /// Nothing is overridden.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one part of the policy of one function. Checked when it is [applied](Self::apply).
    pub fn set(
        mut self,
        name: impl Into<String>,
        key: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        self.given.push(Given {
            name: name.into(),
            key: key.into(),
            value: value.into(),
            variable: None,
        });
        self
    }

    /// These, and the others, which win.
    pub fn and(mut self, others: Self) -> Self {
        self.given.extend(others.given);
        self
    }

    /// The variables of the environment whose names begin with `prefix` and `_`. The rest of the
    /// name is the function's, or the end of it, in capitals and with a `_` for each character that
    /// is neither a letter nor a digit, then `_`, and the key in capitals:
    ///
    /// ```sh
    /// SHOP_RETRY_ORDERS__FETCH_MAX=7       # `orders::fetch`: max = 7
    /// SHOP_RETRY_FETCH_JITTER=equal        # the same function, if no other is called `fetch`
    /// ```
    ///
    /// # Errors
    ///
    /// A variable that fits no function or no key, or several. All of them are listed. Values are
    /// checked when they are [applied](Self::apply); one that is not Unicode is none of any key's.
    pub fn from_env(prefix: &str) -> Result<Self, OverrideError> {
        let variables = env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        Self::from_vars(prefix, variables)
    }

    /// As [`from_env`](Self::from_env), of these variables.
    ///
    /// # Errors
    ///
    /// As with that.
    pub fn from_vars(
        prefix: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, OverrideError> {
        let prefix = format!("{prefix}_");
        let mut faults = Vec::new();
        let mut given = Vec::new();
        for (variable, value) in variables {
            let Some(rest) = variable.strip_prefix(&prefix) else {
                continue;
            };
            // `.._HINT_CAP_MS` may also be `cap_ms` of a function whose name ends in `hint`
            let keyed = KEYS.iter().filter_map(|(key, ..)| {
                let name = rest.strip_suffix(&key.to_uppercase())?.strip_suffix('_')?;
                Some(found(name, in_variables).map(|sites| (sites, *key)))
            });
            let (fitting, others): (Vec<_>, Vec<_>) = keyed.partition(Result::is_ok);
            let fitting: Vec<_> = fitting.into_iter().flatten().collect();
            match (fitting.as_slice(), others.into_iter().next()) {
                ([(sites, key)], _) => given.extend(sites.first().map(|site| Given {
                    name: site.name().into(),
                    key: (*key).into(),
                    value,
                    variable: Some(variable),
                })),
                ([], Some(Err(fault))) => faults.push(format!("{variable}: {fault}")),
                ([], _) => faults.push(format!("{variable}: ends in no key: {}", keys())),
                (several, _) => {
                    let keys: Vec<_> = several.iter().map(|(_, key)| format!("`{key}`")).collect();
                    faults.push(format!("{variable}: may be {}", keys.join(" or ")));
                }
            }
        }
        OverrideError::unless_empty(faults).map(|()| Self { given })
    }

    /// Makes them hold, in place of all that were applied before: functions that are not named go
    /// back to their own policies. For calls that are under way from their next failure on.
    ///
    /// # Errors
    ///
    /// A name that fits no function or several, a key that can not be overridden, or a value that is
    /// not one of the key's, is out of range, or contradicts the rest of the policy. All of them are
    /// listed, of contradictions the first of each function, and nothing is changed.
    ///
    /// Where the policy is not known before a call, only the values themselves are checked; what
    /// does not fit together then counts as the nearest that does, as with every [`Policy`].
    pub fn apply(&self) -> Result<(), OverrideError> {
        let mut faults = Vec::new();
        let mut settings: BTreeMap<&str, (Vec<&'static Site>, Vec<Setting>)> = BTreeMap::new();
        for given in &self.given {
            match given.setting() {
                Ok((sites, setting)) => {
                    let name = sites.first().map_or("", |site| site.name());
                    let (_, others) = settings.entry(name).or_insert_with(|| (sites, Vec::new()));
                    others.push(setting);
                }
                Err(fault) => faults.push(fault),
            }
        }
        for (name, (sites, settings)) in &settings {
            for site in sites {
                if let Err(fault) = fits(site, settings) {
                    faults.push(format!("{name}: {fault}"));
                    break;
                }
            }
        }
        OverrideError::unless_empty(faults)?;
        // one after the other, so that no mixture of two is left
        let _turn = APPLYING.lock().unwrap_or_else(PoisonError::into_inner);
        for site in sites() {
            let settings = settings.get(site.name());
            site.set(settings.map_or_else(Vec::new, |(_, settings)| settings.clone()));
        }
        Ok(())
    }
}

impl Given {
    fn setting(&self) -> Result<(Vec<&'static Site>, Setting), String> {
        let Self {
            name,
            key,
            value,
            variable,
        } = self;
        let sites = found(name, as_written)?;
        let source = variable.as_ref().unwrap_or(name);
        let known = KEYS.iter().find(|(known, ..)| known == key);
        let Some((_, read, allowed)) = known else {
            return Err(format!(
                "{source}: `{key}` can not be overridden: {}",
                keys()
            ));
        };
        match read(value.trim()) {
            Some(setting) => Ok((sites, setting)),
            None => Err(format!(
                "{source}: `{key}` is {value:?}: it must be {allowed}"
            )),
        }
    }
}

/// Whether a policy with these settings is one.
fn fits(site: &Site, settings: &[Setting]) -> Result<(), String> {
    // what is not known must not be in the way
    let widest = Policy::new().base(Duration::ZERO).cap(Duration::MAX);
    let policy = site.policy().unwrap_or(widest);
    let policy = settings
        .iter()
        .fold(policy, |policy, setting| setting.on(policy));
    policy.check().map_err(|error| error.to_string())?;
    let grows = |setting: &Setting| matches!(setting, Setting::Base(_) | Setting::Factor(_));
    if matches!(policy.backoff, Backoff::Delays(_)) && settings.iter().any(grows) {
        return Err(
            "`base_ms` and `factor` have no effect on `delays_ms`: override `backoff` too".into(),
        );
    }
    Ok(())
}

/// The functions of this name.
fn found(name: &str, written: fn(&str) -> String) -> Result<Vec<&'static Site>, String> {
    // by their names as they are: several may be written alike
    let mut same: BTreeMap<&str, Vec<&'static Site>> = BTreeMap::new();
    for site in sites().filter(|site| written(site.name()) == name) {
        same.entry(site.name()).or_default().push(site);
    }
    if same.is_empty() {
        for site in sites() {
            let mut rest = site.name();
            while let Some((_, end)) = rest.split_once("::") {
                rest = end;
                if written(rest) == name {
                    same.entry(site.name()).or_default().push(site);
                }
            }
        }
    }
    match same.len() {
        0 => Err(format!("{name}: no retried function has this name")),
        1 => Ok(same.into_values().flatten().collect()),
        _ => {
            let names: Vec<_> = same.into_keys().collect();
            Err(format!(
                "{name}: several functions have this name: {}",
                names.join(", ")
            ))
        }
    }
}

fn as_written(name: &str) -> String {
    name.into()
}

fn in_variables(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    name.chars().map(letter).collect()
}

fn keys() -> String {
    let mut keys: Vec<_> = KEYS.iter().map(|(key, ..)| format!("`{key}`")).collect();
    keys.sort_unstable();
    format!("the keys are {}", keys.join(", "))
}

/// What is wrong with [`Overrides`]: a line for each fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideError {
    faults: Vec<String>,
}

impl OverrideError {
    fn unless_empty(faults: Vec<String>) -> Result<(), Self> {
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Self { faults })
        }
    }

    /// The faults, each with the name that it is about.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl Error for OverrideError {}

/// A table with a table for each function: in TOML
///
/// ```toml
/// ["shop::order"]
/// max = 5
/// jitter = "equal"
/// ```
///
/// Names, keys and values are checked when it is [applied](Overrides::apply).
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Overrides {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// As it is written, so that the fault of a value can show it.
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Scalar {
            Text(String),
            Whole(i64),
            Number(f64),
            Flag(bool),
        }

        let functions = BTreeMap::<String, BTreeMap<String, Scalar>>::deserialize(deserializer)?;
        let mut overrides = Self::new();
        for (name, keys) in functions {
            for (key, value) in keys {
                let value = match value {
                    Scalar::Text(text) => text,
                    Scalar::Whole(number) => number.to_string(),
                    Scalar::Number(number) => number.to_string(),
                    Scalar::Flag(flag) => flag.to_string(),
                };
                overrides = overrides.set(name.clone(), key, value);
            }
        }
        Ok(overrides)
    }
}

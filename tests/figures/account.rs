//! The tables in `tests/data/`, and the account of them: every row of a table is either reproduced
//! or listed with the reason why not, and neither is taken on trust.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
};

use serde_json::{Map, Value};

/// Rows that have another meaning with us: the reason, and the rows it holds for.
pub type Different = [(&'static str, &'static [&'static str])];

/// Checks that each row is either reproduced or listed, and says how many there are of both.
///
/// `Err` says how ours differs from theirs. A listed row must differ: one that is reproduced after
/// all is as much a fault as a difference that is not listed.
pub fn settle(
    rows: impl IntoIterator<Item = (String, Result<(), String>)>,
    different: &Different,
) -> (usize, usize) {
    let mut reasons = BTreeMap::new();
    let mut faults = Vec::new();
    for (reason, ids) in different {
        for id in *ids {
            if reasons.insert(*id, *reason).is_some() {
                faults.push(format!("listed twice: {id}"));
            }
        }
    }
    let (mut reproduced, mut seen) = (0, BTreeSet::new());
    for (id, compared) in rows {
        match (compared, reasons.get(id.as_str())) {
            (Ok(()), None) => reproduced += 1,
            (Err(_), Some(_)) => {}
            (Err(how), None) => {
                faults.push(format!("neither reproduced nor listed: {id}\n    {how}"))
            }
            (Ok(()), Some(reason)) => {
                faults.push(format!("reproduced, but listed: {id}\n    {reason}"));
            }
        }
        if let Some(twice) = seen.replace(id) {
            faults.push(format!("two rows: {twice}"));
        }
    }
    for id in reasons.keys().filter(|id| !seen.contains(**id)) {
        faults.push(format!("listed, but no row: {id}"));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    (reproduced, reasons.len())
}

/// Whether `id` is listed as different for this reason.
#[allow(
    dead_code,
    reason = "not every table has a reason that can be checked further"
)]
pub fn is_listed(different: &Different, reason: &str, id: &str) -> bool {
    different
        .iter()
        .any(|(listed, ids)| *listed == reason && ids.contains(&id))
}

/// Whether ours is theirs, or else both.
pub fn same<T: PartialEq + Debug>(ours: T, theirs: T) -> Result<(), String> {
    if ours == theirs {
        Ok(())
    } else {
        Err(format!("ours {ours:?}, theirs {theirs:?}"))
    }
}

/// What a system was given, and what it did.
#[derive(Debug)]
pub struct Row {
    /// `system case input`, or the row's own id
    pub id: String,
    pub system: String,
    pub case: String,
    pub input: Map<String, Value>,
    pub expected: Value,
}

/// The rows of a table of tab-separated values with the columns system, case, input, expected.
pub fn table(text: &str) -> Vec<Row> {
    let rows = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [system, case, input, expected] = columns[..] else {
            panic!("four columns: {line}")
        };
        Row {
            id: format!("{system} {case} {input}"),
            system: system.into(),
            case: case.into(),
            input: fields(input),
            expected: expected.into(),
        }
    });
    rows.collect()
}

/// `a=1;b=x;c` or `{"a": 1};b=x`, as a map. A part without a value is `true`.
pub fn fields(input: &str) -> Map<String, Value> {
    let mut map = Map::new();
    let parts = input.split(';').map(str::trim);
    for part in parts.filter(|part| !part.is_empty()) {
        if let Ok(Value::Object(object)) = serde_json::from_str(part) {
            map.extend(object);
        } else if let Some((key, value)) = part.split_once('=') {
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            map.insert(key.into(), value);
        } else {
            map.insert(part.into(), true.into());
        }
    }
    map
}

/// `a=1 b=x`: an object on one line, to tell it from others.
#[allow(dead_code, reason = "rows with an id or with text as input need none")]
pub fn one_line(object: &Map<String, Value>) -> String {
    let parts: Vec<String> = object
        .iter()
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text}"),
            value => format!("{key}={value}"),
        })
        .collect();
    parts.join(" ")
}

//! Both tables as pictures.

use std::{error::Error, path::Path};

use plotters::{
    coord::{
        Shift,
        ranged1d::{AsRangedCoord, ValueFormatter},
    },
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::{
    PROCESSES, Row,
    contention::{Mean, POLICIES},
    outage::{
        CAPACITY_PER_PROCESS, END, INTERVAL, Interval, Outage, STOPS, VARIANTS, WORKS_AGAIN,
        per_second,
    },
};

type Drawn = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
const GRID: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);
const SHADE: RGBColor = RGBColor(0xF3, 0xE3, 0xE0);
const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
const ORANGE: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const YELLOW: RGBColor = RGBColor(0xD6, 0x95, 0x00);
const GREY: RGBColor = RGBColor(0x80, 0x80, 0x80);

/// What the policies are called, and how they are drawn.
pub const LINES: [(&str, RGBColor); POLICIES.len()] = [
    ("no wait", GREY),
    ("no jitter", ORANGE),
    ("equal jitter", YELLOW),
    ("full jitter", BLUE),
    ("decorrelated", GREEN),
];

const TEXT: f64 = 18.0;
const TITLE: f64 = 21.0;

fn text(size: f64, color: &RGBColor, h_pos: HPos) -> TextStyle<'_> {
    let style = TextStyle::from(("sans-serif", size).into_font());
    style.color(color).pos(Pos::new(h_pos, VPos::Center))
}

/// Calls, and time on a logarithmic scale, by the number of clients.
pub fn contention(path: &Path, rows: &[Row]) -> Drawn {
    let root = SVGBackend::new(path, (1100, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(550);
    title(&left, "Calls until every client has written")?;
    by_clients(&left, rows, 0.0..8_500.0, |mean| mean.calls)?;
    title(&right, "Seconds until then, on a logarithmic scale")?;
    by_clients(&right, rows, (0.3..150.0).log_scale(), |mean| mean.seconds)?;
    root.present()?;
    Ok(())
}

fn by_clients<Y>(area: &Area<'_>, rows: &[Row], range: Y, value: fn(&Mean) -> f64) -> Drawn
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .margin_top(48)
        .margin_right(118)
        .margin_bottom(8)
        .x_label_area_size(50)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..190.0, range)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(text(TEXT, &INK, HPos::Center))
        .x_labels(5)
        .y_labels(5)
        .x_desc("clients")
        .x_label_formatter(&f64::to_string)
        .y_label_formatter(&f64::to_string)
        .draw()?;
    let mut names = Vec::new();
    for (nth, (name, color)) in LINES.iter().enumerate() {
        let point = |(clients, means): &Row| (*clients as f64, value(&means[nth]));
        let line: Vec<(f64, f64)> = rows.iter().map(point).collect();
        if let Some(end) = line.last() {
            names.push((chart.backend_coord(end).1, *name, color));
        }
        chart.draw_series(LineSeries::new(line, color.stroke_width(2)))?;
    }

    // to the right of the lines, and apart from each other
    names.sort_by_key(|(y, ..)| *y);
    let mut lowest = i32::MAX;
    for (y, name, color) in names.into_iter().rev() {
        lowest = y.min(lowest.saturating_sub(19));
        area.draw(&Text::new(
            name,
            (440, lowest),
            text(TEXT, color, HPos::Left),
        ))?;
    }
    Ok(())
}

fn title(area: &Area<'_>, title: &str) -> Drawn {
    let style = text(TITLE, &INK, HPos::Left);
    area.draw(&Text::new(title.to_owned(), (20, 24), style))?;
    Ok(())
}

/// Requests and successes over time, for each variant.
pub fn outage(path: &Path, outages: &[Outage]) -> Drawn {
    let root = SVGBackend::new(path, (1100, 1000)).into_drawing_area();
    root.fill(&WHITE)?;
    let panels = root.split_evenly((VARIANTS.len().div_ceil(2), 2));
    for ((panel, variant), outage) in panels.iter().zip(VARIANTS).zip(outages) {
        title(panel, variant.name)?;
        let recovery = match outage.recovery() {
            Some(time) => format!("recovered after {:.1} s", time.as_secs_f64()),
            None => "did not recover".to_owned(),
        };
        let style = text(TEXT, &INK, HPos::Right);
        panel.draw(&Text::new(recovery, (530, 24), style))?;
        over_time(panel, outage)?;
    }
    if let Some(last) = panels.get(VARIANTS.len()) {
        legend(last)?;
    }
    root.present()?;
    Ok(())
}

fn over_time(panel: &Area<'_>, outage: &Outage) -> Drawn {
    let end = END.as_secs_f64();
    let capacity = (PROCESSES * CAPACITY_PER_PROCESS) as f64;
    let mut chart = ChartBuilder::on(panel)
        .margin_top(44)
        .margin_right(20)
        .x_label_area_size(30)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end, 0.0..10_000.0)?;
    chart.draw_series([Rectangle::new(
        [
            (STOPS.as_secs_f64(), 0.0),
            (WORKS_AGAIN.as_secs_f64(), 10_000.0),
        ],
        SHADE.filled(),
    )])?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(text(TEXT, &INK, HPos::Center))
        .x_labels(9)
        .y_labels(3)
        .x_label_formatter(&|seconds| format!("{seconds:.0} s"))
        .y_label_formatter(&|requests| format!("{requests:.0}"))
        .draw()?;
    let points = |count: fn(&Interval) -> u32| {
        let seconds = INTERVAL.as_secs_f64();
        let intervals = outage.intervals.iter().enumerate();
        intervals
            .map(move |(nth, interval)| ((nth as f64 + 0.5) * seconds, per_second(count(interval))))
    };
    let succeeded = points(|interval| interval.succeeded);
    chart.draw_series(AreaSeries::new(succeeded, 0.0, GREEN.mix(0.45)))?;
    let capacity = [(0.0, capacity), (end, capacity)];
    chart.draw_series(DashedLineSeries::new(capacity, 6, 4, GREY.stroke_width(1)))?;
    let requests = points(|interval| interval.requests);
    chart.draw_series(LineSeries::new(requests, BLUE.stroke_width(2)))?;
    Ok(())
}

fn legend(area: &Area<'_>) -> Drawn {
    let row = |nth: i32| 70 + 32 * nth;
    let swatch = |nth, height| [(84, row(nth) - height), (124, row(nth) + height)];
    area.draw(&PathElement::new(swatch(0, 0), BLUE.stroke_width(2)))?;
    area.draw(&Rectangle::new(swatch(1, 9), GREEN.mix(0.45).filled()))?;
    for x in [84, 99, 114] {
        let dash = [(x, row(2)), (x + 10, row(2))];
        area.draw(&PathElement::new(dash, GREY.stroke_width(1)))?;
    }
    area.draw(&Rectangle::new(swatch(3, 9), SHADE.filled()))?;
    let names = [
        "requests per second that reach the service",
        "calls per second that succeed",
        "requests per second that it can answer",
        "it answers none",
    ];
    for (nth, name) in (0..).zip(names) {
        let style = text(TEXT, &INK, HPos::Left);
        area.draw(&Text::new(name, (138, row(nth)), style))?;
    }
    Ok(())
}

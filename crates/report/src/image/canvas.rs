//! A surface on which a figure is drawn with its title, legend and axes.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::coord::TickAxis;
use super::frame::{self, Frame};
use super::palette::{GRID, INK, SHADE, SOFT, ramp, shade};
use super::{bars, curves, field};
use crate::figure::{Colour, Figure, Marks, Panel, Spans};

/// Number of steps in the colour scale of a figure with spans.
const RAMP: u32 = 50;

/// An error of the drawing library.
pub(super) type Failure<B> = DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>;
/// The result of a drawing operation.
pub(super) type Drawn<B> = Result<(), Failure<B>>;
/// A figure's axes.
pub(super) type Axes<'a, B> = ChartContext<'a, B, Cartesian2d<TickAxis, TickAxis>>;

/// A surface to draw on. All lengths are multiplied by the surface's scale.
pub(super) struct Canvas<B: DrawingBackend> {
    area: DrawingArea<B, Shift>,
    scale: u32,
}

impl<B: DrawingBackend> Canvas<B> {
    /// Creates a surface that draws on `area`.
    pub fn new(area: DrawingArea<B, Shift>, scale: u32) -> Self {
        Canvas { area, scale }
    }

    /// Draws the figure with its title, legend and axes.
    pub fn draw(&self, figure: &Figure) -> Drawn<B> {
        self.area.fill(&WHITE)?;
        let frame = Frame::of(figure);
        if let Marks::Panels(panels) = &figure.marks {
            return self.panels(figure, panels, &frame);
        }
        self.text(&figure.title, 17, INK, (self.px(16), self.px(14)))?;
        let legend = self.legend(figure)?;
        let mut axes = self.axes(figure, &frame, legend)?;
        match &figure.marks {
            Marks::Curves(all) => curves::draw(self, &mut axes, all, &frame),
            Marks::Bars(parts) => bars::lying(self, &mut axes, parts, &frame),
            Marks::Groups(parts) => bars::upright(self, &mut axes, parts),
            // A figure with panels was drawn by `panels` above.
            Marks::Panels(_) => Ok(()),
            Marks::Heat(heat) => field::heat(self, &mut axes, heat),
            Marks::Spans(spans) => field::spans(self, &mut axes, spans),
        }?;
        self.area.present()
    }

    /// Draws a panel for each curve, one below the other. Only the last panel has the title of the
    /// horizontal axis.
    fn panels(&self, figure: &Figure, panels: &[Panel], frame: &Frame) -> Drawn<B> {
        self.text(&figure.title, 17, INK, (self.px(16), self.px(14)))?;
        let (_, body) = self.area.split_vertically(self.px(frame::HEADER));
        for (place, area) in body.split_evenly((panels.len(), 1)).into_iter().enumerate() {
            let mut alone = figure.clone();
            alone.y.title.clear();
            if place + 1 < panels.len() {
                alone.x.title.clear();
            }
            Canvas::new(area, self.scale).panel(&alone, &panels[place], frame)?;
        }
        self.area.present()
    }

    fn panel(&self, figure: &Figure, panel: &Panel, frame: &Frame) -> Drawn<B> {
        self.text(&panel.curve.name, 12, SOFT, (self.px(16), 0))?;
        let mut axes = self.axes(figure, frame, self.px(16))?;
        let shades = panel.shades.iter().map(|shade| {
            let corners = [(shade.from, frame.y.low), (shade.to, frame.y.high)];
            Rectangle::new(corners, SHADE.filled())
        });
        axes.draw_series(shades)?;
        curves::draw(self, &mut axes, std::slice::from_ref(&panel.curve), frame)
    }

    /// Converts a length to pixels of this surface.
    pub fn px(&self, length: u32) -> i32 {
        (length * self.scale) as i32
    }

    /// The style of a line of this colour and width.
    pub fn line(&self, colour: RGBColor, width: u32) -> ShapeStyle {
        colour.stroke_width(width * self.scale)
    }

    /// The style of text of this size and colour.
    pub fn font(&self, size: u32, colour: RGBColor) -> TextStyle<'static> {
        ("sans-serif", self.px(size)).into_font().color(&colour)
    }

    fn text(&self, text: &str, size: u32, colour: RGBColor, at: (i32, i32)) -> Drawn<B> {
        let style = self.font(size, colour).pos(Pos::new(HPos::Left, VPos::Top));
        self.area.draw(&Text::new(text.to_owned(), at, style))
    }

    /// Draws the legend: names with their colours, wrapped into lines. Returns the y coordinate of
    /// its lower end.
    fn legend(&self, figure: &Figure) -> Result<i32, Failure<B>> {
        let (left, line) = (self.px(16), self.px(20));
        let (mut x, mut y) = (left, self.px(42));
        let width = self.area.dim_in_pixel().0 as i32;
        if let Marks::Spans(spans) = &figure.marks {
            self.ramp(spans, (x, y))?;
        }
        for (name, colour) in frame::legend(figure) {
            let style = self.font(12, SOFT);
            let length = self.area.estimate_text_size(&name, &style)?.0 as i32;
            if x > left && x + length + self.px(40) > width {
                (x, y) = (left, y + line);
            }
            self.swatch(colour, (x, y))?;
            self.text(&name, 12, SOFT, (x + self.px(16), y))?;
            x += length + self.px(34);
        }
        Ok(y + line)
    }

    fn swatch(&self, colour: Colour, (x, y): (i32, i32)) -> Drawn<B> {
        let side = self.px(11);
        // The swatch is aligned with the middle of the letters, which is above the middle of the text line.
        let top = y - self.px(2);
        let corners = [(x, top), (x + side, top + side)];
        self.area
            .draw(&Rectangle::new(corners, shade(colour).filled()))
    }

    /// Draws a colour scale from 0 to the highest value, which takes the place of a legend.
    fn ramp(&self, spans: &Spans, (x, y): (i32, i32)) -> Drawn<B> {
        let most = spans
            .spans
            .iter()
            .map(|span| span.value)
            .fold(1.0, f64::max);
        for step in 0..RAMP {
            let left = x + self.px(2 * step);
            let corners = [(left, y), (left + self.px(2), y + self.px(10))];
            let colour = ramp(f64::from(step) / f64::from(RAMP - 1));
            self.area.draw(&Rectangle::new(corners, colour.filled()))?;
        }
        let text = format!("0 to {most:.0} {}", spans.title);
        self.text(&text, 12, SOFT, (x + self.px(2 * RAMP + 8), y))
    }

    fn axes<'a>(
        &'a self,
        figure: &Figure,
        frame: &Frame,
        top: i32,
    ) -> Result<Axes<'a, B>, Failure<B>> {
        let names = frame.y.marks.iter().map(|mark| mark.1.as_str());
        let style = self.font(12, SOFT);
        let mut widest = 0;
        for name in names {
            widest = widest.max(self.area.estimate_text_size(name, &style)?.0);
        }
        let described = u32::from(!figure.y.title.is_empty());
        let mut axes = ChartBuilder::on(&self.area)
            .margin_top(top)
            .margin_right(self.px(24))
            .margin_bottom(self.px(10))
            .margin_left(self.px(10))
            .x_label_area_size(self.px(if figure.x.title.is_empty() { 26 } else { 44 }))
            .y_label_area_size(widest as i32 + self.px(12 + 24 * described))
            .build_cartesian_2d(TickAxis(frame.x.clone()), TickAxis(frame.y.clone()))?;
        let mut mesh = axes.configure_mesh();
        if frame.y.low < 0.0 {
            mesh.disable_y_mesh();
        }
        mesh.disable_x_mesh()
            .x_labels(frame.x.marks.len().max(1))
            .y_labels(frame.y.marks.len().max(1))
            .bold_line_style(self.line(GRID, 1))
            .axis_style(self.line(GRID, 1))
            .label_style(style.clone())
            .axis_desc_style(style)
            .x_desc(figure.x.title.as_str())
            .y_desc(figure.y.title.as_str())
            .draw()?;
        Ok(axes)
    }
}

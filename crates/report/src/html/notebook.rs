//! The facts and tables of a document as HTML without a style sheet, for notebooks.

use super::blocks::{paragraph, table};
use crate::{Block, Document, Fact};

/// Renders the facts, notes and tables of a document. Figures and folded tables are left out.
pub(super) fn write(document: &Document) -> String {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let shown = blocks.map(|block| match block {
        Block::Facts(facts) => table(&Fact::grid("", facts)),
        Block::Grid(grid) => table(grid),
        Block::Note(note) => paragraph("note", note),
        Block::Folded(_) | Block::Figure(_) => String::new(),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use crate::{Block, Document, Fact, Grid, Head, Section, html};

    // Small fixed example: a fact and a folded table.
    #[test]
    fn facts_and_tables_are_shown_and_figures_are_not() {
        let mut folded = Grid::new("Folded", [Head::text("a")]);
        folded.row(["hidden".to_owned()]);
        let facts = vec![Fact::main("idle", "8 %").remark("of <all>")];
        let document = Document {
            title: "A run".to_owned(),
            lead: String::new(),
            sections: vec![Section {
                id: "run".to_owned(),
                title: "Run".to_owned(),
                lead: String::new(),
                blocks: vec![Block::Facts(facts), Block::Folded(folded)],
            }],
        };
        let told = html::notebook(&document);
        assert!(told.contains("<th scope=\"row\">idle</th><td>8 % of &lt;all&gt;</td>"));
        assert!(!told.contains("hidden") && !told.contains("class=\"tiles\""));
    }
}

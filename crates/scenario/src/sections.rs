//! Some sections of a scenario file, without the others: before them there may be a million
//! messages.

use crate::error::Result;
use crate::tree::Tree;
use std::ops::Range;
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Reads the sections of a TOML document that have a header with one of these names, such as
/// `[[probe]]`, as a table of them.
///
/// # Errors
/// If one of these sections is no TOML. Others are not looked at.
pub fn read_sections(text: &str, names: &[&str]) -> Result<Tree> {
    let mut kept = String::new();
    let mut copied = 0;
    for section in sections(text, names) {
        // Empty lines stand for what is left out, so that errors have the lines of the file.
        kept.extend(text[copied..section.start].matches('\n'));
        kept.push_str(&text[section.clone()]);
        copied = section.end;
    }
    Tree::from_toml(&kept)
}

/// Where the sections with these names stand in `text`.
fn sections(text: &str, names: &[&str]) -> Vec<Range<usize>> {
    let starts = headers(text);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let all = starts.iter().zip(ends).map(|(&start, end)| start..end);
    all.filter(|section| names.contains(&name(&text[section.start..]))).collect()
}

/// The first name of the header that `text` begins with.
fn name(text: &str) -> &str {
    let inner = text.trim_start_matches(['[', ' ', '\t']);
    let name = inner.split([']', '.', ' ', '\t', '\n']).next().unwrap_or(inner);
    name.trim_matches(['"', '\''])
}

/// Where headers stand: a bracket that begins a line, outside of any value.
fn headers(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut begins_line, mut open) = (true, 0_usize);
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::Newline => {
                begins_line = true;
                continue;
            }
            TokenKind::Whitespace => continue,
            TokenKind::LeftSquareBracket => {
                if begins_line && open == 0 {
                    found.push(token.span().start());
                }
                open += 1;
            }
            TokenKind::LeftCurlyBracket => open += 1,
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                open = open.saturating_sub(1);
            }
            _ => {}
        }
        begins_line = false;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"x\"\n\
                        flows = [\n[1, 2],\n[[3]], # [[probe]]\n]\n\
                        text = \"\"\"\n[[probe]]\nname = 'none'\n\"\"\"\n\
                        [[probe]]\nname = \"a\"\n  [ probe.more ]\nx = 1\n\
                        [other]\nprobe = 1\n\
                        [[\"probe\"]] # the last\nname = \"b\"";

    #[test]
    fn sections_are_found_by_their_headers() {
        let read = read_sections(TEXT, &["probe"]).unwrap();
        let whole = Tree::from_toml(TEXT).unwrap();
        // With the lines that they have in the file.
        assert_eq!(read.at(&["probe"]), whole.at(&["probe"]));
        assert_eq!(read.table().map(|table| table.len()), Some(1));
        let both = read_sections(TEXT, &["other", "probe"]).unwrap();
        assert_eq!(both.at(&["other"]), whole.at(&["other"]));
    }

    #[test]
    fn a_document_without_them_is_empty() {
        assert_eq!(read_sections("", &["probe"]).unwrap(), Tree::from_toml("").unwrap());
        assert_eq!(read_sections(TEXT, &[]).unwrap().table().map(|table| table.len()), Some(0));
    }

    #[test]
    fn errors_have_the_lines_of_the_file() {
        let error = read_sections(&TEXT.replace("x = 1", "x ="), &["probe"]).unwrap_err();
        assert_eq!(error.line, Some(13));
        let elsewhere = TEXT.replace("probe = 1", "probe =");
        assert!(read_sections(&elsewhere, &["probe"]).is_ok());
    }
}

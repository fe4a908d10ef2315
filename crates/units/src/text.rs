//! Text of unknown origin, made fit for a line on a terminal.

/// Most characters of a value that an error or a table shows.
pub const MAX_SHOWN: usize = 200;

/// Characters that are not seen, or that change how others are shown, beside control characters:
/// the Unicode categories Cf (format), Zl and Zp, and the tags, in order.
const UNSEEN: [(u32, u32); 19] = [
    (0xad, 0xad),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0xfeff, 0xfeff),
    (0xfff9, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// Whether a terminal shows a character as itself, and nothing else changes by it.
pub fn is_seen(c: char) -> bool {
    let code = u32::from(c);
    let place = UNSEEN.partition_point(|&(_, last)| last < code);
    !c.is_control() && UNSEEN.get(place).is_none_or(|&(first, _)| code < first)
}

/// `text` as a line of at most `most` characters: what is not seen becomes an escape such as
/// `\u{202e}` or `\n`, and of longer text the middle is left out.
///
/// ```
/// use units::text::printable;
/// assert_eq!(printable("a\u{1b}[31m\n", 200), "a\\u{1b}[31m\\n");
/// assert_eq!(printable("0123456789", 7), "0123…89");
/// ```
pub fn printable(text: &str, most: usize) -> String {
    if text.len() <= most && text.chars().all(is_seen) {
        return text.to_owned();
    }
    let (whole, is_all) = pieces(text.chars(), most);
    if is_all {
        return whole.concat();
    }
    // The ellipsis takes one.
    let kept = most.saturating_sub(1);
    let (head, _) = pieces(text.chars(), kept - kept / 3);
    let (mut tail, _) = pieces(text.chars().rev(), kept / 3);
    tail.reverse();
    format!("{}…{}", head.concat(), tail.concat())
}

/// The first characters or their escapes that have at most `most` characters together, and whether
/// these are all.
fn pieces(mut text: impl Iterator<Item = char>, most: usize) -> (Vec<String>, bool) {
    let mut left = most;
    let mut pieces = Vec::new();
    for piece in text.by_ref().map(escaped) {
        match left.checked_sub(piece.chars().count()) {
            Some(rest) => left = rest,
            None => return (pieces, false),
        }
        pieces.push(piece);
    }
    (pieces, true)
}

/// A character, or its escape where it is not seen.
fn escaped(c: char) -> String {
    if is_seen(c) { c.to_string() } else { c.escape_default().to_string() }
}

/// Text of an I/O error without its number, which means nothing to most people.
pub fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_seen_is_escaped() {
        for (text, shown) in [
            ("plain text, a b", "plain text, a b"),
            ("Grüße 你好 🙂 e\u{301} a\u{a0}b", "Grüße 你好 🙂 e\u{301} a\u{a0}b"),
            ("a\tb\r\n", "a\\tb\\r\\n"),
            ("\u{9b}31m\u{7f}\u{0}", "\\u{9b}31m\\u{7f}\\u{0}"),
            (
                "\u{202e}\u{2066}\u{200b}\u{2028}\u{feff}",
                "\\u{202e}\\u{2066}\\u{200b}\\u{2028}\\u{feff}",
            ),
            ("\u{e0041}", "\\u{e0041}"),
        ] {
            assert_eq!(printable(text, MAX_SHOWN), shown);
        }
    }

    #[test]
    fn a_reason_has_no_number() {
        let missing = std::fs::read("/no/such").unwrap_err();
        assert_eq!(io_reason(&missing), "No such file or directory");
        assert_eq!(io_reason(&std::io::Error::other("odd")), "odd");
    }

    #[test]
    fn the_middle_of_long_text_is_left_out() {
        let long = format!("{}{}", "a".repeat(1000), "b".repeat(1000));
        let shown = printable(&long, 200);
        assert_eq!(shown, format!("{}…{}", "a".repeat(133), "b".repeat(66)));
        assert_eq!(printable(&"a".repeat(200), 200).len(), 200);
        // Escapes count as what they are shown as, and are never cut.
        let shown = printable(&"\u{1b}".repeat(200), 50);
        assert_eq!(shown, format!("{}…{}", "\\u{1b}".repeat(5), "\\u{1b}".repeat(2)));
    }

    proptest! {
        #[test]
        fn any_text_becomes_a_short_line(text in any::<String>(), most in 1usize..300) {
            let shown = printable(&text, most);
            prop_assert!(shown.chars().count() <= most);
            prop_assert!(shown.chars().all(is_seen));
            prop_assert_eq!(printable(&shown, most), shown);
        }
    }
}

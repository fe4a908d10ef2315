//! The code of `docs/write-your-own-scheme.md`: it compiles, its tests pass, and the page shows it
//! as it is. `tests/python/test_scheme_project.py` runs the page's commands.

mod headroom;
/// What `rocelab scheme new mine` writes.
#[path = "../../../../python/rocelab/scheme_template/src/lib.rs"]
mod mine;

/// What stands between two fences.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split_once("```")).map(|(it, _)| it).collect()
}

#[test]
fn the_page_shows_code_that_compiles() {
    let page = include_str!("../../../../docs/write-your-own-scheme.md");
    let files = [
        include_str!("../../../../python/rocelab/scheme_template/src/lib.rs"),
        include_str!("guide/headroom.rs"),
    ];
    let rust = blocks(page, "rust");
    assert_eq!(rust.first(), Some(&files[0]), "the page's first file is the template's");
    for block in &rust {
        let is_there = files.iter().any(|file| file.contains(block.trim_end()));
        assert!(is_there, "neither the template nor headroom.rs has this block:\n{block}");
    }
    assert!(rust.len() > 1, "a law that reads INT is shown, too");
}

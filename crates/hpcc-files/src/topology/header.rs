//! The first line of a topology: the numbers of nodes, switches and links, in the original's form
//! or in one of a fork.

use crate::address::MAX_NODES;
use crate::error::{FileError, Result, Warning};
use crate::tokens::{Token, Tokens};

/// Whose form a topology has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `nodes switches links`: the original and most forks.
    Original,
    /// `nodes gpus-per-server nvswitches switches links gpu-type`: SimAI and astra-sim.
    SimAi,
    /// `nodes switches tors links`: the simulator of PowerTCP.
    PowerTcp,
    /// `nodes switches tors links rate rate`: the simulator of Reverie.
    Reverie,
}

/// What the first line says.
pub(super) struct Header {
    pub form: Form,
    pub nodes: usize,
    /// Switches, without NVSwitches.
    pub switches: u64,
    /// Their numbers come before those of the switches.
    pub nvswitches: u64,
    pub links: usize,
}

impl Header {
    /// Reads the first line. `tokens` is at the beginning of the file.
    pub fn read(tokens: &mut Tokens<'_>, warnings: &mut Vec<Warning>) -> Result<Header> {
        match form(tokens) {
            Form::Original => {
                let nodes = nodes(tokens)?;
                let switches = tokens.whole("the number of switches", 0..=nodes)?;
                let links = links(tokens)?;
                Ok(Header::new(Form::Original, nodes, switches, 0, links))
            }
            Form::SimAi => simai(tokens, warnings),
            form => with_tors(form, tokens, warnings),
        }
    }

    fn new(form: Form, nodes: u64, switches: u64, nvswitches: u64, links: u64) -> Header {
        Header { form, nodes: nodes as usize, switches, nvswitches, links: links as usize }
    }
}

fn nodes(tokens: &mut Tokens<'_>) -> Result<u64> {
    tokens.whole("the number of nodes", 1..=u64::from(MAX_NODES))
}

fn links(tokens: &mut Tokens<'_>) -> Result<u64> {
    tokens.whole("the number of links", 0..=u64::from(u32::MAX))
}

/// The form, by the number of words in the first line.
fn form(tokens: &Tokens<'_>) -> Form {
    let words = Tokens::new(tokens.rest());
    let mut line: Vec<Token<'_>> = Vec::new();
    for word in words {
        if line.first().is_some_and(|first| first.line != word.line) || line.len() > 6 {
            break;
        }
        line.push(word);
    }
    let number = |word: &Token<'_>| word.whole("", 0..=u64::MAX).ok();
    let numbers: Vec<Option<u64>> = line.iter().map(number).collect();
    match *numbers {
        // The original reads words, whatever line they are in: its switches may be in the first,
        // too. Then the file has as many words as it promises.
        [Some(_), Some(switches), Some(_), Some(_)]
        | [Some(_), Some(switches), Some(_), Some(_), _, _]
            if holds(tokens, 3, switches, numbers[2]) =>
        {
            Form::Original
        }
        [Some(_), Some(switches), Some(tors), Some(_)] if tors <= switches => Form::PowerTcp,
        [Some(_), Some(_), Some(_), Some(_), Some(_), None] => Form::SimAi,
        [Some(_), Some(switches), Some(tors), Some(_), Some(_), Some(_)] if tors <= switches => {
            Form::Reverie
        }
        _ => Form::Original,
    }
}

/// Whether the file has as many words as a first line of `head` words promises.
fn holds(tokens: &Tokens<'_>, head: u64, switches: u64, links: Option<u64>) -> bool {
    let words = Tokens::new(tokens.rest()).count() as u64;
    let promised = links.and_then(|links| links.checked_mul(5));
    let promised = promised.and_then(|words| words.checked_add(switches)?.checked_add(head));
    promised == Some(words)
}

fn simai(tokens: &mut Tokens<'_>, warnings: &mut Vec<Warning>) -> Result<Header> {
    let line = tokens.line();
    let nodes = nodes(tokens)?;
    let per_server = tokens.whole("the number of GPUs of a server", 0..=nodes)?;
    let nvswitches = tokens.whole("the number of NVSwitches", 0..=nodes)?;
    let switches = tokens.whole("the number of switches", 0..=nodes - nvswitches)?;
    let links = links(tokens)?;
    let gpu = tokens.need("the type of GPU")?;
    let gpus = nodes - nvswitches - switches;
    if per_server > 0 && gpus % per_server != 0 {
        return Err(FileError::new(format!(
            "{nodes} nodes are {nvswitches} NVSwitches, {switches} switches and {gpus} GPUs, which \
             fill no number of servers with {per_server} GPUs"
        ))
        .at(line)
        .hint(
            "the first line has the numbers of nodes, GPUs of a server, NVSwitches, switches and \
               links, and the type of GPU",
        ));
    }
    warnings.push(Warning::at(
        line,
        format!(
            "a topology of SimAI: NVSwitches forward as switches do and mark nothing; the type of \
             GPU, {}, changes nothing",
            gpu.shown()
        ),
    ));
    Ok(Header::new(Form::SimAi, nodes, switches, nvswitches, links))
}

fn with_tors(form: Form, tokens: &mut Tokens<'_>, warnings: &mut Vec<Warning>) -> Result<Header> {
    let line = tokens.line();
    let nodes = nodes(tokens)?;
    let switches = tokens.whole("the number of switches", 0..=nodes)?;
    tokens.whole("the number of ToRs", 0..=switches)?;
    let links = links(tokens)?;
    let (whose, what) = if form == Form::Reverie {
        for _ in 0..2 {
            tokens.need("the rate of links")?;
        }
        ("Reverie", "the number of ToRs and the two rates change")
    } else {
        ("PowerTCP", "the number of ToRs changes")
    };
    warnings.push(Warning::at(
        line,
        format!(
            "a topology of the simulator of {whose}: {what} nothing; buffers and PFC are those of \
             the HPCC simulator"
        ),
    ));
    Ok(Header::new(form, nodes, switches, 0, links))
}

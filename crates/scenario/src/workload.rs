//! Flow-size distributions: tables of points with straight lines between them.

use crate::error::{Result, ScenarioError, known_words};
use crate::random::Stream;
use std::sync::LazyLock;

/// The largest message: 4 TB.
pub const MAX_MESSAGE: u64 = 4_000_000_000_000;

/// A flow-size distribution: cumulative probability by bytes, linear between points. Two points of
/// equal size are a step: that share of flows has this size.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    points: Vec<(u64, f64)>,
}

impl Cdf {
    /// The distribution through these points: probabilities from 0 to 1, neither they nor sizes
    /// ever decreasing, and one of them increasing. The error says which point is at fault.
    pub fn new(points: Vec<(u64, f64)>) -> std::result::Result<Cdf, String> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err("a distribution needs at least two points".to_owned());
        };
        if points.len() < 2 {
            return Err("a distribution needs at least two points".to_owned());
        }
        if let Some((bytes, p)) = points.iter().find(|(_, p)| !p.is_finite() || *p < 0.0) {
            return Err(format!("the probability at {bytes} bytes is {p}"));
        }
        for (index, pair) in points.windows(2).enumerate() {
            let ((bytes_before, p_before), (bytes, p)) = (pair[0], pair[1]);
            let place = format!("point {} of {}", index + 2, points.len());
            if pair[1] == pair[0] {
                return Err(format!("{place} is the one before again: {bytes} bytes at {p}"));
            }
            if bytes < bytes_before {
                return Err(format!(
                    "is not monotone: {bytes} bytes after {bytes_before} ({place})"
                ));
            }
            if p < p_before && p_before > 1.0 {
                return Err(format!("the probability at {bytes_before} bytes is {p_before}"));
            }
            if p < p_before {
                return Err(format!("is not monotone: probability {p} after {p_before} ({place})"));
            }
        }
        if last.1 != 1.0 {
            return Err(format!("must end at probability 1, ends at {}", last.1));
        }
        if first.1 != 0.0 {
            return Err(format!("must start at probability 0, starts at {}", first.1));
        }
        if last.0 == 0 {
            return Err("has no size above 0 bytes".to_owned());
        }
        // Messages of no bytes would be sent as one byte, and the load would be too high.
        if let Some((_, p)) = points[1..].iter().rfind(|(bytes, _)| *bytes == 0) {
            return Err(format!(
                "has a probability of {p} at 0 bytes; a message has at least one byte"
            ));
        }
        if last.0 > MAX_MESSAGE {
            return Err(format!("reaches {} bytes; a message has at most 4000GB", last.0));
        }
        Ok(Cdf { points })
    }

    /// Reads lines `bytes,probability`; `#` starts a comment, and a line of column names, which are
    /// no numbers, may lead. A file that ends at 100, as those of the HPCC simulator do, has
    /// percent.
    pub fn read(text: &str) -> std::result::Result<Cdf, String> {
        let mut points = Vec::new();
        let mut leads = true;
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let mut fields = line.split([',', ' ', '\t']).filter(|field| !field.is_empty());
            let mut words = fields.clone();
            if std::mem::take(&mut leads) && words.all(|word| word.parse::<f64>().is_err()) {
                continue;
            }
            let point = (fields.next(), fields.next(), fields.next());
            let (Some(bytes), Some(probability), None) = point else {
                return Err(format!("line {}: needs `bytes,probability`", index + 1));
            };
            match (bytes.parse(), probability.parse()) {
                (Ok(bytes), Ok(probability)) => points.push((bytes, probability)),
                (Err(_), _) => {
                    return Err(format!(
                        "line {}: {bytes:?} is not a whole number of bytes",
                        index + 1
                    ));
                }
                (_, Err(_)) => {
                    return Err(format!("line {}: {probability:?} is not a number", index + 1));
                }
            }
        }
        if points.last().is_some_and(|&(_, last)| last == 100.0) {
            points.iter_mut().for_each(|(_, percent)| *percent /= 100.0);
        }
        Cdf::new(points)
    }

    /// Its points: bytes and cumulative probability.
    pub fn points(&self) -> &[(u64, f64)] {
        &self.points
    }

    /// Mean size in bytes, as the straight lines give it.
    pub fn mean(&self) -> f64 {
        self.points
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 as f64 + pair[1].0 as f64) / 2.0)
            .sum()
    }

    /// The size in bytes below which a fraction `p` of the flows is.
    pub fn quantile(&self, p: f64) -> f64 {
        let above = self.points.partition_point(|(_, cdf)| *cdf <= p);
        let upper = above.clamp(1, self.points.len() - 1);
        let ((low, low_p), (high, high_p)) = (self.points[upper - 1], self.points[upper]);
        if high_p <= low_p {
            return high as f64;
        }
        let part = ((p - low_p) / (high_p - low_p)).clamp(0.0, 1.0);
        low as f64 + part * (high - low) as f64
    }

    /// The largest size in bytes.
    pub fn max(&self) -> u64 {
        self.points.last().map_or(0, |(bytes, _)| *bytes)
    }

    /// A size drawn at random: whole bytes, at least 1.
    pub(crate) fn draw(&self, stream: &mut Stream) -> u64 {
        (self.quantile(stream.fraction()) as u64).max(1)
    }
}

/// A flow-size distribution that ships with rocelab.
#[derive(Debug)]
pub struct Workload {
    /// Its name in scenario files.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: String,
    /// Where its points come from and what there is to know about them.
    pub source: String,
    /// The distribution.
    pub cdf: Cdf,
    /// Mean in bytes.
    pub mean: f64,
    /// Median in bytes.
    pub p50: f64,
    /// 99th percentile in bytes.
    pub p99: f64,
    /// Largest size in bytes.
    pub max: u64,
}

impl Workload {
    fn new(name: &'static str, text: &'static str) -> Option<Workload> {
        let cdf = Cdf::read(text).ok()?;
        let comments: Vec<&str> =
            text.lines().map_while(|line| line.strip_prefix("# ")).map(str::trim).collect();
        let (first, rest) = comments.split_first()?;
        let summary = first.split_once(": ").map_or(*first, |(_, summary)| summary);
        Some(Workload {
            name,
            summary: summary.to_owned(),
            source: rest.join(" "),
            mean: cdf.mean(),
            p50: cdf.quantile(0.5),
            p99: cdf.quantile(0.99),
            max: cdf.max(),
            cdf,
        })
    }
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../data/workloads/", $name, ".csv")))),*]
    };
}

const SHIPPED: [(&str, &str); 10] = shipped![
    "WebSearch",
    "FB_Hadoop",
    "AliStorage2019",
    "GoogleRPC2008",
    "WebServer",
    "CacheFollower",
    "DataMining",
    "Solar2022",
    "Enterprise",
    "LLM_THEMIS",
];

/// Other names that papers use.
const ALIASES: [(&str, &str); 1] = [("Hadoop", "FB_Hadoop")];

/// Every distribution that ships with rocelab.
pub fn all() -> &'static [Workload] {
    static ALL: LazyLock<Vec<Workload>> = LazyLock::new(|| {
        SHIPPED.iter().filter_map(|(name, text)| Workload::new(name, text)).collect()
    });
    &ALL
}

/// The distribution called `name`, in capitals or not.
pub fn find(name: &str) -> Option<&'static Workload> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, meant)| meant);
    all().iter().find(|workload| workload.name.eq_ignore_ascii_case(name))
}

/// The distribution called `name`, or an error at `key`.
pub(crate) fn named(name: &str, key: &str) -> Result<&'static Workload> {
    find(name).ok_or_else(|| {
        let known: Vec<&str> = all().iter().map(|workload| workload.name).collect();
        ScenarioError::new(key, format!("unknown workload `{name}`"))
            .hint(known_words(name, known.iter().copied()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean, p50, p99 and max, from the sources that each file names.
    const PUBLISHED: [(&str, f64, f64, f64, u64); 10] = [
        ("WebSearch", 1_711_250.0, 73_077.0, 23_333_333.0, 30_000_000),
        ("FB_Hadoop", 120_421.0, 700.0, 2_000_000.0, 10_000_000),
        ("AliStorage2019", 40_870.0, 6_340.0, 1_293_927.0, 2_000_000),
        ("GoogleRPC2008", 2_892.0, 257.0, 30_614.0, 15_158_197),
        ("WebServer", 91_343.0, 1_462.0, 632_413.0, 19_791_390),
        ("CacheFollower", 609_883.0, 23_169.0, 3_953_884.0, 28_388_498),
        ("DataMining", 12_658_199.0, 1_100.0, 550_000_000.0, 1_000_000_000),
        ("Solar2022", 39_424.0, 16_384.0, 222_822.0, 262_144),
        ("Enterprise", 157_357.0, 1_052.0, 1_400_260.0, 1_773_379_248),
        ("LLM_THEMIS", 18_823_902.0, 10_013_514.0, 60_112_030.0, 60_173_333),
    ];

    #[test]
    fn shipped_workloads_have_their_published_moments() {
        assert_eq!(all().len(), PUBLISHED.len());
        for (name, mean, p50, p99, max) in PUBLISHED {
            let workload = find(name).unwrap();
            let near = |got: f64, published: f64| (got - published).abs() <= 1.0;
            assert!(near(workload.mean, mean), "{name}: mean {}", workload.mean);
            assert!(near(workload.p50, p50), "{name}: p50 {}", workload.p50);
            assert!(near(workload.p99, p99), "{name}: p99 {}", workload.p99);
            assert_eq!(workload.max, max, "{name}");
            assert!(workload.source.contains("Source:") && !workload.summary.is_empty(), "{name}");
        }
    }

    #[test]
    fn drawn_sizes_have_the_mean() {
        let workload = find("websearch").unwrap();
        let mut stream = Stream::new(1, "test", &[]);
        let n = 400_000;
        let sum: f64 = (0..n).map(|_| workload.cdf.draw(&mut stream) as f64).sum();
        let mean = sum / f64::from(n);
        assert!((mean / workload.mean - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(find("hadoop").unwrap().name, "FB_Hadoop");
        assert_eq!(find("WEBSEARCH").unwrap().name, "WebSearch");
        let error = named("WebSaerch", "k").unwrap_err();
        assert_eq!(
            error.to_string(),
            "k: unknown workload `WebSaerch`; hint: did you mean `WebSearch`?"
        );
    }

    #[test]
    fn equal_sizes_are_a_step() {
        let cdf =
            Cdf::new(vec![(1_000, 0.0), (1_000, 0.75), (50_000, 0.75), (50_000, 1.0)]).unwrap();
        assert_eq!(cdf.mean(), 0.75 * 1_000.0 + 0.25 * 50_000.0);
        let mut stream = Stream::new(1, "test", &[]);
        let drawn: Vec<u64> = (0..10_000).map(|_| cdf.draw(&mut stream)).collect();
        assert!(drawn.iter().all(|size| [1_000, 50_000].contains(size)));
        let small = drawn.iter().filter(|&&size| size == 1_000).count();
        assert!((7_300..7_700).contains(&small), "{small}");
    }

    #[test]
    fn files_in_percent_are_read() {
        let percent = Cdf::read("0 0\n10000 15\n30000000 100").unwrap();
        assert_eq!(percent, Cdf::read("0,0\n10000,0.15\n30000000,1").unwrap());
    }

    #[test]
    fn a_line_of_column_names_may_lead() {
        let plain = Cdf::read("0,0\n10,1").unwrap();
        for names in ["bytes,cdf", "bytes,probability", "Size CDF", "size in bytes, probability"] {
            let read = Cdf::read(&format!("# mine\n\n{names}\n0,0\n10,1"));
            assert_eq!(read.as_ref(), Ok(&plain), "{names}");
        }
        let why = |text| Cdf::read(text).unwrap_err();
        assert!(why("bytes,cdf\nbytes,cdf\n0,0\n10,1").starts_with("line 2: \"bytes\" is not"));
        assert!(why("0,0\nbytes,cdf\n10,1").starts_with("line 2: \"bytes\" is not"));
        assert!(why("0,none\n10,1").starts_with("line 1: \"none\" is not a number"));
        assert!(why("1kB,0\n10,1").starts_with("line 1: \"1kB\" is not a whole number"));
    }

    #[test]
    fn bad_tables_are_refused() {
        let why = |points: &[(u64, f64)]| Cdf::new(points.to_vec()).unwrap_err();
        assert!(why(&[]).contains("two points"));
        assert!(why(&[(5, 1.0)]).contains("two points"));
        assert_eq!(
            why(&[(0, 0.0), (9, 0.5), (9, 0.5), (10, 1.0)]),
            "point 3 of 4 is the one before again: 9 bytes at 0.5"
        );
        assert_eq!(
            why(&[(0, 0.0), (9, 0.5), (8, 1.0)]),
            "is not monotone: 8 bytes after 9 (point 3 of 3)"
        );
        assert!(why(&[(0, 0.0), (10, 0.5), (20, 0.4), (30, 1.0)]).contains("0.4 after 0.5"));
        assert!(why(&[(0, 0.0), (10, 0.9)]).contains("must end at probability 1"));
        assert_eq!(why(&[(0, 0.0), (10, 1.5), (20, 1.0)]), "the probability at 10 bytes is 1.5");
        assert!(why(&[(0, 0.1), (10, 1.0)]).contains("must start at probability 0"));
        assert_eq!(why(&[(0, 0.0), (0, 1.0)]), "has no size above 0 bytes");
        assert!(why(&[(0, 0.0), (10, 100.0)]).contains("must end at probability 1, ends at 100"));
        assert!(why(&[(0, 0.0), (10, f64::NAN), (20, 1.0)]).contains("NaN"));
        assert!(why(&[(0, 0.0), (u64::MAX, 1.0)]).contains("at most 4000GB"));
        assert!(Cdf::read("bytes,cdf\n0,0\n10,x").unwrap_err().starts_with("line 3"));
        assert!(Cdf::read("0 0\n1e3 1").unwrap_err().contains("whole number"));
        assert!(Cdf::read("0,0\n10").unwrap_err().contains("needs `bytes,probability`"));
    }
}

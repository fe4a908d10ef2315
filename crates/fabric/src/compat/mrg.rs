//! The draws of ns-3's default generator as the HPCC simulator makes them: each is the first number
//! of a new stream.
//!
//! The generator is MRG32k3a (L'Ecuyer, Simard, Chen and Kelton, "An object-oriented random-number
//! package with many long streams and substreams", Operations Research 2002).

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
/// The recurrences x(n) = 1403580 x(n-2) - 810728 x(n-3) and y(n) = 527612 y(n-1) - 1370589 y(n-3).
const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];
const NORM: f64 = 2.328_306_549_295_728e-10;

/// Streams are 2^127 numbers apart. Runs, that is, substreams of a stream, are 2^76 apart.
const STREAM: u32 = 127;
const RUN: u32 = 76;

/// Streams that ns-3 assigns automatically before the first packet: some for each node's protocol
/// stack, and those of an error model. Found by comparison with the simulator's marks.
const PER_NODE: u64 = 6;
const BEFORE: u64 = 2;

/// Returns the first stream that a mark is drawn from in a network of `nodes` nodes, none of whose
/// links has an error rate of its own.
pub fn first_stream(nodes: u64) -> u64 {
    PER_NODE * nodes + BEFORE
}

/// The stream that each switch of ConWeave's simulator draws its marks from: the first of those
/// that programs number themselves.
const CONWEAVE_STREAM: u64 = 1 << 63;

/// Returns the numbers that each switch of ConWeave's simulator draws its marks from, with ns-3's
/// seed `seed`.
pub fn conweave_marks(seed: u64) -> Numbers {
    Draws::seeded(seed, CONWEAVE_STREAM, 1).numbers()
}

type Matrix = [[u64; 3]; 3];
type Vector = [u64; 3];

fn product(a: &Matrix, b: &Matrix, m: u64) -> Matrix {
    let entry = |row: usize, column: usize| {
        (0..3).fold(0, |sum, k| (sum + a[row][k] * b[k][column] % m) % m)
    };
    [0, 1, 2].map(|row| [0, 1, 2].map(|column| entry(row, column)))
}

/// The compiler knows the modulus: a division takes as long as all else.
#[inline(always)]
fn apply<const M: u64>(a: &Matrix, v: &Vector) -> Vector {
    let mut result = [0; 3];
    for (sum, row) in result.iter_mut().zip(a) {
        // Products are below M squared, which is below 2^64.
        *sum = row.iter().zip(v).map(|(a, v)| a * v % M).sum::<u64>() % M;
    }
    result
}

fn squared(a: &Matrix, times: u32, m: u64) -> Matrix {
    (0..times).fold(*a, |a, _| product(&a, &a, m))
}

fn power(a: &Matrix, mut exponent: u64, m: u64) -> Matrix {
    let (mut result, mut a) = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], *a);
    while exponent != 0 {
        if exponent & 1 != 0 {
            result = product(&result, &a, m);
        }
        a = product(&a, &a, m);
        exponent >>= 1;
    }
    result
}

/// Draws, each of a stream of its own.
#[derive(Clone, Debug)]
pub struct Draws {
    /// The state in which the next stream begins, by component.
    state: [Vector; 2],
    to_next_stream: [Matrix; 2],
    to_run: [Matrix; 2],
}

impl Draws {
    /// Makes draws of which the first is of stream `stream`. `run` is ns-3's run number; the seed
    /// is 1, as in the HPCC simulator.
    pub fn from_stream(stream: u64, run: u64) -> Draws {
        Draws::seeded(1, stream, run)
    }

    /// Makes the draws of [`from_stream`](Draws::from_stream) with another of ns-3's seeds.
    pub fn seeded(seed: u64, stream: u64, run: u64) -> Draws {
        let matrices = [(A1, M1), (A2, M2)];
        let to_next_stream = matrices.map(|(a, m)| squared(&a, STREAM, m));
        let [x, y] = &to_next_stream;
        Draws {
            state: [
                apply::<M1>(&power(x, stream, M1), &[seed % M1; 3]),
                apply::<M2>(&power(y, stream, M2), &[seed % M2; 3]),
            ],
            to_next_stream,
            to_run: matrices.map(|(a, m)| power(&squared(&a, RUN, m), run, m)),
        }
    }

    /// Returns the next draw, above 0 and below 1.
    pub fn draw(&mut self) -> f64 {
        let number = self.numbers().draw();
        self.skip();
        number
    }

    /// Returns the numbers of the stream that is next.
    pub fn numbers(&self) -> Numbers {
        Numbers {
            x: apply::<M1>(&self.to_run[0], &self.state[0]),
            y: apply::<M2>(&self.to_run[1], &self.state[1]),
        }
    }

    /// Skips a stream that something else takes.
    pub fn skip(&mut self) {
        self.state = [
            apply::<M1>(&self.to_next_stream[0], &self.state[0]),
            apply::<M2>(&self.to_next_stream[1], &self.state[1]),
        ];
    }
}

/// The successive numbers of one stream.
#[derive(Clone, Debug)]
pub struct Numbers {
    x: Vector,
    y: Vector,
}

impl Numbers {
    /// Returns the next number, above 0 and below 1.
    pub fn draw(&mut self) -> f64 {
        self.x = apply::<M1>(&A1, &self.x);
        self.y = apply::<M2>(&A2, &self.y);
        let (x, y) = (self.x[2], self.y[2]);
        (if x > y { x - y } else { x + M1 - y }) as f64 * NORM
    }
}

/// Where a switch draws its marks from, if not from generators of its ports.
#[derive(Clone, Debug)]
pub(crate) enum MarkDraws {
    /// Each draw is the first number of a new stream, and a PFC frame takes a stream, too.
    StreamEach(Box<Draws>),
    /// All draws are of one stream.
    OneStream(Numbers),
}

impl MarkDraws {
    /// Returns the next draw, above 0 and below 1.
    pub(crate) fn draw(&mut self) -> f64 {
        match self {
            MarkDraws::StreamEach(draws) => draws.draw(),
            MarkDraws::OneStream(numbers) => numbers.draw(),
        }
    }

    /// Takes what a PFC frame takes.
    pub(crate) fn on_pfc_frame(&mut self) {
        if let MarkDraws::StreamEach(draws) = self {
            draws.skip();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_those_of_ns3() {
        // What ns-3's sample-random-variable-stream prints for stream 0 of run 1, seed 1.
        let mut draws = Draws::from_stream(0, 1);
        assert_eq!(format!("{:.6}", draws.draw()), "0.816532");
        let mut skipped = Draws::from_stream(0, 1);
        let (first, second) = (skipped.draw(), skipped.draw());
        let mut again = Draws::from_stream(0, 1);
        again.skip();
        assert_eq!(again.draw(), second);
        assert_ne!(first, second);
        assert_ne!(Draws::from_stream(0, 2).draw(), first);
        assert_ne!(Draws::seeded(2, 0, 1).draw(), first);
    }
}

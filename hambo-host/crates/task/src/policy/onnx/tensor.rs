//! Constants of a graph: decoded tensors, always in f64, and the arithmetic that
//! constant folding needs.

use super::complaint::Complaint;
use super::message::TensorMessage;
use super::weight_file::WeightFolder;

/// Elements of one tensor: 2,048 × 2,048. All of a graph are limited by [`Budget`].
pub(super) const MOST_ELEMENTS: usize = 1 << 22;
const MOST_DIMENSIONS: usize = 8;
/// The location of a tensor whose numbers lie in a file of their own.
const EXTERNAL: i64 = 1;

/// What a file may still cost, so that a small one cannot ask for hours or
/// gigabytes.
pub(super) struct Budget {
    numbers: usize,
    products: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            numbers: 1 << 24,
            products: 1 << 26,
        }
    }
}

impl Budget {
    /// Pays for numbers that are kept.
    pub fn keep(&mut self, count: usize) -> Result<(), Complaint> {
        match self.numbers.checked_sub(count) {
            Some(left) if count <= MOST_ELEMENTS => {
                self.numbers = left;
                Ok(())
            }
            _ => Err(Complaint::new(
                format!("{count} more numbers are too many for a controller"),
                "export a smaller network",
            )),
        }
    }

    /// Pays for a product of matrices.
    pub fn multiply(&mut self, sizes: [usize; 3]) -> Result<(), Complaint> {
        let count = sizes.iter().try_fold(1_usize, |a, b| a.checked_mul(*b));
        match count.and_then(|count| self.products.checked_sub(count)) {
            Some(left) => {
                self.products = left;
                Ok(())
            }
            None => Err(Complaint::new(
                "folding the layers takes too many products",
                "export a smaller network, with an activation between its layers",
            )),
        }
    }
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub shape: Vec<usize>,
    pub numbers: Vec<f64>,
    /// Integers divide like integers.
    pub integer: bool,
}

/// The number of elements of a shape.
pub(super) fn elements(shape: &[usize]) -> Result<usize, Complaint> {
    let count = shape.iter().try_fold(1_usize, |a, b| a.checked_mul(*b));
    match count {
        Some(count) if count <= MOST_ELEMENTS && shape.len() <= MOST_DIMENSIONS => Ok(count),
        _ => Err(Complaint::new(
            "its shape is too large for a controller's",
            format!("give at most {MOST_DIMENSIONS} dimensions and {MOST_ELEMENTS} numbers"),
        )),
    }
}

impl Tensor {
    pub fn scalar(value: f64) -> Self {
        Self {
            shape: Vec::new(),
            numbers: vec![value],
            integer: false,
        }
    }

    pub fn list(numbers: Vec<f64>, integer: bool) -> Self {
        Self {
            shape: vec![numbers.len()],
            numbers,
            integer,
        }
    }

    /// Decodes a tensor of the file.
    pub fn decode(
        message: &TensorMessage,
        folder: &WeightFolder<'_>,
        budget: &mut Budget,
    ) -> Result<Self, Complaint> {
        let negative = || Complaint::new("it has a negative dimension", "export it again");
        let shape: Vec<usize> = message
            .dimensions
            .iter()
            .map(|length| usize::try_from(*length).map_err(|_| negative()))
            .collect::<Result<_, _>>()?;
        let count = elements(&shape)?;
        budget.keep(count)?;
        if message.segment.is_some() {
            let help = "export it again in one piece";
            return Err(Complaint::new("it is a part of a tensor", help));
        }
        let kind = Kind::new(message.kind)?;
        let external;
        let raw = if message.location == EXTERNAL {
            external = folder.read(&message.external, count * kind.size())?;
            Some(&external)
        } else {
            message.raw.as_ref()
        };
        let integers = |numbers: &[i64]| numbers.iter().map(|x| *x as f64).collect();
        let numbers: Vec<f64> = match (raw, kind) {
            (Some(bytes), _) => kind.decode(bytes),
            (None, Kind::Float) => message.floats.iter().map(|x| f64::from(*x)).collect(),
            (None, Kind::Double) => message.doubles.clone(),
            (None, Kind::Int64) => integers(&message.integers),
            (None, Kind::Int32 | Kind::Bool) => integers(&message.small_integers),
        };
        if numbers.len() != count || raw.is_some_and(|bytes| bytes.len() != count * kind.size()) {
            let found = numbers.len();
            return Err(Complaint::new(
                format!("its shape {shape:?} needs {count} numbers, the file has {found}"),
                "export it again",
            ));
        }
        if numbers.iter().any(|x| x.is_nan()) {
            let help = "train again, or mend the weights; a NaN never drives a robot";
            return Err(Complaint::new("it holds a NaN", help));
        }
        Ok(Self {
            shape,
            numbers,
            integer: kind.is_integer(),
        })
    }

    /// Whole numbers, as shapes and axes are.
    pub fn integers(&self) -> Result<Vec<i64>, Complaint> {
        if self.integer {
            Ok(self.numbers.iter().map(|x| *x as i64).collect())
        } else {
            let help = "export the model again";
            Err(Complaint::new("an integer tensor is expected", help))
        }
    }

    /// One number after the other, with the shapes broadcast as in NumPy.
    pub fn zip(&self, other: &Self, with: impl Fn(f64, f64) -> f64) -> Result<Self, Complaint> {
        let rank = self.shape.len().max(other.shape.len());
        let padded = |shape: &[usize]| {
            let mut padded = vec![1; rank - shape.len()];
            padded.extend(shape);
            padded
        };
        let (a, b) = (padded(&self.shape), padded(&other.shape));
        let mut shape = Vec::with_capacity(rank);
        for (a, b) in a.iter().zip(&b) {
            if a != b && *a != 1 && *b != 1 {
                let problem = format!("shapes {:?} and {:?} do not fit", self.shape, other.shape);
                return Err(Complaint::new(problem, "export the model again"));
            }
            shape.push(if *a == 1 { *b } else { *a });
        }
        let count = elements(&shape)?;
        let at = |tensor: &Self, own: &[usize], index: usize| {
            let (mut rest, mut place, mut stride) = (index, 0, 1);
            for (length, own) in shape.iter().zip(own).rev() {
                place += if *own == 1 { 0 } else { rest % length * stride };
                stride *= own;
                rest /= length;
            }
            tensor.numbers.get(place).copied().unwrap_or(f64::NAN)
        };
        let numbers = (0..count).map(|index| with(at(self, &a, index), at(other, &b, index)));
        Ok(Self {
            numbers: numbers.collect(),
            shape,
            integer: self.integer && other.integer,
        })
    }

    pub fn map(&self, with: impl Fn(f64) -> f64) -> Self {
        Self {
            shape: self.shape.clone(),
            numbers: self.numbers.iter().map(|x| with(*x)).collect(),
            integer: self.integer,
        }
    }

    /// The same numbers in another shape.
    pub fn reshaped(&self, shape: Vec<usize>) -> Result<Self, Complaint> {
        if elements(&shape)? != self.numbers.len() {
            let problem = format!("{:?} cannot become {shape:?}", self.shape);
            return Err(Complaint::new(problem, "export the model again"));
        }
        Ok(Self {
            shape,
            ..self.clone()
        })
    }

    /// A matrix with rows and columns changed.
    pub fn transposed(&self) -> Result<Self, Complaint> {
        let (rows, columns) = self.matrix_shape()?;
        let numbers = (0..columns)
            .flat_map(|column| (0..rows).map(move |row| row * columns + column))
            .filter_map(|place| self.numbers.get(place).copied())
            .collect();
        Ok(Self {
            shape: vec![columns, rows],
            numbers,
            integer: self.integer,
        })
    }

    /// Rows and columns of a matrix.
    pub fn matrix_shape(&self) -> Result<(usize, usize), Complaint> {
        match *self.shape.as_slice() {
            [rows, columns] => Ok((rows, columns)),
            _ => Err(Complaint::new(
                format!("a matrix is expected, not the shape {:?}", self.shape),
                "export a network of plain linear layers",
            )),
        }
    }
}

/// The kinds of numbers that a controller may be made of.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Float,
    Double,
    Int32,
    Int64,
    Bool,
}

impl Kind {
    fn new(number: i64) -> Result<Self, Complaint> {
        Ok(match number {
            1 => Self::Float,
            6 => Self::Int32,
            7 => Self::Int64,
            9 => Self::Bool,
            11 => Self::Double,
            _ => {
                let name = match number {
                    2 => "uint8".to_owned(),
                    3 => "int8".to_owned(),
                    10 => "float16".to_owned(),
                    16 => "bfloat16".to_owned(),
                    _ => format!("kind {number}"),
                };
                let help = "export the network with float32 or float64 weights, not quantised";
                return Err(Complaint::new(format!("its numbers are {name}"), help));
            }
        })
    }

    fn is_integer(self) -> bool {
        !matches!(self, Self::Float | Self::Double)
    }

    /// Bytes of a number in `raw_data`.
    fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Float | Self::Int32 => 4,
            Self::Double | Self::Int64 => 8,
        }
    }

    fn decode(self, bytes: &[u8]) -> Vec<f64> {
        let four = bytes.as_chunks().0.iter();
        let eight = bytes.as_chunks().0.iter();
        match self {
            Self::Float => four.map(|x| f64::from(f32::from_le_bytes(*x))).collect(),
            Self::Int32 => four.map(|x| f64::from(i32::from_le_bytes(*x))).collect(),
            Self::Double => eight.map(|x| f64::from_le_bytes(*x)).collect(),
            Self::Int64 => eight.map(|x| i64::from_le_bytes(*x) as f64).collect(),
            Self::Bool => bytes.iter().map(|x| f64::from(*x)).collect(),
        }
    }
}

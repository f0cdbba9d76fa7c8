//! The messages of an ONNX file that a controller needs: model, graph, node,
//! attribute, tensor. Field numbers as in `onnx.proto`; other fields are passed over.

use super::error::OnnxError;
use super::wire::Fields;

/// More nodes, tensors, attributes or outputs than any perceptron has.
const MOST: usize = 10_000;

/// A model: one graph, the operators' version, notes.
#[derive(Default)]
pub(super) struct Model<'a> {
    /// Version of the standard operators.
    pub opset: Option<i64>,
    pub metadata: Vec<(&'a str, &'a str)>,
    pub graph: Option<Graph<'a>>,
    pub has_functions: bool,
}

#[derive(Default)]
pub(super) struct Graph<'a> {
    pub nodes: Vec<Node<'a>>,
    pub initialisers: Vec<TensorMessage<'a>>,
    pub inputs: Vec<ValueInfo<'a>>,
    pub outputs: Vec<ValueInfo<'a>>,
    pub has_sparse: bool,
}

#[derive(Default)]
pub(super) struct Node<'a> {
    pub name: &'a str,
    pub operator: &'a str,
    pub domain: &'a str,
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    pub attributes: Vec<Attribute<'a>>,
}

#[derive(Default)]
pub(super) struct Attribute<'a> {
    pub name: &'a str,
    pub float: Option<f32>,
    pub integer: Option<i64>,
    pub tensor: Option<TensorMessage<'a>>,
    pub floats: Vec<f64>,
    pub integers: Vec<i64>,
}

/// A tensor as it lies in the file, not yet decoded.
#[derive(Clone, Default)]
pub(super) struct TensorMessage<'a> {
    pub name: &'a str,
    pub dimensions: Vec<i64>,
    pub kind: i64,
    /// `raw_data`, little-endian.
    pub raw: Option<&'a [u8]>,
    /// The typed fields, as they are: a message each, decoded when needed.
    pub floats: Vec<f64>,
    pub integers: Vec<i64>,
    /// `location`, `offset`, `length`.
    pub external: Vec<(&'a str, &'a str)>,
    pub is_external: bool,
    pub is_segment: bool,
}

/// A graph's input or output.
#[derive(Default)]
pub(super) struct ValueInfo<'a> {
    pub name: &'a str,
    /// `None` for a dimension that is not a number.
    pub dimensions: Option<Vec<Option<i64>>>,
    /// The kind of its numbers, 0 if it is not a tensor.
    pub kind: i64,
}

/// Runs `each` over the fields of a message.
fn read<'a>(
    part: &'static str,
    bytes: &'a [u8],
    mut each: impl FnMut(&Fields<'a>, u64, super::wire::Field<'a>) -> Result<(), OnnxError>,
) -> Result<(), OnnxError> {
    let mut fields = Fields::new(part, bytes);
    while let Some((number, field)) = fields.next()? {
        each(&fields, number, field)?;
    }
    Ok(())
}

fn push<T>(fields: &Fields<'_>, to: &mut Vec<T>, item: T) -> Result<(), OnnxError> {
    if to.len() >= MOST {
        return fields.damaged(format!("more than {MOST} entries in one list"));
    }
    to.push(item);
    Ok(())
}

impl<'a> Model<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, OnnxError> {
        let mut model = Self::default();
        read("model", bytes, |fields, number, field| {
            match number {
                7 => {
                    if model.graph.is_some() {
                        return fields.damaged("two graphs");
                    }
                    model.graph = Some(Graph::parse(fields.bytes(field)?)?);
                }
                8 => {
                    let (domain, version) = opset(fields.bytes(field)?)?;
                    if domain.is_empty() || domain == "ai.onnx" {
                        if model.opset.is_some() {
                            return fields.damaged("two versions of the operators");
                        }
                        model.opset = Some(version);
                    }
                }
                14 => {
                    let entry = entry(fields.bytes(field)?)?;
                    push(fields, &mut model.metadata, entry)?;
                }
                25 => model.has_functions = true,
                _ => {}
            }
            Ok(())
        })?;
        Ok(model)
    }
}

fn opset(bytes: &[u8]) -> Result<(&str, i64), OnnxError> {
    let mut found = ("", 0);
    read("operator set", bytes, |fields, number, field| {
        match number {
            1 => found.0 = fields.text(field)?,
            2 => found.1 = fields.integer(field)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn entry(bytes: &[u8]) -> Result<(&str, &str), OnnxError> {
    let mut found = ("", "");
    read("metadata", bytes, |fields, number, field| {
        match number {
            1 => found.0 = fields.text(field)?,
            2 => found.1 = fields.text(field)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

impl<'a> Graph<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, OnnxError> {
        let mut graph = Self::default();
        read("graph", bytes, |fields, number, field| {
            match number {
                1 => {
                    let node = Node::parse(fields.bytes(field)?)?;
                    push(fields, &mut graph.nodes, node)?;
                }
                5 => {
                    let tensor = TensorMessage::parse(fields.bytes(field)?)?;
                    push(fields, &mut graph.initialisers, tensor)?;
                }
                11 => {
                    let input = ValueInfo::parse(fields.bytes(field)?)?;
                    push(fields, &mut graph.inputs, input)?;
                }
                12 => {
                    let output = ValueInfo::parse(fields.bytes(field)?)?;
                    push(fields, &mut graph.outputs, output)?;
                }
                15 => graph.has_sparse = true,
                _ => {}
            }
            Ok(())
        })?;
        Ok(graph)
    }
}

impl<'a> Node<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, OnnxError> {
        let mut node = Self::default();
        read("node", bytes, |fields, number, field| {
            match number {
                1 => push(fields, &mut node.inputs, fields.text(field)?)?,
                2 => push(fields, &mut node.outputs, fields.text(field)?)?,
                3 => node.name = fields.text(field)?,
                4 => node.operator = fields.text(field)?,
                5 => {
                    let attribute = Attribute::parse(fields.bytes(field)?)?;
                    push(fields, &mut node.attributes, attribute)?;
                }
                7 => node.domain = fields.text(field)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(node)
    }

    /// Its name, or that of its first output.
    pub fn label(&self) -> &'a str {
        match self.name {
            "" => self.outputs.first().copied().unwrap_or_default(),
            name => name,
        }
    }

    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name == name)
    }

    /// An integer attribute, or what the standard says without it.
    pub fn integer(&self, name: &str, default: i64) -> i64 {
        let given = self.attribute(name).and_then(|attribute| attribute.integer);
        given.unwrap_or(default)
    }

    pub fn float(&self, name: &str, default: f32) -> f64 {
        let given = self.attribute(name).and_then(|attribute| attribute.float);
        f64::from(given.unwrap_or(default))
    }
}

impl<'a> Attribute<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, OnnxError> {
        let mut attribute = Self::default();
        read("attribute", bytes, |fields, number, field| {
            match number {
                1 => attribute.name = fields.text(field)?,
                2 => attribute.float = Some(fields.float(field)?),
                3 => attribute.integer = Some(fields.integer(field)?),
                5 => attribute.tensor = Some(TensorMessage::parse(fields.bytes(field)?)?),
                7 => fields.floats(field, &mut attribute.floats)?,
                8 => fields.integers(field, &mut attribute.integers)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(attribute)
    }
}

impl<'a> TensorMessage<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, OnnxError> {
        let mut tensor = Self::default();
        read("tensor", bytes, |fields, number, field| {
            match number {
                1 => fields.integers(field, &mut tensor.dimensions)?,
                2 => tensor.kind = fields.integer(field)?,
                3 => tensor.is_segment = true,
                4 => fields.floats(field, &mut tensor.floats)?,
                5 | 7 => fields.integers(field, &mut tensor.integers)?,
                8 => tensor.name = fields.text(field)?,
                9 => tensor.raw = Some(fields.bytes(field)?),
                10 => fields.doubles(field, &mut tensor.floats)?,
                13 => {
                    let entry = entry(fields.bytes(field)?)?;
                    push(fields, &mut tensor.external, entry)?;
                }
                14 => tensor.is_external = fields.integer(field)? == 1,
                _ => {}
            }
            Ok(())
        })?;
        Ok(tensor)
    }
}

impl<'a> ValueInfo<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, OnnxError> {
        let mut value = Self::default();
        read("value", bytes, |fields, number, field| {
            match number {
                1 => value.name = fields.text(field)?,
                2 => value.read_type(fields.bytes(field)?)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(value)
    }

    fn read_type(&mut self, bytes: &'a [u8]) -> Result<(), OnnxError> {
        read("type", bytes, |fields, number, field| {
            if number == 1 {
                let tensor = fields.bytes(field)?;
                read("tensor type", tensor, |fields, number, field| {
                    match number {
                        1 => self.kind = fields.integer(field)?,
                        2 => self.dimensions = Some(shape(fields.bytes(field)?)?),
                        _ => {}
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })
    }
}

fn shape(bytes: &[u8]) -> Result<Vec<Option<i64>>, OnnxError> {
    let mut dimensions = Vec::new();
    read("shape", bytes, |fields, number, field| {
        if number == 1 {
            let mut length = None;
            let dimension = fields.bytes(field)?;
            read("dimension", dimension, |fields, number, field| {
                if number == 1 {
                    length = Some(fields.integer(field)?);
                }
                Ok(())
            })?;
            push(fields, &mut dimensions, length)?;
        }
        Ok(())
    })?;
    Ok(dimensions)
}

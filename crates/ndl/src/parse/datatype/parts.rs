//! Types with several parts: members of compounds and enumerations, bit fields of floats.

use super::super::context::Context;
use super::super::events::{Mapping, Node, View, shown};
use super::super::scalar::integer;
use super::in_range;
use hyperslab_model::{Datatype, Float, FloatFormat, Member, Normalization};

impl<'t> Context<'t, '_> {
    /// The members of a compound: a list of maps with one key each.
    pub(super) fn compound(&mut self, node: Node<'t>) -> Option<Datatype> {
        let mut declared = Vec::new();
        match node.view() {
            View::Sequence(items) => {
                for item in items.iter() {
                    let mut entries = item.mapping().map(Mapping::iter).into_iter().flatten();
                    let (Some(entry), None) = (entries.next(), entries.next()) else {
                        let message = format!(
                            "{} for a member, expected a map with one key, its name",
                            item.describe()
                        );
                        self.findings.error("ndl/type", item.span(), message).hint("- x: float32");
                        return None;
                    };
                    declared.push(entry);
                }
            }
            View::Mapping(mapping) if self.options.lenient => {
                self.findings.warning("ndl/type", node.span(), "members as a map, expected a list");
                declared.extend(mapping.iter());
            }
            _ => {
                let message =
                    format!("{} for members, expected a list of maps with one key each", node.describe());
                self.findings
                    .error("ndl/type", node.span(), message)
                    .hint("begin each member with a dash: - x: float32");
                return None;
            }
        }
        if declared.is_empty() {
            self.findings.error("ndl/type", node.span(), "a compound without members");
            return None;
        }
        let mut lines = std::collections::HashMap::new();
        let mut members = Some(Vec::with_capacity(declared.len()));
        for (key, of) in declared {
            if let Some(first) = lines.insert(key.name, key.span.line) {
                let message = format!(
                    "duplicate member {}, on line {first} and line {}",
                    shown(key.name),
                    key.span.line
                );
                self.findings.error("ndl/duplicate-key", key.span, message);
                members = None;
            }
            match (self.declared(of), &mut members) {
                (Some(datatype), Some(members)) => members.push(Member { name: key.name.into(), datatype }),
                _ => members = None,
            }
        }
        self.sized(Datatype::Compound(members?), node.span())
    }

    pub(super) fn enumeration(&mut self, node: Node<'t>) -> Option<Datatype> {
        let [base, members] = self.parameters(node, "enum", ["base", "members"])?;
        let members = self.required(members, node, "enum", "members")?;
        let mut values = Vec::new();
        let Some(mapping) = members.mapping() else {
            let message = format!("{} for members, expected a map of names and integers", members.describe());
            self.findings.error("ndl/type", members.span(), message).hint("members: {UP: 0, DOWN: 1}");
            return None;
        };
        for (key, value) in mapping.iter() {
            let number =
                value.scalar().filter(|scalar| scalar.is_plain()).and_then(|scalar| integer(scalar.text));
            let Some(number) = number else {
                let message =
                    format!("{} for the member {}, expected an integer", value.describe(), shown(key.name));
                self.findings.error("ndl/type", value.span(), message);
                return None;
            };
            values.push((key.name.to_string(), number, value.span()));
        }
        let base = match base {
            Some(node) => {
                let datatype = self.declared(node)?;
                if !matches!(datatype.resolved(), Datatype::Int { .. }) {
                    self.findings.error(
                        "ndl/type",
                        node.span(),
                        format!("the base {datatype} of an enum, expected an integer type"),
                    );
                    return None;
                }
                datatype.resolved().clone()
            }
            None => {
                let numbers = || values.iter().map(|(_, number, _)| *number);
                let signed = numbers().any(|number| number < 0);
                let fits = |bits: &u16| numbers().all(|number| in_range(number, *bits, signed));
                Datatype::int([8, 16, 32, 64].into_iter().find(fits).unwrap_or(64), signed)
            }
        };
        let Datatype::Int { bits, signed } = base else { return None };
        for (name, number, span) in &values {
            if !in_range(*number, bits, signed) {
                let message = format!("{number} for the member {} is out of range for {base}", shown(name));
                self.findings.error("ndl/value-range", *span, message);
                return None;
            }
        }
        let members = values.into_iter().map(|(name, number, _)| (name, number)).collect();
        Some(Datatype::Enum { base: Box::new(base), members })
    }

    pub(super) fn float_format(&mut self, node: Node<'t>) -> Option<Datatype> {
        let names = ["bits", "sign", "exponent", "mantissa", "bias", "normalization"];
        let [bits, sign, exponent, mantissa, bias, normalization] = self.parameters(node, "float", names)?;
        let bits_node = self.required(bits, node, "float", "bits")?;
        let bits: u16 = self.count(bits_node, "bits")?;
        if bits == 0 || !bits.is_multiple_of(8) {
            self.findings.error(
                "ndl/type",
                bits_node.span(),
                format!("{bits} bits, expected a multiple of 8"),
            );
            return None;
        }
        let sign = self.required(sign, node, "float", "sign")?;
        let sign = self.count(sign, "the position of the sign bit")?;
        let exponent = self.required(exponent, node, "float", "exponent")?;
        let exponent = self.bit_range(exponent)?;
        let mantissa = self.required(mantissa, node, "float", "mantissa")?;
        let mantissa = self.bit_range(mantissa)?;
        let bias = self.required(bias, node, "float", "bias")?;
        let bias = self.count(bias, "the bias")?;
        let words =
            [("implied", Normalization::Implied), ("set", Normalization::Set), ("none", Normalization::None)];
        let normalization = match normalization {
            Some(node) => self.word(node, "the normalization", &words)?,
            None => Normalization::Implied,
        };
        Some(Datatype::Float(Float::Other(FloatFormat {
            bits,
            sign,
            exponent,
            mantissa,
            bias,
            normalization,
        })))
    }

    fn bit_range(&mut self, node: Node<'t>) -> Option<(u8, u8)> {
        let counts = self.counts(node, "the position and number of bits")?;
        let counts: Vec<u8> = counts.into_iter().map_while(|count| u8::try_from(count).ok()).collect();
        match counts.as_slice() {
            [position, count] => Some((*position, *count)),
            _ => {
                let message = "the wrong length or a number above 255, expected [position, number of bits]";
                self.findings.error("ndl/type", node.span(), message);
                None
            }
        }
    }
}

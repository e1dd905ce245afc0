//! Datatypes: a keyword, or a map from the category to its parameters.

use super::{Lower, refused};
use crate::extensions::Extension;
use crate::tree::{Key, Style, Tree};
use hyperslab_core::Result;
use hyperslab_core::nd::Selection;
use hyperslab_core::rows::int_row;
use hyperslab_model::{Datatype, Float, FloatFormat, Normalization, Reference, Values};

impl Lower<'_> {
    /// A type. For region references in pure NDL, `values` decides the name, because NDL has one for each kind of
    /// selection.
    pub(super) fn datatype<'a>(
        &mut self,
        datatype: &'a Datatype,
        values: Option<&Values>,
    ) -> Result<Tree<'a>> {
        Ok(match datatype {
            Datatype::Int { bits, signed } => self.integer(*bits, *signed)?,
            Datatype::Float(float) => self.float(float)?,
            Datatype::Complex(float) => self.complex(float)?,
            Datatype::Bool if self.pure => {
                self.changed("booleans become an enumeration");
                enumeration(Tree::text("int8"), [("FALSE", 0), ("TRUE", 1)])
            }
            Datatype::Bool => self.keyword("bool", Extension::Bool),
            Datatype::Time { bits } if self.pure => {
                self.changed("times become integers");
                self.integer(*bits, false)?
            }
            Datatype::Time { bits } => {
                self.use_extension(Extension::Time);
                Tree::one("time", Tree::one("size", Tree::int(bits / 8)))
            }
            Datatype::Datetime(_) if self.pure => {
                self.changed("dates become integers");
                Tree::text("int64")
            }
            Datatype::Datetime(of) => {
                let (name, extension) = match of.duration {
                    true => ("timedelta", Extension::Timedelta),
                    false => ("datetime", Extension::Datetime),
                };
                self.use_extension(extension);
                Tree::one(name, Tree::one("unit", Tree::text(of.unit.as_str())))
            }
            Datatype::Bitfield { size } if self.pure => self.plain_bits(*size)?,
            Datatype::Bitfield { size } => {
                self.use_extension(Extension::Bitfield);
                Tree::one("bitfield", Tree::one("size", Tree::int(*size)))
            }
            Datatype::String(_) => Tree::text("string"),
            Datatype::Opaque { size, tag } => {
                let mut parameters = vec![(Key::Word("size"), Tree::int(*size))];
                if !tag.is_empty() {
                    parameters.push((Key::Word("tag"), Tree::text(tag.as_str())));
                }
                Tree::one("opaque", Tree::map(parameters))
            }
            Datatype::ObjRef => Tree::text("objref"),
            Datatype::RegRef if self.pure => {
                Tree::one("regref", Tree::one("selection", Tree::text(self.selection(values)?)))
            }
            Datatype::RegRef => self.keyword("regref", Extension::RegRef),
            Datatype::Reference if self.pure => return Err(refused("a revised reference")),
            Datatype::Reference => self.keyword("reference", Extension::Reference),
            Datatype::Enum { base, members } => {
                let base = self.datatype(base, None)?;
                enumeration(base, members.iter().map(|(name, value)| (name.as_str(), *value)))
            }
            Datatype::Compound(members) => {
                let mut items = Vec::with_capacity(members.len());
                for member in members {
                    let datatype = self.datatype(&member.datatype, values)?;
                    items.push(Tree::Map(Style::Block, vec![(Key::Name(&member.name), datatype)]));
                }
                compound(items)
            }
            Datatype::Vlen(base) => Tree::one("vlen", Tree::one("base", self.datatype(base, values)?)),
            Datatype::Array { base, shape } => Tree::one(
                "array",
                Tree::map(vec![
                    (Key::Word("base"), self.datatype(base, values)?),
                    (Key::Word("shape"), Tree::ints(shape)),
                ]),
            ),
            Datatype::Nullable(_) if self.pure => return Err(refused("a nullable type")),
            Datatype::Nullable(of) => {
                self.use_extension(Extension::Nullable);
                Tree::one("nullable", Tree::one("base", self.datatype(of, values)?))
            }
            Datatype::Named(_, of) if self.pure => self.datatype(of, values)?,
            Datatype::Named(path, _) => Tree::text(path.as_str()),
        })
    }

    fn integer<'a>(&mut self, bits: u16, signed: bool) -> Result<Tree<'a>> {
        let keyword = match (bits, signed) {
            (8, true) => "int8",
            (8, false) => "uint8",
            (16, true) => "int16",
            (16, false) => "uint16",
            (32, true) => "int32",
            (32, false) => "uint32",
            (64, true) => "int64",
            (64, false) => "uint64",
            _ if self.pure && bits < 64 => {
                self.changed("integers of odd sizes become the next larger ones");
                let row = int_row(usize::from(bits).div_ceil(8));
                return self.integer(u16::try_from(8 * row).unwrap_or(64), signed);
            }
            _ => {
                let keyword = format!("{}int{bits}", if signed { "" } else { "u" });
                if self.pure {
                    return Err(refused(&keyword));
                }
                self.use_extension(Extension::Integer);
                return Ok(Tree::text(keyword));
            }
        };
        Ok(Tree::text(keyword))
    }

    fn float<'a>(&mut self, float: &Float) -> Result<Tree<'a>> {
        let extension = match float {
            Float::Single => return Ok(Tree::text("float32")),
            Float::Double => return Ok(Tree::text("float64")),
            other if self.pure => return Err(refused(&other.to_string())),
            Float::Half => Extension::Float16,
            Float::Quad => Extension::Float128,
            Float::BFloat => Extension::BFloat16,
            Float::Other(_) => Extension::Float,
        };
        self.use_extension(extension);
        Ok(match float {
            Float::Other(format) => Tree::one("float", float_format(format)),
            named => Tree::text(named.keyword().unwrap_or_default()),
        })
    }

    fn complex<'a>(&mut self, float: &Float) -> Result<Tree<'a>> {
        if self.pure {
            self.changed("complex numbers become compounds");
            let mut items = Vec::with_capacity(2);
            for name in ["r", "i"] {
                items.push(Tree::Map(Style::Block, vec![(Key::Word(name), self.float(float)?)]));
            }
            return Ok(compound(items));
        }
        Ok(match float {
            Float::Single => self.keyword("complex64", Extension::Complex64),
            Float::Double => self.keyword("complex128", Extension::Complex128),
            float => {
                self.use_extension(Extension::Complex);
                Tree::one("complex", Tree::one("base", self.float(float)?))
            }
        })
    }

    /// A bit field as an unsigned integer, or as opaque bytes if no integer has its size.
    fn plain_bits<'a>(&mut self, size: u32) -> Result<Tree<'a>> {
        self.changed("bit fields become integers or opaque bytes");
        match size {
            1 | 2 | 4 | 8 => self.integer(u16::try_from(8 * size).unwrap_or(64), false),
            size => Ok(Tree::one("opaque", Tree::one("size", Tree::int(size)))),
        }
    }

    /// The kind of selection of region references. NDL 0.6.1 requires all of them to be of one kind.
    fn selection(&mut self, values: Option<&Values>) -> Result<&'static str> {
        let references = values.map(|values| values.heap.references.as_slice()).unwrap_or_default();
        let selections = references.iter().filter_map(|reference| match reference {
            Reference::Region(_, selection) => Some(&**selection),
            _ => None,
        });
        let (mut blocks, mut elements) = (0_usize, 0_usize);
        for selection in selections {
            match selection {
                Selection::Region(region) if region.is_box() && !region.is_empty() => blocks += 1,
                Selection::Points { .. } => elements += 1,
                _ => return Err(refused("a region reference to neither one block nor single elements")),
            }
        }
        match (blocks, elements) {
            (0, 0) => {
                self.changed("region references are called references to blocks");
                Ok("block")
            }
            (_, 0) => Ok("block"),
            (0, _) => Ok("element"),
            _ => Err(refused("an array of references to blocks and to single elements")),
        }
    }

    fn keyword<'a>(&mut self, keyword: &'static str, extension: Extension) -> Tree<'a> {
        self.use_extension(extension);
        Tree::text(keyword)
    }
}

fn float_format<'a>(format: &FloatFormat) -> Tree<'a> {
    let FloatFormat { bits, sign, exponent, mantissa, bias, normalization } = format;
    let pair = |(position, count): &(u8, u8)| Tree::list([Tree::int(*position), Tree::int(*count)]);
    let mut parameters = vec![
        (Key::Word("bits"), Tree::int(*bits)),
        (Key::Word("sign"), Tree::int(*sign)),
        (Key::Word("exponent"), pair(exponent)),
        (Key::Word("mantissa"), pair(mantissa)),
        (Key::Word("bias"), Tree::int(*bias)),
    ];
    let normalization = match normalization {
        Normalization::Implied => None,
        Normalization::Set => Some("set"),
        Normalization::None => Some("none"),
    };
    parameters.extend(normalization.map(|word| (Key::Word("normalization"), Tree::text(word))));
    Tree::map(parameters)
}

fn enumeration<'a>(base: Tree<'a>, members: impl IntoIterator<Item = (&'a str, i128)>) -> Tree<'a> {
    let members = members.into_iter().map(|(name, value)| (Key::Name(name), Tree::int(value))).collect();
    let parameters = vec![(Key::Word("base"), base), (Key::Word("members"), Tree::map(members))];
    Tree::Map(Style::Block, vec![(Key::Word("enum"), Tree::Map(Style::Block, parameters))])
}

fn compound(members: Vec<Tree<'_>>) -> Tree<'_> {
    Tree::Map(Style::Block, vec![(Key::Word("compound"), Tree::List(Style::Block, members))])
}

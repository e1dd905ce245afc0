//! The base units of UDUNITS-2 and products of their powers.
//!
//! Spec: UDUNITS-2.2.28, `lib/udunits2-base.xml`, `lib/udunits2-derived.xml` for the radian, and the product units of
//! `lib/unitcore.c`

use std::fmt;

/// A base unit: those of the SI, and the radian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BaseUnit {
    /// `m`, of length.
    Metre,
    /// `kg`, of mass.
    Kilogram,
    /// `s`, of time.
    Second,
    /// `A`, of electric current.
    Ampere,
    /// `K`, of temperature.
    Kelvin,
    /// `mol`, of the amount of substance.
    Mole,
    /// `cd`, of luminous intensity.
    Candela,
    /// `rad`, of angles, which UDUNITS counts as a base unit without dimension.
    Radian,
}

impl BaseUnit {
    /// All base units, in the order of the database.
    pub const ALL: [BaseUnit; 8] = [
        BaseUnit::Metre,
        BaseUnit::Kilogram,
        BaseUnit::Second,
        BaseUnit::Ampere,
        BaseUnit::Kelvin,
        BaseUnit::Mole,
        BaseUnit::Candela,
        BaseUnit::Radian,
    ];

    /// The symbol: `kg`.
    pub fn symbol(self) -> &'static str {
        match self {
            BaseUnit::Metre => "m",
            BaseUnit::Kilogram => "kg",
            BaseUnit::Second => "s",
            BaseUnit::Ampere => "A",
            BaseUnit::Kelvin => "K",
            BaseUnit::Mole => "mol",
            BaseUnit::Candela => "cd",
            BaseUnit::Radian => "rad",
        }
    }

    /// The base unit with this symbol.
    pub(super) fn of(symbol: &str) -> Option<BaseUnit> {
        BaseUnit::ALL.into_iter().find(|base| base.symbol() == symbol)
    }
}

/// A product of powers of base units. Displayed as `m.s-1`, or `1` if all powers are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// The power of each base unit, in the order of [`BaseUnit::ALL`].
    powers: [i16; 8],
}

/// How the quantities of two dimensions relate, if they can be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Reciprocal,
}

impl Dimension {
    /// The dimension of the number 1.
    pub const ONE: Dimension = Dimension { powers: [0; 8] };
    /// The dimension of time.
    pub const TIME: Dimension = Dimension { powers: [0, 0, 1, 0, 0, 0, 0, 0] };

    /// The dimension of a base unit.
    pub fn of(base: BaseUnit) -> Dimension {
        Dimension { powers: BaseUnit::ALL.map(|known| i16::from(known == base)) }
    }

    /// The powers that are not 0.
    pub fn powers(&self) -> impl Iterator<Item = (BaseUnit, i16)> + '_ {
        BaseUnit::ALL.into_iter().zip(self.powers).filter(|(_, power)| *power != 0)
    }

    /// The power of a base unit.
    pub fn power(&self, base: BaseUnit) -> i16 {
        self.powers().find(|(known, _)| *known == base).map_or(0, |(_, power)| power)
    }

    /// Whether all powers except that of the radian are 0.
    pub fn is_dimensionless(&self) -> bool {
        self.physical().next().is_none()
    }

    /// Whether two dimensions are equal apart from radians.
    pub fn is_same_quantity(&self, other: Dimension) -> bool {
        self.physical().eq(other.physical())
    }

    /// How the two relate: as `productRelationship`, which ignores radians.
    pub(super) fn relation(&self, other: Dimension) -> Option<Relation> {
        if self.is_same_quantity(other) {
            return Some(Relation::Equal);
        }
        let inverse = other.physical().map(|(base, power)| (base, power.checked_neg()));
        let is_inverse = self.physical().map(|(base, power)| (base, Some(power))).eq(inverse);
        is_inverse.then_some(Relation::Reciprocal)
    }

    /// The dimension of a product; `None` if a power is beyond 16 bits.
    pub(super) fn multiply(self, other: Dimension) -> Option<Dimension> {
        let mut powers = [0; 8];
        for (product, (one, two)) in powers.iter_mut().zip(self.powers.into_iter().zip(other.powers)) {
            *product = i16::checked_add(one, two)?;
        }
        Some(Dimension { powers })
    }

    /// The dimension of a power; `None` if a power is beyond 16 bits.
    pub(super) fn raise(self, exponent: i16) -> Option<Dimension> {
        let mut powers = self.powers;
        for power in &mut powers {
            *power = power.checked_mul(exponent)?;
        }
        Some(Dimension { powers })
    }

    /// The powers without that of the radian.
    fn physical(&self) -> impl Iterator<Item = (BaseUnit, i16)> + '_ {
        self.powers().filter(|(base, _)| *base != BaseUnit::Radian)
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (base, mut rest) in self.powers() {
            // A written exponent can be at most 255, so a larger power takes several factors.
            while rest != 0 {
                let power = rest.clamp(-255, 255);
                write!(f, "{separator}{}", base.symbol())?;
                if power != 1 {
                    write!(f, "{power}")?;
                }
                rest -= power;
                separator = ".";
            }
        }
        if separator.is_empty() { f.write_str("1") } else { Ok(()) }
    }
}

//! Integers that represent words.
//!
//! Spec: CF 1.13, 3.5 Flags

/// The words of an array of flags, according to the attributes `flag_meanings`, `flag_values` and `flag_masks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    rows: Vec<Flag>,
}

/// A word that applies to a value if its bits within `mask` equal those of `value`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Flag {
    word: String,
    /// `None` if the whole value is compared.
    mask: Option<i128>,
    value: i128,
}

impl Flags {
    /// The flags; `None` unless there is one value or mask for each word.
    pub fn new(meanings: &str, values: Option<Vec<i128>>, masks: Option<Vec<i128>>) -> Option<Flags> {
        let words: Vec<&str> = meanings.split_whitespace().collect();
        let fitting = |numbers: Option<Vec<i128>>| numbers.filter(|numbers| numbers.len() == words.len());
        let (values, masks) = (fitting(values), fitting(masks));
        let rows = words.iter().enumerate().map(|(at, word)| {
            let of = |numbers: &Option<Vec<i128>>| numbers.as_ref()?.get(at).copied();
            let mask = of(&masks);
            Some(Flag { word: (*word).to_owned(), mask, value: of(&values).or(mask)? })
        });
        rows.collect::<Option<Vec<_>>>().filter(|rows| !rows.is_empty()).map(|rows| Flags { rows })
    }

    /// The words of a value, separated by spaces as in `flag_meanings`; the number itself if it has none.
    pub fn words(&self, value: i128) -> String {
        let has = |flag: &&Flag| match flag.mask {
            // An empty mask with a value of 0 would apply to every value.
            Some(mask) => mask != 0 && value & mask == flag.value,
            None => value == flag.value,
        };
        let words: Vec<&str> = self.rows.iter().filter(has).map(|flag| flag.word.as_str()).collect();
        if words.is_empty() { value.to_string() } else { words.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_masks_and_both_give_words() {
        let values = Flags::new("quality_good  sensor_nonfunctional", Some(vec![1, 2]), None).unwrap();
        assert_eq!(values.words(2), "sensor_nonfunctional");
        assert_eq!(values.words(3), "3");
        // CF 1.11, example 3.4
        let masks = Flags::new("low_battery processor_fault disk_fault", None, Some(vec![1, 2, 4])).unwrap();
        assert_eq!(masks.words(5), "low_battery disk_fault");
        assert_eq!(masks.words(0), "0");
        // CF 1.11, example 3.5
        let both = Flags::new(
            "low_battery hardware_fault offline_mode calibration_mode maintenance_mode",
            Some(vec![1, 2, 4, 8, 12]),
            Some(vec![1, 2, 12, 12, 12]),
        )
        .unwrap();
        assert_eq!(both.words(0b1101), "low_battery maintenance_mode");
    }

    #[test]
    fn lists_of_other_lengths_are_no_flags() {
        assert_eq!(Flags::new("a b", Some(vec![1]), None), None);
        assert_eq!(Flags::new("a b", None, None), None);
        assert_eq!(Flags::new("", Some(vec![]), None), None);
    }
}

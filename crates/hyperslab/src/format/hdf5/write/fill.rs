//! When space for elements is allocated, and when it is filled.
//!
//! Spec: HDF5 IV.A.2.f

use super::lowerings::directive;
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::message::fill_value::{AllocationTime, WriteTime};
use hyperslab_model::{Directive, FillTime, Layout, Storage};

/// When the fill value is written to allocated space.
pub(super) fn write_time(storage: &Storage) -> WriteTime {
    match storage.fill_time {
        None | Some(FillTime::IfSet) => WriteTime::IfSet,
        Some(FillTime::Alloc) => WriteTime::OnAllocation,
        Some(FillTime::Never) => WriteTime::Never,
    }
}

/// The allocation time that was requested, or that libhdf5 uses for the layout.
pub(super) fn allocation_time(storage: &Storage, layout: &Layout) -> Result<AllocationTime> {
    match directive(storage, "alloc_time") {
        None => Ok(match layout {
            Layout::Compact => AllocationTime::Early,
            Layout::Contiguous | Layout::External => AllocationTime::Late,
            Layout::Chunked | Layout::Virtual => AllocationTime::Incremental,
        }),
        // The content of a compact dataset is in its header from the start.
        Some(_) if *layout == Layout::Compact => Ok(AllocationTime::Early),
        Some(Directive::Text(time)) if time == "early" => Ok(AllocationTime::Early),
        Some(Directive::Text(time)) if time == "late" => Ok(AllocationTime::Late),
        Some(Directive::Text(time)) if time == "incremental" => Ok(AllocationTime::Incremental),
        Some(other) => {
            Err(Error::invalid(format!("alloc_time {other:?}, expected early, late or incremental")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::filters::tests::datasets;
    use super::*;
    use hyperslab_hdf5::format::message::fill_value::FillValue;

    /// The storage that reading produces for a dataset with this message.
    fn storage(name: &str, of: &FillValue) -> Storage {
        let fill_time = match of.write_time {
            WriteTime::IfSet => None,
            WriteTime::OnAllocation => Some(FillTime::Alloc),
            WriteTime::Never => Some(FillTime::Never),
        };
        let mut storage = Storage { fill_time, ..Storage::default() };
        let time = match of.allocation_time {
            AllocationTime::Early => "early",
            AllocationTime::Late => "late",
            AllocationTime::Incremental | AllocationTime::Default => "incremental",
        };
        if ["early", "late"].contains(&name) {
            let time = ("alloc_time".to_owned(), Directive::Text(time.to_owned()));
            storage.native_mut("hdf5").unwrap().push(time);
        }
        storage
    }

    #[test]
    fn times_are_those_that_libhdf5_writes() {
        let mut found = 0;
        for dataset in datasets() {
            let message = dataset.fill();
            let layout = match dataset.layout {
                "compact" => Layout::Compact,
                "contiguous" => Layout::Contiguous,
                "external" => Layout::External,
                _ => Layout::Chunked,
            };
            let storage = storage(dataset.name, &message);
            let place = format!("{} {}", dataset.name, dataset.low);
            assert_eq!(allocation_time(&storage, &layout).unwrap(), message.allocation_time, "{place}");
            assert_eq!(write_time(&storage), message.write_time, "{place}");
            assert_eq!(dataset.low.fill_value(), message.version, "{place}");
            found += 1;
        }
        assert!(found > 60, "{found}");
    }

    #[test]
    fn unknown_allocation_times_are_refused() {
        let mut storage = Storage::default();
        let time = ("alloc_time".to_owned(), Directive::Text("soon".to_owned()));
        storage.native_mut("hdf5").unwrap().push(time);
        let error = allocation_time(&storage, &Layout::Chunked).unwrap_err();
        assert_eq!(error.detail(), "alloc_time Text(\"soon\"), expected early, late or incremental");
    }
}

//! An HDF5 file that is being written.

use super::array::Hdf5ArrayTarget;
use super::datatype::Committed;
use super::log::Log;
use super::objects::{Dataset, Made, Objects};
use super::pass::{Measured, Pass};
use super::planner::Found;
use crate::target::{ArrayTarget, Facts, Filters, OrderedMember, Silent, Target};
use hyperslab_core::storage::{WritableFile, WriteAt};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Node, NodePath};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An HDF5 file as a target. All objects are visited twice, in the same order: they are measured while they are planned
/// or declared, and then they are written.
pub(in crate::format) struct Hdf5Target {
    path: PathBuf,
    found: Arc<Found>,
    log: Arc<Log>,
    state: Mutex<State>,
    /// Whether planning has measured all objects.
    is_measured: bool,
}

struct State {
    stage: Stage,
    /// The number of arrays begun so far.
    arrays: u32,
}

enum Stage {
    Measuring(Pass),
    Measured(Measured),
    Writing(Pass),
    /// The file is finished or has failed.
    Ended,
}

impl Hdf5Target {
    /// Begins a file at `path`, or resumes one that was begun there. If `is_whole`, it has all the objects that were
    /// planned.
    pub(in crate::format) fn create(path: &Path, found: Arc<Found>, is_whole: bool) -> Result<Hdf5Target> {
        let measured = found.measured.clone().filter(|_| is_whole);
        let is_measured = measured.is_some();
        let stage = match measured {
            Some(measured) => Stage::Measured(measured),
            None => Stage::Measuring(Pass::first(&found.options.file, found.has_references)?),
        };
        let state = Mutex::new(State { stage, arrays: 0 });
        let log = Arc::new(Log::open(&path.with_file_name(LOG))?);
        Ok(Hdf5Target { path: path.to_path_buf(), found, log, state, is_measured })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The second pass. Ends the first pass if necessary.
    fn writing<'a>(&self, state: &'a mut State) -> Result<&'a mut Pass> {
        if !matches!(state.stage, Stage::Writing(_)) {
            let measured = match std::mem::replace(&mut state.stage, Stage::Ended) {
                Stage::Measuring(pass) => pass.measured()?,
                Stage::Measured(measured) => measured,
                Stage::Writing(_) | Stage::Ended => return Err(ended()),
            };
            let file = WritableFile::open(&self.path).or_else(|_| WritableFile::create(&self.path))?;
            let options = &self.found.options;
            if options.file.user_block > 0 {
                file.write_at(0, &options.user_block)?;
            }
            state.stage = Stage::Writing(measured.begin(Arc::new(file))?);
        }
        state.pass()
    }

    /// Converts an object of the model to an object of the file.
    fn made(&self, pass: &Pass, path: &NodePath, node: &Node, facts: Facts) -> Result<Made> {
        let found = &*self.found;
        let address = |path: &NodePath| pass.address_of(path);
        let committed = |path: &NodePath| {
            let datatype = Arc::clone(found.committed.get(path)?);
            Some(Committed { address: address(path)?, datatype })
        };
        let objects = Objects {
            options: &found.options,
            uses: &found.uses,
            scales: &found.scales,
            committed: &committed,
            address: &address,
        };
        objects.made(path, node, facts, &mut Silent)
    }
}

impl State {
    fn pass(&mut self) -> Result<&mut Pass> {
        match &mut self.stage {
            Stage::Measuring(pass) | Stage::Writing(pass) => Ok(pass),
            Stage::Measured(_) | Stage::Ended => Err(ended()),
        }
    }
}

fn ended() -> Error {
    Error::invalid("the file is finished")
}

impl Target for Hdf5Target {
    fn needs_declarations(&self) -> bool {
        !self.is_measured
    }

    fn declare(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        let mut state = self.state();
        let pass = state.pass()?;
        let made = self.made(pass, path, node, facts)?;
        pass.visit(path, made)
    }

    fn order_members(&self, group: &NodePath, members: &[OrderedMember<'_>]) -> Result<()> {
        self.state().pass()?.order_members(group, members);
        Ok(())
    }

    fn has_definitions(&self) -> bool {
        true
    }

    fn define(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        let mut state = self.state();
        let pass = self.writing(&mut state)?;
        let made = self.made(pass, path, node, facts)?;
        pass.visit(path, made)
    }

    fn begin(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        let mut state = self.state();
        let pass = self.writing(&mut state)?;
        let Made::Dataset(Dataset { new, needs_unwritten }) = self.made(pass, path, node, facts)? else {
            return Err(Error::invalid("an object without elements, expected an array"));
        };
        let writer = pass.begin(path, &new)?;
        let addresses = Arc::clone(pass.addresses());
        let number = state.arrays;
        state.arrays = state.arrays.saturating_add(1);
        let log = self.log.of_array(number);
        let is_asked = facts.filters == Filters::Asked;
        let how = (needs_unwritten, is_asked);
        Ok(Box::new(Hdf5ArrayTarget::new(writer, &new, how, addresses, log)?))
    }

    fn can_abandon(&self) -> bool {
        false
    }

    fn finish(&self) -> Result<()> {
        let mut state = self.state();
        self.writing(&mut state)?;
        match std::mem::replace(&mut state.stage, Stage::Ended) {
            Stage::Writing(pass) => pass.finish(),
            _ => Err(ended()),
        }
    }
}

/// The name of the log next to the file.
const LOG: &str = "chunks";

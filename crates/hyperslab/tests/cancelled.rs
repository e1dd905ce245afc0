//! Cancelled operations end soon in every phase.

use crate::path;
use bytes::Bytes;
use hyperslab::{
    CancelToken, Error, ErrorKind, NodePath, OpenOptions, Operation, Pool, Source, digest, open_storage,
};
use hyperslab_core::nd::Region;
use hyperslab_core::wrapper::Wrapper;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file in memory or a store, with a delay before each read.
struct Slow<S>(S, Duration);

impl<S: Send + Sync> Wrapper for Slow<S> {
    type Inner = S;

    fn wrapped(&self) -> &S {
        &self.0
    }

    fn before(&self, _: usize) -> Result<(), Error> {
        std::thread::sleep(self.1);
        Ok(())
    }
}

/// A file with a delay of 20 ms before each read. Reading all of it takes seconds.
fn slow(pool: &Pool) -> Result<Arc<dyn Source>, Error> {
    let bytes = std::fs::read(path("chunk_indexes.h5")).unwrap();
    let storage = Slow(Bytes::from(bytes), Duration::from_millis(20));
    let options = OpenOptions { pool: pool.clone(), ..OpenOptions::default() };
    open_storage(Box::new(storage), &options)
}

/// The time from cancellation to the end, as the minimum of several trials because other tests may use the processors.
fn delay(work: impl Fn(&Pool) -> Result<(), Error>) -> Duration {
    let tries = (0..5).map(|_| {
        let token = CancelToken::new();
        let pool = Pool::new(2, Pool::MEMORY).with_cancel(token.clone());
        std::thread::scope(|scope| {
            let cancelling = scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                token.cancel();
                Instant::now()
            });
            let error = work(&pool).unwrap_err();
            let ended = Instant::now();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
            ended.saturating_duration_since(cancelling.join().unwrap())
        })
    });
    tries.min().unwrap()
}

#[test]
fn a_read_over_slow_storage_ends_within_100_ms() {
    let took = delay(|pool| {
        let source = slow(&Pool::default())?;
        let handle = source.find(&NodePath::new("/btree_v1_deep")?)?.handle;
        let array = Operation::of_array(source.array(&handle)?, pool.clone());
        let all = Region::all(array.extents().unwrap());
        // Runs until it is cancelled. Reading the 75 chunks takes 1.5 s each time.
        loop {
            array.values(&all)?;
        }
    });
    assert!(took < Duration::from_millis(100), "{took:?}");
}

#[test]
fn a_walk_over_slow_storage_ends_within_100_ms_and_says_nothing_of_unreadable_objects() {
    let took = delay(|pool| {
        let source = slow(pool)?;
        loop {
            digest::lines(&*source, &NodePath::root())?;
        }
    });
    assert!(took < Duration::from_millis(100), "{took:?}");
}

#[test]
fn a_cancelled_operation_does_not_stop_others_on_the_same_file() {
    let source = hyperslab::open(&path("ocean.nc"), &OpenOptions::default()).unwrap();
    let token = CancelToken::new();
    let operation = Operation::new(Arc::clone(&source), Pool::default().with_cancel(token.clone()));
    let handle = source.find(&NodePath::new("/temperature").unwrap()).unwrap().handle;
    let (stopped, array) = (operation.array(&handle).unwrap(), source.array(&handle).unwrap());
    token.cancel();
    let all = Region::all(array.extents().unwrap());
    assert_eq!(stopped.values(&all).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(operation.find(&NodePath::root()).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(array.values(&all).unwrap().rows.len(), 2160);
}

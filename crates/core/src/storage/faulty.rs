//! x
/// x
pub enum Fault { }
/// x
pub struct Faulty<R>(R);

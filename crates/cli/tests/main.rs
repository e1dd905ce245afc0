//! The command as its users meet it.

mod answers;
mod bad_input;
mod command;
mod golden;
mod help;

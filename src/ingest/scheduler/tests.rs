//! Small fixed examples of every format.

//! How many of a thing a cause shows or looks at.

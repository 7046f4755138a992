//! Text that attacks a terminal. A name or a message from a server must not be printed unescaped.

/// Clears the screen and makes everything red.
pub const ESCAPE: &str = "\u{1b}[2J\u{1b}[31mred";
/// A link that shows one address and opens another (OSC 8).
pub const LINK: &str = "\u{1b}]8;;http://evil.example/\u{1b}\\https://good.example\u{1b}]8;;\u{1b}\\";
/// Sets the window's title, ended by BEL.
pub const TITLE: &str = "\u{1b}]0;owned\u{7}";
/// The same as [`ESCAPE`] with the one-character C1 form of `ESC [`.
pub const C1: &str = "\u{9b}2J\u{9b}31mred";
/// Reverses text: shows `a/nimda` as another name.
pub const BIDI: &str = "a/\u{202e}nimda\u{202c}\u{2066}x\u{2069}";
/// Breaks a table into rows that do not exist.
pub const NEWLINES: &str = "one\r\nkube-system   pod/fake   a/b\n\ttwo\u{b}\u{c}";
/// Hides the text before it on the line.
pub const OVERWRITE: &str = "bad\rgood\u{8}\u{8}\u{7f}";
/// Is zero or two columns wide.
pub const WIDTHS: &str = "a\u{200b}\u{200d}\u{feff}e\u{301}漢字👩‍👩‍👧";
/// Line ends outside of ASCII.
pub const SEPARATORS: &str = "one\u{85}two\u{2028}three\u{2029}four";
/// Ends strings in C.
pub const NUL: &str = "a\0b";

/// Each of them with its name.
pub const ALL: &[(&str, &str)] = &[
    ("escape", ESCAPE),
    ("link", LINK),
    ("title", TITLE),
    ("c1", C1),
    ("bidi", BIDI),
    ("newlines", NEWLINES),
    ("overwrite", OVERWRITE),
    ("widths", WIDTHS),
    ("separators", SEPARATORS),
    ("nul", NUL),
];

/// A string of this many bytes.
pub fn long(bytes: usize) -> String {
    "x".repeat(bytes)
}

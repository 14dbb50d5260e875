extension String {
    /// Whether some of it is U+FFFD, which Swift puts in the place of bytes of the system that are not UTF-8.
    ///
    /// A text that has U+FFFD by itself counts as repaired, too: it was mostly copied from a list, where it stood for such bytes.
    package var isRepairedText: Bool { unicodeScalars.contains("\u{FFFD}") }
}

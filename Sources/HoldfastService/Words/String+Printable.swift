extension String {
    /// The text without control characters.
    package var withoutControls: String { printable(maximumLength: .max) }

    /// The text without control characters, cut to a length.
    package func printable(maximumLength: Int) -> String {
        let scalars = unicodeScalars.prefix(maximumLength).map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                ? "\u{FFFD}" : scalar
        }
        return String(String.UnicodeScalarView(scalars)) + (unicodeScalars.count > maximumLength ? "…" : "")
    }
}

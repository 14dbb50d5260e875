/// The environment variables that stand for keys.
///
/// The name is mechanical: `HOLDFAST_`, the section, and the key, in capitals, with `_` for all that is no letter or digit.
/// An item of a list is meant by its name, or by its place counted from 0.
package enum ConfigVariables {
    package static let prefix = "HOLDFAST_"
    /// Stands for `journal.path`, as it always has.
    package static let journal = "HOLDFAST_JOURNAL"
    /// Names the file.
    package static let file = "HOLDFAST_CONFIG"

    /// - Parameter item: nil for a section that is no list.
    package static func name(_ section: String, _ item: String?, _ key: String) -> String {
        prefix + ([section] + (item.map { [$0] } ?? []) + [key]).map(word).joined(separator: "_")
    }

    /// `rate.per-second` is `RATE_PER_SECOND`.
    package static func word(_ name: String) -> String {
        String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// The place in a list that a variable's name speaks of: 2 for `HOLDFAST_ROUTES_2_ENDPOINT`.
    package static func index(in variable: String, of section: String) -> Int? {
        let start = prefix + word(section) + "_"
        guard variable.hasPrefix(start) else { return nil }
        let digits = variable.dropFirst(start.count).prefix { $0.isASCII && $0.isNumber }
        guard digits.count < 4, variable.dropFirst(start.count + digits.count).hasPrefix("_") else { return nil }
        return Int(digits)
    }
}

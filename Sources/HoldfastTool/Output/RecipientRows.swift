internal import HoldfastService

/// The rows of a blacklist, which has a table for device tokens and one for addresses of other services.
enum RecipientRows {
    /// The tables.
    static let names = ["tokens", "addresses"]

    /// `1,000 blacklisted tokens and addresses`
    ///
    /// - Parameter rows: by table; a journal without addresses has no table for them.
    static func words(_ rows: [String: Int]) -> String {
        let count = names.reduce(0) { $0 + (rows[$1] ?? 0) }
        let noun = (rows["addresses"] ?? 0) == 0 ? "blacklisted token" : "blacklisted recipient"
        return Format.plural(count, noun)
    }
}

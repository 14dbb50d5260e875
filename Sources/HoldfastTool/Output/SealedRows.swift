internal import HoldfastService

/// What is sealed of a journal.
enum SealedRows {
    /// - Parameter rows: by the id of the key.
    static func words(_ rows: [String: Int]) -> String {
        let parts = rows.sorted { $0.key < $1.key }.map { "\(Format.plural($0.value, "row")) with key \($0.key)" }
        return "sealed: \(parts.joined(separator: ", ")); figures, names of routes and of Producers, and times are not"
    }
}

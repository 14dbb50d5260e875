private import CHoldfastPQ
internal import HoldfastPlatform

/// Keywords and values of a connection string, read by libpq itself: `host=… dbname=…`, or `postgresql://…`.
enum ConnectionString {
    /// The values that a string gives.
    ///
    /// - Throws: `configuration`, without the parts of the string that libpq quotes: one of them may be the password.
    static func parse(_ text: String) throws(PQError) -> [String: String] {
        guard !text.utf8.contains(0) else {
            throw PQError(.configuration, "the connection string for PostgreSQL has a NUL")
        }
        var message: UnsafeMutablePointer<CChar>?
        let found = unsafe PQconninfoParse(text, &message)
        defer { unsafe PQfreemem(message) }
        guard let found = unsafe found else {
            let words = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            throw PQError(
                .configuration, "the connection string for PostgreSQL can't be read: \(withoutQuotations(words))")
        }
        defer { unsafe PQconninfoFree(found) }
        return unsafe values(found)
    }

    /// The values that hold where the string has none: of the variables `PG…`, of the service that `PGSERVICE` names, and
    /// libpq's own.
    static func defaults() -> [String: String] {
        guard let found = unsafe PQconndefaults() else { return [:] }
        defer { unsafe PQconninfoFree(found) }
        return unsafe values(found)
    }

    /// Whether a variable of the environment is set, to whatever.
    static func isSet(_ variable: String) -> Bool { unsafe getenv(variable) != nil }

    @unsafe private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var next = unsafe options
        while let keyword = unsafe next.pointee.keyword {
            if let value = unsafe next.pointee.val {
                values[unsafe String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe next += 1
        }
        return values
    }

    /// Leaves out everything from the first quotation mark to the last.
    static func withoutQuotations(_ words: String) -> String {
        let words = words.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard let first = words.firstIndex(of: "\""), let last = words.lastIndex(of: "\""), first != last else {
            return words
        }
        return words[..<first] + "\"…\"" + words[words.index(after: last)...]
    }
}

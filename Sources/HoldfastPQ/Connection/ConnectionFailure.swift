/// What libpq says of a connection that was not made, in words for people.
///
/// libpq keeps the SQLSTATE of a refused connection to itself, but writes it into the text when it is told to be verbose:
/// `connection to server at "…" failed: FATAL:  28P01: password authentication failed …`.
struct ConnectionFailure {
    let report: ServerReport?
    let message: String

    init(_ text: String) {
        // The lines behind the first are hints and places in the source; of several attempts libpq gives several lines.
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == "\t" || $0 == " " } }
        let told = lines.filter { !$0.hasPrefix("LOCATION:") }
        let line = told.last { Self.split($0) != nil } ?? told.first ?? "no reason was given"
        guard let (severity, state, words) = Self.split(line) else {
            report = nil
            let words = told.isEmpty ? String(line) : told.joined(separator: " ")
            message = words.contains("session is read-only") ? words + Self.whyReadOnly : words
            return
        }
        report = ServerReport(severity: severity, sqlState: state, message: words)
        message = "\(words) (\(state))"
    }

    /// Where the string wants to write (`target_session_attrs=read-write`), libpq says no more.
    private static let whyReadOnly =
        " (it is a standby, or each transaction of this role begins read-only by default_transaction_read_only)"

    /// The parts of `FATAL:  28P01: words`. The severity is translated.
    private static func split(_ line: Substring) -> (severity: String, state: String, words: String)? {
        guard let match = line.firstMatch(of: /(\w+):  ([0-9A-Z]{5}): (.*)/) else { return nil }
        return ("FATAL", String(match.2), String(match.3))
    }

    /// - Parameter lacksPassword: the server asked for one.
    func error(at place: PQPlace, lacksPassword: Bool) -> PQError {
        if lacksPassword, report == nil {
            return PQError(
                .configuration, "\(place.words) asks for a password, and the connection string for PostgreSQL has none")
        }
        let kind: PQError.Kind = if let report, !report.isAboutServer { .refused } else { .unreachable }
        return PQError(kind, "\(place.words): \(message)", cause: report == nil ? .connectionLost : nil, server: report)
    }
}

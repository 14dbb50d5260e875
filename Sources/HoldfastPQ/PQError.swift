/// A failure of a call to PostgreSQL. Its kind says what the caller may believe, and so what to do.
package struct PQError: Error, Sendable, CustomStringConvertible {
    /// What is known after the failure. More kinds than these are not needed: a call was refused, had no effect, or may have
    /// had one.
    package enum Kind: Hashable, Sendable {
        /// The server said no, and gave a SQLSTATE. Nothing of the transaction stays.
        case refused
        /// No connection, or it was lost before anything of this call could take effect. The same may be tried again.
        case unreachable
        /// The connection was lost, or the time was over, after the server may have received a commit: it may have been
        /// carried out, or be carried out later. Or the server committed, and did not wait for its standby.
        case inDoubt
        /// Another thread wanted the call to end, and nothing of it takes effect.
        case interrupted
        /// The connection string, or the settings with it, can't be used. Trying again changes nothing.
        case configuration
        /// An answer or an argument of another form than agreed, such as a column of another type.
        case unexpected
    }

    /// The reason for which a call ended without its answer.
    package enum Cause: Hashable, Sendable {
        case connectionLost
        case deadline
        /// As `deadline`; and it was found that the call waits for a lock.
        ///
        /// - Parameter heldBy: the session that holds it, for people.
        case lock(heldBy: String)
        case interruption
        /// The server committed, and somebody cancelled its wait for a synchronous standby.
        case standbyNotAwaited

        package var isLock: Bool {
            if case .lock = self { true } else { false }
        }
    }

    package let kind: Kind
    /// Why, in words. Never has a password, nor values of rows.
    package let message: String
    /// `nil` when the server did not give the reason.
    package let cause: Cause?
    /// The server's own words, where it gave any.
    package let server: ServerReport?
    /// The number of the statement in its call, from 0, that failed.
    package let step: Int?

    package init(
        _ kind: Kind, _ message: String, cause: Cause? = nil, server: ServerReport? = nil, step: Int? = nil
    ) {
        self.kind = kind
        self.message = message
        self.cause = cause
        self.server = server
        self.step = step
    }

    /// Without the server's detail, which quotes values of rows.
    package var description: String {
        let place = step.map { "statement \($0 + 1): " } ?? ""
        return place + message + (isOfSharedSession ? ": \(Self.sharing)" : "")
    }

    /// Whether a statement that was prepared is not there, or is there already. A connection with a session of its own never finds that.
    private var isOfSharedSession: Bool { sqlState == "26000" || sqlState == "42P05" }

    /// What a pooler has to do with it, and what is to be done.
    package static let sharing =
        "a pooler lies between that gives one session to several connections in turn, such as pgbouncer with `pool_mode = "
        + "transaction`. Connect to the server itself, or through a pooler with `pool_mode = session`"

    /// The same for a call that had no answer in time, since it waits for a lock.
    ///
    /// - Parameter holder: the session that holds it, for people.
    func waiting(forLockOf holder: String) -> PQError {
        PQError(
            kind, "\(message): \(Self.waiting(forLockOf: holder))", cause: .lock(heldBy: holder), server: server,
            step: step)
    }

    package static func waiting(forLockOf holder: String) -> String {
        "its calls wait for a lock that \(holder) holds"
    }

    package var sqlState: String? { server?.sqlState }

    /// Whether the disk of the server is full. A server that fails for it while it starts says so in its message alone.
    package var isFullDisk: Bool { sqlState == "53100" || message.contains("No space left on device") }
}

/// An error or a notice as the server reports it.
package struct ServerReport: Hashable, Sendable, CustomStringConvertible {
    /// Never translated: `ERROR`, `FATAL`, `PANIC`, `WARNING`, `NOTICE` and below.
    package let severity: String
    package let sqlState: String
    /// In the language of the server's `lc_messages`.
    package let message: String
    /// May quote values of rows: not for logs.
    package let detail: String?
    package let hint: String?
    package let constraint: String?
    /// The function of the server's source that made the report. It is not translated, unlike the message.
    package let function: String?
    /// The file of the server's source that made the report.
    package let file: String?

    package init(
        severity: String, sqlState: String, message: String, detail: String? = nil, hint: String? = nil,
        constraint: String? = nil, function: String? = nil, file: String? = nil
    ) {
        self.severity = severity
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.hint = hint
        self.constraint = constraint
        self.function = function
        self.file = file
    }

    /// Without the detail.
    package var description: String { "\(severity) \(sqlState): \(message)" + (hint.map { " (\($0))" } ?? "") }

    /// Whether the server ends the session with it.
    package var endsSession: Bool { severity == "FATAL" || severity == "PANIC" }

    /// Whether it says that a transaction was committed here, and that nobody waited for the standby.
    ///
    /// Its SQLSTATE is that of any warning, and its message is translated. So the place in the server's source decides, which
    /// has been the same since the first version with synchronous replication (9.1), and is sent with every report.
    package var saysStandbyNotAwaited: Bool {
        guard severity == "WARNING" else { return false }
        return function == "SyncRepWaitForLSN" || file?.hasSuffix("syncrep.c") == true
    }

    /// Whether it is about the server and not about what was asked of it: the same may succeed later, or elsewhere.
    package var isAboutServer: Bool {
        switch sqlState {
        // The end of a session from outside, a crash of another session, a server that starts or stops.
        case "57P01", "57P02", "57P03", "57P05": true
        // No places left for sessions, and no memory or room.
        case "53300", "53000", "53100", "53200": true
        // A message that can't be: the same will be as wrong again.
        case "08P01": false
        default: sqlState.hasPrefix("08") || sqlState.hasPrefix("58")
        }
    }
}

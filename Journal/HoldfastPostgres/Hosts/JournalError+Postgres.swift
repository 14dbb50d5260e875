internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ

extension PQError {
    /// Whether the same may succeed later: whoever gets it waits, and says why. What only another configuration or an administrator's
    /// grant can mend does not pass.
    package var mayPass: Bool {
        switch kind {
        case .unreachable, .inDoubt: true
        case .refused: sqlState.map { !Self.isLasting($0) } ?? false
        case .configuration, .interrupted, .unexpected: false
        }
    }

    /// The refusals that waiting does not mend, by SQLSTATE: single ones of five characters, and whole classes of two. Any other is
    /// about the database at this moment, such as a statement that was cancelled, a lock, or a database that lets nobody in.
    private static let lasting: Set<String> = [
        // Who the role is, and what it may do: pg_hba.conf, a password, a role that may not log in, rights.
        "28", "42501",
        // No such database or schema, and what is missing in it: 42 has tables and functions.
        "3D", "3F", "42",
        // This program says something that this server does not know, or that can't be: data, constraints, features, cursors,
        // limits of a server's build.
        "0A", "21", "22", "23", "24", "26", "34", "54",
        // The functions of Holdfast themselves.
        "HF", "P0",
    ]

    private static func isLasting(_ state: String) -> Bool {
        lasting.contains(state) || lasting.contains(String(state.prefix(2)))
    }
}

extension PQError {
    /// What to do, as a sentence, if the database can't be used or refuses a right. nil if the message says it.
    package var advice: String? {
        if cause?.isLock == true {
            return "End the transaction of that session, such as a migration or a backup, or the session itself "
                + "(`SELECT pg_terminate_backend(…)`), and try again"
        }
        return switch sqlState {
        case "42501" where isOfConnecting:
            "As the owner of the database or a superuser, say GRANT CONNECT ON DATABASE … TO …, with its name and that of the role"
        case SchemaError.noRightState: SchemaError.advice(onWithheld: message)
        case "3D000":
            "Name a database that exists in the connection string, or make it as a superuser: CREATE DATABASE … OWNER …, with the "
                + "role that is to own Holdfast's schema"
        case "53300":
            DatabaseTrouble.Kind.makePlaces.prefix(1).uppercased() + DatabaseTrouble.Kind.makePlaces.dropFirst()
        case SchemaError.readOnlyState where message.contains(Self.readOnlySetting): Self.readOnlyAdvice
        // Told by libpq, where the string wants a server that can be written to.
        case nil where message.contains(Self.readOnlySetting): "If it is no standby: " + Self.readOnlyAdvice
        case "28P01":
            "Give the role's password in libpq's password file (~/.pgpass, or passfile=), or in PGPASSWORD"
        case nil where kind == .configuration && message.contains("asks for a password"):
            "Give it in libpq's password file (~/.pgpass, or passfile=), or in PGPASSWORD"
        default: nil
        }
    }
}

extension PQError {
    /// Whether the role lacks the right to connect: what is refused later ends no session.
    private var isOfConnecting: Bool { sqlState == "42501" && server?.endsSession == true }

    /// Whether a setting, and no standby, is why nothing can be written; libpq does not tell them apart.
    var isOfReadOnlySetting: Bool {
        (sqlState == nil || sqlState == SchemaError.readOnlyState) && message.contains(Self.readOnlySetting)
    }

    fileprivate static let readOnlySetting = "default_transaction_read_only"

    static let readOnlyAdvice =
        "Find out who set it, and why: a provider may when the disk is full (\\drds of psql lists settings of roles and databases). Then, "
        + "as a superuser: SET \(readOnlySetting) = off, and in the same session ALTER ROLE … RESET \(readOnlySetting), or ALTER ROLE … "
        + "IN DATABASE … RESET \(readOnlySetting), or ALTER DATABASE …, or ALTER SYSTEM … with SELECT pg_reload_conf()"
}

extension JournalError {
    /// For what nobody but an administrator can mend.
    init(_ error: PQError) {
        let code: Code =
            switch (error.kind, error.sqlState) {
            case (.refused, OwnershipCalls.lostState?): .ownershipLost
            case (.refused, let state?) where state.hasPrefix("28") || state == "42501": .permissionDenied
            case (.configuration, _): .configuration
            case (.refused, _) where error.mayPass: .unreachable
            case (.refused, _), (.unexpected, _): .notFound
            case (.unreachable, _), (.inDoubt, _), (.interrupted, _): .unreachable
            }
        let rights = "Have the schema's owner run `holdfast postgres migrate --service` with the role of this host"
        let advice = (error.advice ?? (error.sqlState == "42501" ? rights : nil)).map { ". \($0)" } ?? ""
        self.init(code, "the journal in PostgreSQL can't be opened: \(error)\(advice)")
    }
}

extension CopyError {
    var journalError: JournalError {
        switch self {
        case .database(let error): JournalError(error)
        case .ownershipLost, .moved: JournalError(.ownershipLost, description)
        case .copy(let error): JournalError(error, "make a copy in", error.path)
        case .place(let error): error
        case .notACopy: JournalError(.alreadyExists, description)
        case .rolledBack: JournalError(.contradicted, description)
        case .missing, .damaged, .missingChunk, .damagedChunk: JournalError(.damaged, description)
        }
    }
}

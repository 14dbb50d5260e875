package import Holdfast
package import HoldfastPQ

/// A reason for which the database does not do what a host wants of it now.
package struct DatabaseTrouble: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable {
        /// It can't be reached.
        case away
        /// It takes no more sessions.
        case crowded
        /// It was reached, and does not answer: a commit may wait for a standby.
        case silent
        /// It answers, and calls wait for a lock that somebody holds.
        case locked
        /// It has no room: the disk of its server is full.
        case full
        /// It answers, and a setting lets each transaction begin read-only.
        case readOnly
        /// It answers, and refuses for another reason.
        case refusing
        /// It has lost commits, which a host writes back.
        case behind
    }

    package let kind: Kind
    /// For people.
    package let words: String

    package var description: String { words }

    package init(_ kind: Kind, _ words: String) { (self.kind, self.words) = (kind, words) }

    package init(_ error: PQError) {
        guard case .lock(let holder)? = error.cause else {
            self.init(Self.kind(error), error.description)
            return
        }
        self.init(.locked, PQError.waiting(forLockOf: holder))
    }

    private static func kind(_ error: PQError) -> Kind {
        switch (error.kind, error.cause) {
        case _ where error.isFullDisk: .full
        case _ where error.isOfReadOnlySetting: .readOnly
        case _ where error.sqlState == "53300": .crowded
        case (.refused, _): .refusing
        case (.inDoubt, .deadline?): .silent
        default: .away
        }
    }
}

extension JournalError {
    /// A journal in the database takes nothing now.
    static func refusing(_ journal: String, _ kind: DatabaseTrouble.Kind, why: String) -> JournalError {
        let what =
            switch kind {
            case .away: "can't be reached now"
            case .crowded: "has as many sessions as it takes"
            case .silent: "does not answer now"
            case .locked: "can't be used now, since its tables are locked"
            case .full: "has no room: the disk of the database is full"
            case .readOnly: "can't be written to now"
            case .refusing, .behind: "takes nothing now"
            }
        return JournalError(
            .unreachable,
            "PostgreSQL, which keeps journal \(journal), \(what). Nothing was taken, and it is tried for ever: \(why)",
            advice: kind.advice)
    }
}

extension DatabaseTrouble.Kind {
    /// What to do about a server that takes no more sessions.
    static let makePlaces =
        "the server has as many sessions as it takes: end those that nobody needs (`SELECT pid, usename, application_name, state FROM "
        + "pg_stat_activity`), or raise the limit, which is `max_connections` of the server, or the CONNECTION LIMIT of this role or "
        + "database"

    /// `nil` for the usual one.
    package var advice: JournalError.Advice? {
        let after = "the service goes on by itself then, and nothing that was accepted is lost"
        return switch self {
        case .away: nil
        case .crowded:
            JournalError.Advice("\(Self.makePlaces); \(after)", command: nil)
        case .silent:
            JournalError.Advice(
                "where `synchronous_standby_names` names a standby, start that, or take it out of there; where it names none, the "
                    + "connection has died without a word, is given up after 20 s, and another one is made: see what lies between, "
                    + "such as a firewall that forgets connections; " + after, command: "holdfast postgres status")
        case .locked:
            JournalError.Advice(
                "end the transaction of that session, such as a migration or a backup, or the session itself "
                    + "(`SELECT pg_terminate_backend(…)`); " + after, command: nil)
        case .full:
            JournalError.Advice(
                "make room on the disk of the database's server, which is not this host's disk; \(after)",
                command: nil)
        case .readOnly:
            JournalError.Advice(
                "if the server is no standby: \(PQError.readOnlyAdvice); \(after)", command: "holdfast serve --check")
        case .behind:
            JournalError.Advice(
                "nothing has to be done: this takes ten seconds and a little more, in which other hosts may say that they have more "
                    + "of the journal; \(after)", command: "holdfast postgres status")
        case .refusing:
            JournalError.Advice(
                "mend what the database says, and see its own log; the command says what a role or the schema lacks; \(after)",
                command: "holdfast serve --check")
        }
    }
}

internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ

extension PQError {
    /// Whether the same may succeed later, without anybody changing anything but the database's health.
    var mayPass: Bool {
        switch kind {
        case .unreachable, .inDoubt: true
        case .refused: server?.isAboutServer ?? false || sqlState == "25006"
        case .configuration, .interrupted, .unexpected: false
        }
    }
}

extension JournalError {
    /// For what nobody but an administrator can mend.
    init(_ error: PQError) {
        let code: Code =
            switch (error.kind, error.sqlState) {
            case (.refused, OwnershipCalls.lostState?): .ownershipLost
            case (.refused, let state?) where state.hasPrefix("28") || state == "42501": .permissionDenied
            case (.configuration, _), (.refused, _), (.unexpected, _): .notFound
            case (.unreachable, _), (.inDoubt, _), (.interrupted, _): .unreachable
            }
        let advice =
            error.sqlState == "42501"
            ? ". Have the schema's owner run `holdfast postgres migrate --service` with the role of this host" : ""
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

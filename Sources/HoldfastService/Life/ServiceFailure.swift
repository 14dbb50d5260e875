internal import Holdfast
internal import HoldfastGateway

/// The error that ended a service, or a life of it.
struct ServiceFailure {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    /// Whether trying again may help: the journal has failed, or what it lies on, or an address is taken for the moment.
    /// Damage stays: each attempt would only deliver what lies before it.
    var mayPass: Bool {
        switch error {
        case let error as JournalError:
            ![.ownedByAnotherProcess, .newerFormat, .damaged, .wrongKey].contains(error.code)
        case let error as GatewayError: error.kind == .cannotListen
        default: false
        }
    }

    /// Whether somebody has deleted, moved or replaced the working copy: another is made, also where nothing was served yet.
    var isOfLostCopy: Bool {
        switch error {
        case let error as JournalError: error.code == .copyLost
        case let error as GatewayError: error.journal == .copyLost
        default: false
        }
    }

    /// Whether it speaks against the journal or its disk. That another host has taken the journal, that what keeps it is away, or that
    /// somebody has deleted its working copy does not, and may come as often as it likes.
    var counts: Bool {
        if isOfLostCopy { return false }
        guard let error = error as? JournalError else { return true }
        return !error.code.isOfOwnership
    }
}

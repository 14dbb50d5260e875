internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPostgres
internal import ServiceLifecycle

/// What the journals of a process share with those of other hosts: the blacklist, provider tokens, and the way of operators'
/// commands.
final class FleetShares: Service, Sendable {
    let blacklist: SharedBlacklist
    /// The directory of this host's copy of it.
    let copy: String
    let commands: CommandServer
    private let notes: FleetNoteClient
    private let tokens: ProviderTokenShare
    private let trouble = Monitor<String?>(nil)

    /// - Throws: ``JournalError`` when the copy of the blacklist can't be opened, `PQError` without descriptors.
    init(_ terms: HostTerms, _ directory: HostDirectory) throws {
        copy = HostDirectory.blacklist(in: directory.path)
        var options = JournalOptions()
        options.keys = terms.options.keys
        blacklist = try SharedBlacklist(
            .init(target: terms.target, schema: terms.schema), copy: try LocalBlacklist.open(copy, options))
        commands = try CommandServer(.init(target: terms.target, schema: terms.schema, host: terms.host))
        notes = try FleetNoteClient(terms.target, terms.schema)
        tokens = ProviderTokenShare(FleetTokenStore(notes))
    }

    /// Waits until this host knows what all others have told of the blacklist, or until it is stopped.
    func catchUp(_ stop: OpeningStop, onWaiting: (String) -> Void) {
        while !stop.isStopped, !blacklist.caughtUp(within: .seconds(5)) {
            onWaiting("the blacklist is read: " + (blacklist.status.trouble?.words ?? "it goes on"))
        }
    }

    /// What is in the way, one line each.
    var troubles: [String] {
        let blacklist = self.blacklist.status.trouble.map {
            "the blacklist is not exchanged with other hosts: \($0.words)"
        }
        let commands = self.commands.trouble.map { "operators' commands of the fleet are not answered: \($0)" }
        let tokens = trouble.withLock { $0 }.map { "provider tokens are not exchanged with other hosts: \($0)" }
        return [blacklist, commands, tokens].compactMap(\.self)
    }

    /// Exchanges provider tokens.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await self.tokens.run { error in self.trouble.withLock { $0 = error.map { "\($0)" } } }
        }
    }

    /// When all journals are closed.
    func close() {
        commands.close()
        notes.close()
        blacklist.close()
    }
}

/// Has operators reach a journal through the database while an engine delivers from it.
struct CommandsOfJournal: Service {
    private let owned: OwnedJournal
    private let shared: FleetShares
    private let engine: PushEngine

    init(_ owned: OwnedJournal, _ shared: FleetShares, _ engine: PushEngine) {
        (self.owned, self.shared, self.engine) = (owned, shared, engine)
    }

    func run() async throws {
        shared.commands.serve(
            owned.id, epoch: owned.epoch, desk: engine.desk, reading: owned.directory, blacklist: shared.copy)
        defer { shared.commands.end(owned.id) }
        try await gracefulShutdown()
    }
}

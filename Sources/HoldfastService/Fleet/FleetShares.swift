internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastFCM
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastRequests
internal import Logging
internal import ServiceLifecycle

/// The things that the journals of a process share with those of other hosts: the blacklist, provider and access tokens, and the
/// way of operators' commands.
final class FleetShares: Service, Sendable {
    let blacklist: SharedBlacklist
    /// The directory of this host's copy of it.
    let copy: String
    let commands: CommandServer
    /// The keys of this host as they were read last. A reload exchanges them.
    let keys: Monitor<JournalKeys?>
    private let notes: FleetNoteClient
    private let tokens: TokenShare
    private let trouble = Monitor<String?>(nil)
    /// Why the fleet's orders are not carried out, by the names of journals.
    private let orderTroubles = Monitor<[String: String]>([:])

    /// Waits a little for one who reads the copy of the blacklist: `journal status` takes only a moment.
    ///
    /// - Throws: ``JournalError`` when that copy can't be opened, `PQError` without descriptors.
    init(_ terms: HostTerms, _ directory: HostDirectory, logger: Logger) async throws {
        let copy = HostDirectory.blacklist(in: directory.path)
        self.copy = copy
        var options = JournalOptions()
        options.keys = terms.options.keys
        let keys = Monitor(terms.options.keys)
        self.keys = keys
        let opened = try await JournalOpening.waiting(JournalOpening.patience, JournalOpening.patienceWithOwners) {
            [options] () throws(JournalError) in try LocalBlacklist.open(copy, options)
        }
        blacklist = try SharedBlacklist(.init(target: terms.target, schema: terms.schema), copy: opened) {
            [options] (ending) throws(JournalError) in
            var options = options
            options.keys = keys.withLock(\.self)
            let another = try LocalBlacklist.open(copy, options, anew: true)
            logger.warning(
                "another copy of the blacklist is filled, and the one before is read until then: \(ending.message)")
            return another
        }
        commands = try CommandServer(.init(target: terms.target, schema: terms.schema, host: terms.host))
        notes = try FleetNoteClient(terms.target, terms.schema)
        tokens = TokenShare(FleetTokenStore(notes), of: [ProviderTokenRegistry.shared, AccessTokenRegistry.shared])
    }

    /// Waits until this host knows what all others have told of the blacklist, or until it is stopped.
    func catchUp(_ stop: OpeningStop, onWaiting: (String) -> Void) {
        while !stop.isStopped, !blacklist.caughtUp(within: .seconds(5)) {
            onWaiting("the blacklist is read: " + (blacklist.status.trouble?.words ?? "it goes on"))
        }
    }

    /// What is in the way.
    var troubles: [FleetTrouble] {
        let blacklist = self.blacklist.status.trouble.map {
            FleetTrouble(.blacklist, $0.words, of: $0.isOfCopy ? .disk : .database)
        }
        let commands = self.commands.trouble.map { FleetTrouble(.commands, $0) }
        let tokens = trouble.withLock { $0 }.map { FleetTrouble(.providerTokens, $0) }
        let orders = orderTroubles.withLock { $0 }.sorted { $0.key < $1.key }.map {
            FleetTrouble(.orders, $0.value).of($0.key)
        }
        return [blacklist, commands, tokens].compactMap(\.self) + orders
    }

    /// - Parameter trouble: why orders are not carried out; nil when they are.
    func tell(_ trouble: String?, of journal: String) { orderTroubles.withLock { $0[journal] = trouble } }

    /// Exchanges provider and access tokens.
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

/// Has operators reach a journal through the database while an engine delivers from it, and has their orders to the whole fleet
/// carried out there.
struct CommandsOfJournal: Service {
    private let owned: OwnedJournal
    private let shared: FleetShares
    private let engine: PushEngine
    private let orders: JournalOrders

    init(_ owned: OwnedJournal, _ shared: FleetShares, _ engine: PushEngine, _ orders: JournalOrders) {
        (self.owned, self.shared, self.engine, self.orders) = (owned, shared, engine, orders)
    }

    func run() async throws {
        shared.commands.serve(
            owned.id, epoch: owned.epoch, desk: engine.fleetOrderDesk, reading: owned.directory, blacklist: shared.copy,
            orders: orders)
        defer {
            shared.commands.end(owned.id)
            shared.tell(nil, of: owned.name)
        }
        await cancelWhenGracefulShutdown {
            await self.orders.run(self.engine.fleetOrderDesk) { self.shared.tell($0, of: self.owned.name) }
        }
    }
}

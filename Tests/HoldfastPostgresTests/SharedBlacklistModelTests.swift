import Foundation
import Holdfast
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

/// Hosts that change the blacklist at random, with connections that are cut.
///
/// Some tokens are one host's alone: their entries must be what a model says, on that host at once, and on all in the end. All
/// others are everybody's: whatever the order was, all copies must have the same.
@Suite("The shared blacklist against a model", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct SharedBlacklistModelTests {
    private static let hostCount = 3
    private static let tokenCount = 24

    /// Of one host, on a thread of its own.
    private struct Player {
        let index: Int
        let host: BlacklistHost
        var random: Xoshiro256
        var model: [Int: TokenEntries] = [:]
        var answers: [Answered] = []

        mutating func play(_ count: Int) throws {
            for _ in 0..<count {
                let token = Int.random(in: 0..<tokenCount, using: &random)
                // Tokens below are everybody's.
                let isMine = token % (hostCount + 1) == index
                guard isMine || token % (hostCount + 1) == hostCount else { continue }
                var known = model[token] ?? TokenEntries()
                switch Int.random(in: 0..<8, using: &random) {
                case 0..<4: add(token, &known)
                case 4..<6: lift(token, &known)
                default: try remove(token, &known, isMine)
                }
                guard isMine else { continue }
                model[token] = known
                #expect(try now(token) == known.entries.map(\.unnumbered), "token \(token) of host \(index)")
            }
            for answer in answers { try answer.value() }
        }

        private func now(_ token: Int) throws -> [BlacklistEntry] {
            try host.shared.entries(for: .token(token)).map(\.unnumbered)
        }

        private mutating func entry(_ token: Int) -> BlacklistEntry {
            let topic = ["a", "b", nil].randomElement(using: &random)!
            return .of(token, topic: topic, since: Int64.random(in: 0..<20, using: &random))
        }

        private mutating func add(_ token: Int, _ known: inout TokenEntries) {
            let entries = (0..<Int.random(in: 1...3, using: &random)).map { _ in entry(token) }
            var number: UInt64 = 0
            for entry in entries { _ = known.add(entry, number: &number) }
            answers.append(host.add(entries))
        }

        private mutating func lift(_ token: Int, _ known: inout TokenEntries) {
            let registration = TokenRegistration(
                recipient: .token(token), topic: ["a", "b"].randomElement(using: &random)!, endpoint: "e",
                registeredAt: WallTime(milliseconds: Int64.random(in: 0..<20, using: &random)))
            _ = known.lift(by: registration)
            answers.append(host.lift(registration))
        }

        private mutating func remove(_ token: Int, _ known: inout TokenEntries, _ isMine: Bool) throws {
            let scope = Bool.random(using: &random) ? nil : BlacklistScope(topic: "a")
            let count = known.remove(scope)
            let removed = try host.shared.remove([BlacklistKey(.token(token), scope)])
            if isMine { #expect(removed == count, "token \(token) of host \(index)") }
        }
    }

    @Test("All copies end with what the table has, and with what the model says", arguments: [1, 2])
    func converges(seed: UInt64) throws {
        let schema = try OwnSchema()
        let proxies = try (0..<Self.hostCount).map { _ in try FaultProxy(to: schema.cluster.port) }
        var players = try proxies.enumerated().map { index, proxy in
            Player(
                index: index, host: try BlacklistHost(schema, port: proxy.port, pageRowCount: 3 + index),
                random: Xoshiro256(seed: seed * 100 + UInt64(index)))
        }
        for round in 0..<2 {
            let isOver = Monitor(false)
            let faults = Background { try Self.cut(proxies, seed: seed * 7 + UInt64(round), until: isOver) }
            let games = players.map { player in
                Background { [player = Handed(player)] in
                    var player = player.value
                    try player.play(25)
                    return Handed(player)
                }
            }
            let played = Result { try games.map { try $0.value().value } }
            isOver.withLock { $0 = true }
            try faults.value()
            players = try played.get()
            let fresh = try BlacklistHost(schema)
            #expect(fresh.caughtUp())
            let table = try fresh.entries()
            #expect(try schema.psql("SELECT count(*) FROM S.blacklist WHERE entry IS NOT NULL") == "\(table.count)")
            for player in players {
                #expect(player.host.caughtUp())
                #expect(try player.host.entries() == table, "host \(player.index)")
                for (token, known) in player.model {
                    let found = table.filter { $0.recipient == .token(token) }.map(\.unnumbered)
                    #expect(found == known.entries.map(\.unnumbered), "token \(token)")
                }
            }
        }
        #expect(
            try schema.psql("SELECT count(*) = count(DISTINCT number), max(number) > 20 FROM S.blacklist_marks")
                == "t|t")
    }

    private static func cut(_ proxies: [FaultProxy], seed: UInt64, until isOver: Monitor<Bool>) throws {
        var random = Xoshiro256(seed: seed)
        // So many that a busy machine still comes to an end.
        for _ in 0..<20 where !isOver.withLock({ $0 }) {
            let proxy = proxies.randomElement(using: &random)!
            switch Int.random(in: 0..<4, using: &random) {
            case 0: proxy.cut()
            case 1: proxy.fail(.cutAfter("share_blacklist"))
            case 2: proxy.fail(.cutShort("share_blacklist", by: Int.random(in: 0..<60, using: &random)))
            default: proxy.fail(.cutAnswer("read_blacklist", after: Int.random(in: 0..<400, using: &random)))
            }
            usleep(20_000)
            proxy.fail(nil)
            usleep(40_000)
        }
    }
}

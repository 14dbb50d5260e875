import Holdfast
import Testing

@testable import HoldfastService

@Suite("What a host leaves to others that can't send")
struct TakingRuleTests {
    private typealias Standing = TakingRule.Standing

    /// A host that looks once a second.
    private struct Host {
        var rule = TakingRule()
        var second = 0
        var hosts = 3

        /// - Parameter standings: of each look, by its second.
        /// - Returns: what was decided, each with the second in which it changed.
        mutating func run(
            until end: Int, _ standings: (_ second: Int) -> [String: TakingRule.Standing]
        ) -> [Change] {
            var changes: [Change] = []
            while second <= end {
                let now = Duration.seconds(second)
                rule.looked(standings(second), hosts: hosts, at: now)
                let verdict = rule.verdict(at: now)
                if verdict != changes.last?.verdict { changes.append(Change(verdict, second)) }
                second += 1
            }
            return changes
        }
    }

    private struct Change: Equatable, CustomStringConvertible {
        let verdict: TakingRule.Verdict
        let second: Int

        init(_ verdict: TakingRule.Verdict, _ second: Int) { (self.verdict, self.second) = (verdict, second) }

        var description: String { "\(verdict) from \(second)" }
    }

    @Test("Without a connection for half a minute it leaves all to others, and takes all with the first that is made")
    func away() {
        var host = Host()
        let changes = host.run(until: 1000) { second in
            ["a": second < 10 || second >= 900 ? .connected : .away(failures: second / 30)]
        }
        #expect(changes == [Change(.takes, 0), Change(.leaves, 40), Change(.takes, 900)])
    }

    @Test("A connection that comes and goes keeps it taking")
    func flapping() {
        var host = Host()
        let changes = host.run(until: 1000) { second in ["a": second % 25 == 0 ? .connected : .away(failures: 1)] }
        #expect(changes == [Change(.takes, 0)])
    }

    @Test("A host alone takes all, and one that is joined or left finds that out at once")
    func alone() {
        var host = Host()
        host.hosts = 1
        var found: [Change] = []
        for hosts in [1, 2, 1] {
            host.hosts = hosts
            found += host.run(until: host.second + 99) { ["a": .away(failures: $0 / 30)] }
        }
        #expect(found == [Change(.takes, 0), Change(.leaves, 100), Change(.takes, 200)])
    }

    @Test("While one route has a connection, or had one when it was last needed, everything is taken")
    func oneWorks() {
        for other in [Standing.connected, .idle] {
            var host = Host()
            let changes = host.run(until: 1000) { second in
                ["a": .away(failures: second / 30), "b": second == 0 ? .connected : other]
            }
            #expect(changes == [Change(.takes, 0)])
        }
    }

    @Test("A route that nobody has needed yet is tried with one submission a minute")
    func unneeded() {
        var host = Host()
        let first = host.run(until: 100) { _ in ["a": .away(failures: 1), "b": .idle] }
        #expect(first == [Change(.takes, 0), Change(.leaves, 30), Change(.tries, 90)])
        host.rule.tried(at: .seconds(100))
        let second = host.run(until: 170) { _ in ["a": .away(failures: 1), "b": .idle] }
        #expect(second == [Change(.leaves, 101), Change(.tries, 160)])
        host.rule.tried(at: .seconds(170))
        // It was for the other route, which is away, too.
        let third = host.run(until: 300) { ["a": .away(failures: $0), "b": .away(failures: $0)] }
        #expect(third == [Change(.leaves, 171)])
        let fourth = host.run(until: 310) { ["a": .away(failures: $0), "b": .connected] }
        #expect(fourth == [Change(.takes, 301)])
    }

    @Test("Hosts that have nothing that waits find out that the service is back, however long it was away")
    func allAway() {
        var host = Host()
        // Nothing waits after 600 s: no connection is tried any more.
        let changes = host.run(until: 7200) { second in ["a": .away(failures: min(second, 600) / 20)] }
        #expect(changes.prefix(2) == [Change(.takes, 0), Change(.leaves, 30)])
        #expect(changes.dropFirst(2) == [Change(.tries, 600 + 180)])
        host.rule.tried(at: .seconds(7200))
        let back = host.run(until: 7210) { _ in ["a": .connected] }
        #expect(back == [Change(.takes, 7201)])
    }

    @Test("A route that the configuration has no more says nothing, and neither does a service without routes")
    func removed() {
        var host = Host()
        let before = host.run(until: 100) { ["a": .away(failures: $0)] }
        #expect(before == [Change(.takes, 0), Change(.leaves, 30)])
        let behind = host.run(until: 200) { _ in ["b": .idle] }
        #expect(behind == [Change(.takes, 101)])
        let without = host.run(until: 300) { _ in [:] }
        #expect(without == [Change(.takes, 201)])
    }

    @Test("A host with a wrong clock whose credentials are refused leaves all to others, and tries none")
    func refused() {
        var host = Host()
        let changes = host.run(until: 1000) { second in
            ["a": second < 10 || second >= 900 ? .connected : .refused]
        }
        #expect(changes == [Change(.takes, 0), Change(.leaves, 40), Change(.takes, 900)])
        host.rule.looked(["a": .refused], hosts: 2, at: .seconds(1001))
        host.rule.looked(["a": .refused], hosts: 2, at: .seconds(1031))
        #expect(host.rule.reason == .clock)
        // Of another engine it is not known.
        #expect(Standing.connected.joined(with: .refused) == .refused)
        #expect(Standing.refused.joined(with: .away(failures: 1)) == .refused)
    }

    @Test("A host whose journal has no room takes nothing, and leaves all to others that live, until it has room")
    func full() {
        var rule = TakingRule()
        rule.looked(["a": .connected], isFull: true, hosts: 2, at: .seconds(1))
        #expect(rule.verdict(at: .seconds(1)) == .leaves && rule.reason == .full)
        rule.looked(["a": .connected], isFull: true, hosts: 1, at: .seconds(2))
        #expect(rule.verdict(at: .seconds(2)) == .waits && rule.reason == nil)
        rule.looked(["a": .connected], isFull: false, hosts: 2, at: .seconds(3))
        #expect(rule.verdict(at: .seconds(3)) == .takes && rule.reason == nil)
    }

    @Test("Of several engines, one that has a connection decides, and one that has tried before one that has not")
    func engines() {
        #expect(Standing.away(failures: 2).joined(with: .connected) == .connected)
        #expect(Standing.connected.joined(with: .away(failures: 2)) == .connected)
        #expect(Standing.away(failures: 2).joined(with: .away(failures: 3)) == .away(failures: 5))
        #expect(Standing.idle.joined(with: .away(failures: 3)) == .away(failures: 3))
        #expect(Standing.away(failures: 3).joined(with: .idle) == .away(failures: 3))
        #expect(Standing.idle.joined(with: .idle) == .idle)
        #expect(Standing(.idle, failures: 4) == .idle && Standing(.connecting, failures: 4) == .idle)
        #expect(Standing(.connected, failures: 4) == .connected)
        #expect(Standing(.waiting(ConnectError(.temporary, "refused")), failures: 4) == .away(failures: 4))
    }
}

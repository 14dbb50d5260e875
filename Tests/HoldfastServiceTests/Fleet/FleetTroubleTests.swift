import Holdfast
import HoldfastPostgres
import Testing

@testable import HoldfastService

@Suite("What a host can't do in its database")
struct FleetTroubleTests {
    private func moment(_ seconds: Int64) -> Moment {
        Moment(monotonic: .seconds(seconds), wall: WallTime(seconds: 1000 + seconds))
    }

    @Test("What lasts is a condition, each with when it began, and a moment of it is none")
    func lasting() {
        var troubles = LastingTroubles()
        let watching = FleetTrouble(.watching, "too many connections")
        let commands = FleetTrouble(.commands, "too many connections")
        #expect(troubles.look([watching], at: moment(0)).isEmpty)
        #expect(troubles.look([], at: moment(8)).isEmpty)
        #expect(troubles.look([watching], at: moment(9)).isEmpty)
        #expect(troubles.look([watching, commands], at: moment(18)).isEmpty)
        let first = troubles.look([watching, commands], at: moment(19))
        #expect(first.map(\.subject) == ["watching"] && first.map(\.since) == [WallTime(seconds: 1009)])
        #expect(first.first?.kind == .databaseTrouble && first.first?.severity == .warning)
        #expect(first.first?.what.contains("takes over nothing: too many connections") == true)
        // Another cause is the same trouble.
        let other = FleetTrouble(.watching, "cut")
        let both = troubles.look([other, commands.of("web-2")], at: moment(40))
        #expect(both.map(\.subject) == ["watching"] && both.map(\.since) == [WallTime(seconds: 1009)])
        #expect(
            troubles.look([other, commands.of("web-2")], at: moment(50)).map(\.subject) == [
                "watching", "web-2/commands",
            ])
    }

    @Test("A host whose own disk or limit is in the way is sent to that, and not to the database")
    func ofHost() {
        var troubles = LastingTroubles()
        let all = [
            FleetTrouble(.blacklist, "No space left on device", of: .disk), FleetTrouble(.commands, "cut"),
            FleetTrouble(.submissions, "reached its limit", of: .limit),
        ]
        #expect(troubles.look(all, at: moment(0)).isEmpty)
        let found = troubles.look(all, at: moment(10))
        #expect(found.map(\.command) == ["df -h", "holdfast postgres status", "holdfast status"])
        #expect(found.map { $0.next.contains("what the database says") } == [false, true, false])
        #expect(found.map { $0.next.contains("`journal.limit`") } == [false, false, true])
    }

    @Test(
        "A journal of a lost host that has no room here is told after ten seconds, with the MiB that it needs and where"
    )
    func takeover() {
        var troubles = LastingTroubles()
        let want = TakeoverRoom.Want(journal: "gone", needed: 97 << 20, available: 12 << 20)
        let trouble = FleetTrouble(want, in: "/copies")
        #expect(troubles.look([trouble], at: moment(0)).isEmpty)
        let found = troubles.look([trouble], at: moment(10))
        #expect(found.map(\.subject) == ["gone/takeovers"] && found.map(\.command) == ["df -h"])
        #expect(!found.areHealthy)
        let words = found.first?.what ?? ""
        #expect(words.contains("97 MiB free on the file system of /copies, which has 12 MiB"), "\(words)")
        #expect(SizeText.mebibytes((97 << 20) - 1) == "97 MiB")
    }

    @Test("A journal of a lost host that this host has no key for is told, and names the key")
    func keys() {
        var troubles = LastingTroubles()
        let trouble = FleetTrouble(TakeoverRefusals.Refusal(journal: "gone", why: "it is sealed with key 6ed"))
        #expect(troubles.look([trouble], at: moment(0)).isEmpty)
        let found = troubles.look([trouble], at: moment(60))
        #expect(found.map(\.subject) == ["gone/takeovers"] && found.map(\.since) == [WallTime(seconds: 1000)])
        #expect(found.first?.what.contains("sealed with key 6ed") == true)
        #expect(found.first?.next.contains("`journal.key-file`") == true)
    }

    @Test(
        "A journal of a lost host for which there are no sessions is one trouble, while it is tried and until the next try"
    )
    func sessions() throws {
        var troubles = LastingTroubles()
        let opening = TakeoverOpening("gone", try OpeningStop(), clock: .system)
        #expect(opening.trouble == nil)
        opening.tell(.away(DatabaseTrouble(.crowded, "too many connections for role")))
        let trying = try #require(opening.trouble)
        #expect(troubles.look([trying], at: moment(0)).isEmpty)
        let tried = troubles.look([trying], at: moment(20))
        #expect(tried.map(\.subject) == ["gone/takeovers"] && tried.map(\.nextTryAt) == [nil])
        #expect(tried.first?.what.contains("can't be opened, so that nothing of it is sent: too many") == true)
        let refusal = TakeoverRefusals.Refusal(journal: "gone", why: "too many connections for role", cause: .database)
        let next = WallTime(seconds: 1060)
        let refused = troubles.look([FleetTrouble(refusal, nextTryAt: next)], at: moment(40))
        #expect(refused.map(\.since) == [WallTime(seconds: 1000)] && refused.map(\.nextTryAt) == [next])
        #expect(refused.first?.next.contains("a limit of connections") == true)
        opening.tell(.goesOn)
        #expect(opening.trouble == nil)
    }

    @Test(
        "An opening is given up when its database has refused it for half a minute, and not for what holds up all hosts"
    )
    func patience() {
        func end(_ kind: DatabaseTrouble.Kind, without gap: Range<Int> = 0..<0) -> Int? {
            var patience = OpeningPatience()
            return (0..<100).first { second in
                patience.look(gap.contains(second) ? nil : DatabaseTrouble(kind, "x"), at: .seconds(second))
            }
        }
        #expect(end(.crowded) == 30 && end(.refusing) == 30 && end(.away) == 30)
        #expect(end(.locked) == nil && end(.full) == nil && end(.silent) == nil)
        // A moment without is no end, and a while is.
        #expect(end(.crowded, without: 10..<13) == 30 && end(.crowded, without: 10..<20) == 50)
    }

    @Test("That the commits of a journal wait that was taken over is said, since nothing else says it")
    func commitsOfTakenOver() {
        var troubles = LastingTroubles()
        let all = [FleetTrouble(.commits, "x").of("gone").ofTakenOver]
        #expect(troubles.look(all, at: moment(0)).isEmpty)
        #expect(troubles.look(all, at: moment(10)).map(\.subject) == ["gone/commits"])
    }

    @Test("That commits wait is said by the database being away")
    func ofJournal() {
        var troubles = LastingTroubles()
        let all = [FleetTrouble(.commits, "x").of("a"), FleetTrouble(.lease, "x").of("a")]
        #expect(troubles.look(all, at: moment(0)).isEmpty && troubles.look(all, at: moment(100)).isEmpty)
    }
}

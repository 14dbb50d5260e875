import Foundation
import Holdfast
import HoldfastControl
import HoldfastJournal
import HoldfastPostgres
import Testing

@testable import HoldfastService

@Suite("How a fleet stands")
struct FleetStandingTests {
    private let lane = LaneKey(route: "apns", urgency: .immediate, guarantee: .atLeastOnce)

    private func listed(
        _ id: Int32, _ name: String, host: String?, isFree: Bool = false, isClosed: Bool = false
    ) -> ListedJournal {
        ListedJournal(
            id: id, name: name, host: host, sighting: Sighting(epoch: 1, beats: 1, isFree: isFree), isClosed: isClosed)
    }

    private func told(
        _ state: LaneState = .running, conditions: [HealthCondition] = [], waiting: Int = 0, oldest: Int64? = nil
    ) -> FleetStanding.Told {
        var status = DeskStatus(
            lanes: [
                DeskStatus.Lane(
                    key: lane, state: state, unconfirmed: waiting, deferred: 0, isServed: true,
                    oldestAcceptedAt: oldest.map { WallTime(milliseconds: $0) })
            ], routes: [])
        status.conditions = conditions
        return FleetStanding.Told(status, at: WallTime(milliseconds: 5000))
    }

    private func condition(_ severity: HealthCondition.Severity) -> HealthCondition {
        HealthCondition(
            .init(rawValue: "x"), severity, "route", "apns", since: WallTime(milliseconds: 0), what: "w", next: "n")
    }

    @Test("What is wrong comes first, then what somebody should look at, then what operators hold, then by name")
    func ordered() {
        var sightings = FleetSightings()
        sightings.journals = [
            listed(1, "a", host: "a"), listed(2, "b", host: "b"), listed(3, "c", host: "c"), listed(4, "d", host: "d"),
            listed(5, "e", host: "e"), listed(6, "f", host: "f", isFree: true), listed(7, "g", host: "g"),
            listed(8, "h", host: "h", isFree: true, isClosed: true), listed(9, "i", host: nil, isFree: true),
        ]
        sightings.silence = [5: .seconds(7)]
        var asked = FleetStanding.Asked()
        let paused = LaneState.paused(reason: "night", since: WallTime(milliseconds: 0))
        asked.told = [
            1: told(), 2: told(paused), 3: told(conditions: [condition(.warning)]),
            4: told(conditions: [condition(.fault)]), 5: told(waiting: 3, oldest: 1000),
        ]
        asked.failures = [5: "it was not asked", 7: "it does not answer"]
        asked.releases = [6: 90]
        let standing = FleetStanding(host: "a", own: 1, sightings, asked)
        #expect(standing.journals.map(\.journal) == ["d", "e", "f", "g", "c", "b", "a"])
        #expect(
            standing.journals.map(\.severity) == [.fault, .fault, .fault, .fault, .warning, .notice, .fine])
        #expect(standing.closed == 2 && standing.journal == "a" && standing.journals.last?.isOwn == true)
        let (silent, free, mute) = (standing.journals[1], standing.journals[2], standing.journals[3])
        // What it has told before stays, with its time.
        #expect(silent.state == .silent && silent.silentSeconds == 7 && silent.error == nil)
        #expect(silent.unconfirmed == 3 && silent.oldestAcceptedAt?.value.milliseconds == 1000)
        #expect(silent.answeredAt?.value.milliseconds == 5000)
        #expect(free.state == .free && free.freeSeconds == 90 && free.unconfirmed == nil)
        #expect(mute.state == .owned && mute.error == "it does not answer" && mute.answeredAt == nil)
    }

    @Test("A journal that another host has is told with the host that it belongs to")
    func taken() {
        var sightings = FleetSightings()
        sightings.journals = [
            listed(1, "a", host: "a"), listed(2, "b", host: "a"), listed(3, "b#2", host: "b"),
            listed(4, "c#2", host: "b"),
            listed(5, "d", host: "a", isFree: true),
        ]
        let standing = FleetStanding(host: "a", own: 1, sightings, FleetStanding.Asked())
        let taken = Dictionary(uniqueKeysWithValues: standing.journals.map { ($0.journal, $0.takenFrom) })
        #expect(taken == ["a": nil, "b": "b", "b#2": nil, "c#2": "c", "d": nil])
    }

    @Test("What stands still is told, and what runs is not")
    func still() throws {
        var sightings = FleetSightings()
        sightings.journals = [listed(1, "a", host: "a"), listed(2, "b", host: "b")]
        var asked = FleetStanding.Asked()
        asked.told = [1: told(), 2: told(.stopped(reason: "403", since: WallTime(milliseconds: 0)))]
        let standing = FleetStanding(host: "a", own: 1, sightings, asked)
        #expect(standing.journals.map(\.journal) == ["b", "a"])
        #expect(standing.journals[0].severity == .fault && standing.journals[0].lanes?.map(\.state) == ["stopped"])
        #expect(standing.journals[1].lanes == nil && standing.journals[1].pausedTags == nil)
    }
}

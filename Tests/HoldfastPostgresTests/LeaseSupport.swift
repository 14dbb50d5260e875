import Foundation
import Holdfast
import HoldfastPQ
import HoldfastPlatform
import HoldfastPostgres
import Synchronization
import TestPostgres
import Testing

/// A host whose lease's thread stops where it reads the clock, as a process under SIGSTOP does between any two steps.
final class LeaseHost: Sendable {
    private let isPaused = Mutex(false)
    private let changes = Condition()
    private let jumps = Atomic<Int64>(0)

    /// Blocks while the host is paused. The wall clock is an hour further each time, and back again.
    var clock: EngineClock {
        EngineClock(
            wall: { [self] in
                let jump = jumps.add(1, ordering: .relaxed).newValue
                return WallTime(milliseconds: jump % 2 == 0 ? 3_600_000 * jump : 0)
            },
            monotonic: { [self] in
                changes.lock()
                while isPaused.withLock({ $0 }) { changes.wait() }
                changes.unlock()
                return Self.now
            })
    }

    static var now: Duration { EngineClock.system.monotonic() }

    func pause(_ pause: Bool) {
        changes.lock()
        isPaused.withLock { $0 = pause }
        changes.broadcast()
        changes.unlock()
    }
}

extension LeaseTimes {
    /// For tests that wait until a journal is taken.
    static let short = LeaseTimes(
        beat: .milliseconds(50), hold: .milliseconds(400), takeAfter: .seconds(1), retry: .milliseconds(20))
    /// For tests in which no lease runs out.
    static let long = LeaseTimes(
        beat: .milliseconds(50), hold: .seconds(30), takeAfter: .seconds(60), retry: .milliseconds(20))
}

extension JournalLease {
    var isHeld: Bool { epoch != nil }

    var handsOut: Bool { handOutUntil.map { LeaseHost.now < $0 } ?? false }
}

/// Looks all the time whether two leases of one journal hand out at once.
final class DoubleWatch: Sendable {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    private let end = Flag()
    private let looks: Background<(looks: Int, doubles: Int)>

    init(_ leases: [JournalLease]) {
        looks = Background { [end] in
            var looks = 0
            var doubles = 0
            while !end.isSet.load(ordering: .relaxed) {
                let before = leases.map(\.handOutUntil)
                let now = LeaseHost.now
                // One that was given up meanwhile does not count.
                let after = leases.map(\.handOutUntil)
                let owners = zip(before, after).count { $0 == $1 && $0.map { now < $0 } ?? false }
                looks += 1
                if owners > 1 { doubles += 1 }
                usleep(300)
            }
            return (looks, doubles)
        }
    }

    func results() throws -> (looks: Int, doubles: Int) {
        end.isSet.store(true, ordering: .relaxed)
        return try looks.value()
    }
}

package import Holdfast
package import HoldfastPostgres

/// The journals of the fleet as this host's watch has seen them last. The watch looks anyway: nobody else asks the database for
/// this.
package struct FleetSightings: Sendable {
    /// All of them, by their numbers.
    package var journals: [ListedJournal] = []
    /// How long owners have not renewed their leases, by the numbers of journals. Those that do are not here.
    package var silence: [Int32: Duration] = [:]
    /// `nil` before the first look.
    package var at: WallTime?
    /// Why the last look has failed; `nil` after one that has not.
    package var trouble: String?
    /// The number of hosts that the rates of routes are divided among.
    package var hosts = 1

    package init() {}

    /// Why owners are not asked: they are known not to answer.
    var unanswering: [Int32: String] {
        silence.reduce(into: [:]) { words, silent in
            let host = journals.first { $0.id == silent.key }?.host ?? "its host"
            words[silent.key] =
                "there is no sign of life from \(host) for \(Int(silent.value / .seconds(1))) s: another host takes the journal "
                + "over, and until then nothing of it is sent"
        }
    }
}

/// Whether a journal has an owner.
package enum FleetJournalState: String, Encodable, Sendable {
    /// Its owner renews its lease.
    case owned
    /// Its owner does not.
    case silent
    /// It was given up, and not delivered to the end.
    case free
    /// It has nothing in it: it was given up empty, or a host that gives no sign of life had not finished opening it.
    case closed
}

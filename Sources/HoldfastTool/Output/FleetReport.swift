internal import Holdfast
internal import HoldfastPostgres
internal import HoldfastService

/// The journals of a fleet, and what its database survives. The names of its properties are those of the JSON.
struct FleetReport: Encodable {
    enum State: String, Encodable {
        /// Its owner renews its lease.
        case owned
        /// Its owner does not.
        case silent
        /// It was given up, and not delivered to the end.
        case free
        /// It was given up empty, or nobody has taken it yet.
        case closed
    }

    struct Journal: Encodable {
        var id: Int32
        var name: String
        var host: String?
        var state: State
        /// How long a silent owner has not renewed its lease; nil where the server does not say.
        var silentSeconds: Int?
        /// How long a journal that was given up has had no owner; nil where that is not known.
        var freeSeconds: Int?
        /// How long a commit waits for a standby; nil where none does, and where the server does not say.
        var commitWaitsSeconds: Int?
        var epoch: Int64
        /// `nil` for who may not ask, and so are the bytes.
        var commits: UInt64?
        var logBytes: Int?
        var checkpointBytes: Int?

        init(_ journal: ListedJournal, before: ListedJournal?) {
            (id, name, host, epoch) = (journal.id, journal.name, journal.host, journal.sighting.epoch)
            if journal.sighting.isFree {
                state = journal.isLeft ? .free : .closed
            } else {
                state = journal.sighting != before?.sighting ? .owned : .silent
            }
        }

        mutating func add(_ state: LogState?) {
            guard let state else { return }
            (commits, logBytes, checkpointBytes) = (state.last, state.logByteCount, state.checkpointByteCount)
        }

        fileprivate var words: String {
            let name = host?.printable(maximumLength: 64) ?? "unknown"
            var parts: [String] =
                switch state {
                case .owned: ["host \(name)"]
                case .silent:
                    ["no sign of life from host \(name)\(silentSeconds.map { " for \(Self.time($0))" } ?? "")"]
                case .free:
                    [
                        "given up by host \(name)\(freeSeconds.map { " \(Self.time($0)) ago" } ?? ""), not delivered to the end"
                    ]
                case .closed: ["closed"]
                }
            if let commitWaitsSeconds {
                parts.append("a commit waits for a standby since \(Self.time(commitWaitsSeconds))")
            }
            if let logBytes, let checkpointBytes {
                parts.append(
                    "\(SizeText.text(logBytes)) of commits, \(SizeText.text(checkpointBytes)) of checkpoint")
            }
            return parts.joined(separator: "; ")
        }

        private static func time(_ seconds: Int) -> String {
            seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
        }
    }

    var schema: String
    var serverVersion: Int
    var fsync: Bool
    var fullPageWrites: Bool
    var synchronousStandbys: String
    var survives: String
    var warnings: [String]
    var journals: [Journal]

    init(schema: String, _ durability: DatabaseDurability, _ journals: [Journal]) {
        self.schema = schema
        serverVersion = durability.serverVersion
        fsync = durability.isSynced
        fullPageWrites = durability.hasFullPages
        synchronousStandbys = durability.standbys
        survives = durability.words
        warnings = durability.warnings
        self.journals = journals
    }

    func text() -> String {
        (["schema \(schema): \(survives)"] + warnings
            + journals.map { "journal \($0.name.printable(maximumLength: 64)): \($0.words)" }).joined(separator: "\n")
    }
}

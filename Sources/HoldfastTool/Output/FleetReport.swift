internal import Holdfast
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastService

/// The journals of a fleet, and what its database survives. The names of its properties are those of the JSON.
struct FleetReport: Encodable {
    typealias State = FleetJournalState

    struct Journal: Encodable {
        var id: Int32
        var name: String
        var host: String?
        var state: State
        /// How long a silent owner has not renewed its lease; nil where the server does not say.
        var silentSeconds: Int?
        /// How long a journal that was given up has had no owner; nil where that is not known.
        var freeSeconds: Int?
        /// How long a journal that was closed has been so; nil where that is not known.
        var closedSeconds: Int?
        /// When notifications were accepted that it may lack, since their host was lost with commits; nil where it lacks nothing.
        var mayLack: Loss?
        /// How long a commit waits for a standby; nil where none does, and where the server does not say.
        var commitWaitsSeconds: Int?
        var epoch: Int64
        /// `nil` for who may not ask, and so are the bytes.
        var commits: UInt64?
        var logBytes: Int?
        var checkpointBytes: Int?

        struct Loss: Encodable {
            var from: String?
            var to: String
            fileprivate let words: String

            init(_ loss: LossWindow) {
                (from, to) = (loss.from.map(Timestamp.format), Timestamp.format(loss.to))
                words = loss.words
            }

            private enum CodingKeys: String, CodingKey { case from, to }
        }

        init(_ journal: ListedJournal, before: ListedJournal?) {
            (id, name, host, epoch) = (journal.id, journal.name, journal.host, journal.sighting.epoch)
            if journal.sighting.isFree {
                state = journal.isLeft ? .free : .closed
            } else {
                state = journal.sighting != before?.sighting ? .owned : journal.isClosed ? .closed : .silent
            }
        }

        mutating func add(_ state: LogState?) {
            guard let state else { return }
            (commits, logBytes, checkpointBytes) = (state.last, state.logByteCount, state.checkpointByteCount)
        }

        var words: String {
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
                case .closed:
                    host == nil
                        ? ["not taken by a host yet"]
                        : [
                            "closed\(closedSeconds.map { " \(Self.time($0)) ago" } ?? "") by host \(name), delivered "
                                + (mayLack == nil ? "to the end" : "as far as the database has it")
                        ]
                }
            if let mayLack {
                parts.append(
                    "ITS LAST COMMITS MAY BE LOST: what a host that was lost had accepted \(mayLack.words) may be missing"
                )
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
    var hints: [String]
    var journals: [Journal]
    /// The servers of the connection string; nil where it names one.
    var servers: [Server]?

    /// A server, asked by itself.
    struct Server: Encodable {
        enum State: String, Encodable {
            /// It can be written to.
            case primary
            case standby
            case unreachable
        }

        var place: String
        var state: State
        /// Counts promotions; nil where the server does not say it.
        var timeline: UInt32?
        var error: String?

        init(_ server: SurveyedServer) {
            place = server.place
            switch server.state {
            case .primary(let sight): (state, timeline) = (.primary, sight?.timeline)
            case .standby: state = .standby
            case .unreachable(let failure): (state, error) = (.unreachable, failure.description)
            }
        }

        fileprivate var words: String {
            switch state {
            case .primary: "can be written to" + (timeline.map { ", timeline \($0)" } ?? "")
            case .standby: "is a standby"
            case .unreachable: "can't be asked: \(error ?? "it does not answer")"
            }
        }
    }

    /// Servers of one cluster that can be written to at once, in a sentence with what to do; nil where there are none.
    static func words(of rivals: [ServerSight]) -> String? {
        guard let newest = rivals.first, rivals.count > 1 else { return nil }
        let list = rivals.map { "\($0.place) on timeline \($0.timeline)" }.joined(separator: ", ")
        let advice =
            rivals.contains { $0.timeline < newest.timeline }
            ? "\(newest.place) was promoted last. Unless that was a mistake, stop the other at once, which is an old primary"
            : "Find out to which of them hosts are connected, and stop the other at once"
        return
            "Two servers of one cluster can be written to: \(list). Hosts may be with one or with the other, and what one of them "
            + "has the other lacks. \(advice), and make it a standby by pg_rewind or a new base backup."
    }

    mutating func add(_ servers: [SurveyedServer]) {
        guard !servers.isEmpty else { return }
        self.servers = servers.map(Server.init)
        if let words = Self.words(of: servers.rivals) {
            warnings.insert(words, at: 0)
            hasRivals = true
        }
    }

    /// - Parameter refusal: why nothing can be written.
    mutating func add(readOnly refusal: PQError) {
        let advice = refusal.advice.map { " \($0)." } ?? ""
        warnings.insert(
            "Nothing can be written: \(refusal.message), and hosts with such a role take nothing.\(advice)", at: 0)
    }

    /// Whether two servers can be written to.
    private(set) var hasRivals = false

    private enum CodingKeys: String, CodingKey {
        case schema, serverVersion, fsync, fullPageWrites, synchronousStandbys, survives, warnings, hints, journals,
            servers
    }

    init(schema: String, _ durability: DatabaseDurability, _ journals: [Journal]) {
        self.schema = schema
        serverVersion = durability.serverVersion
        fsync = durability.isSynced
        fullPageWrites = durability.hasFullPages
        synchronousStandbys = durability.standbys
        survives = durability.words
        warnings = durability.warnings
        hints = durability.hints
        self.journals = journals
    }

    func text() -> String {
        (["schema \(schema): \(survives)"] + warnings + hints
            + (servers ?? []).map { "server \($0.place): \($0.words)" }
            + journals.map { "journal \($0.name.printable(maximumLength: 64)): \($0.words)" }).joined(separator: "\n")
    }
}

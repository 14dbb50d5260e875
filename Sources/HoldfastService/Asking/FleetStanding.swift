package import Holdfast
package import HoldfastControl
package import HoldfastPostgres

/// How a fleet stands: its journals, what is wrong first, and its orders. The names of its properties are those of the JSON.
package struct FleetStanding: Encodable, Sendable {
    /// The worst of a journal.
    package enum Severity: String, Encodable, Comparable, CaseIterable, Sendable {
        case fine
        /// An operator's own doing.
        case notice
        case warning
        case fault

        package static func < (first: Severity, second: Severity) -> Bool {
            // Both are in the list of all cases.
            allCases.firstIndex(of: first)! < allCases.firstIndex(of: second)!
        }
    }

    package struct Journal: Encodable, Sendable {
        package var journal: String
        /// That has it, or had it last; `nil` before the first.
        package var host: String?
        package var number: Int32
        /// Whether the host that is asked accepts into it.
        package var isOwn: Bool
        /// The host that it was taken over from; `nil` where the host that it is named after has it.
        package var takenFrom: String?
        package var state: FleetJournalState
        package var severity: Severity
        /// How long a silent owner has not renewed its lease.
        package var silentSeconds: Int?
        /// How long it has had no owner; `nil` where that is not known.
        package var freeSeconds: Int?
        /// Why its owner tells nothing now; `nil` where it does.
        package var error: String?
        /// When its owner told the rest; `nil` where it never did since this process began.
        package var answeredAt: ExactTime?
        package var unconfirmed: Int?
        package var oldestAcceptedAt: ExactTime?
        /// Lanes that stand still.
        package var lanes: [LaneForm]?
        package var pausedTags: [PausedTagForm]?
        /// Faults and warnings.
        package var conditions: [ConditionForm]?
    }

    /// What the owner of a journal has told.
    package struct Told: Sendable {
        package var status: DeskStatus
        package var at: WallTime

        package init(_ status: DeskStatus, at: WallTime) { (self.status, self.at) = (status, at) }
    }

    /// What was asked for, beside the journals that there are.
    package struct Asked: Sendable {
        /// The last answers, by the numbers of the journals.
        package var told: [Int32: Told] = [:]
        /// Why owners did not answer at last.
        package var failures: [Int32: String] = [:]
        package var orders: [FleetOrder] = []
        /// For how many seconds journals have had no owner.
        package var releases: [Int32: Int] = [:]
        package var at: WallTime?
        /// Why orders are not known, or are those of before.
        package var trouble: String?

        package init() {}
    }

    /// The host that is asked, and the journal that it accepts into.
    package var host: String
    package var journal: String
    /// The number of hosts that the rates of routes are divided among.
    package var hosts: Int
    package var journals: [Journal]
    /// Journals that were given up empty; nobody can be asked for what has ended in them.
    package var closed: Int
    package var orders: [FleetOrderRow]
    /// When this host has looked for the journals; `nil` before the first time.
    package var lookedAt: ExactTime?
    /// When owners were asked; `nil` before the first time.
    package var askedAt: ExactTime?
    /// Why the database does not say more; `nil` where it does.
    package var trouble: String?

    /// - Parameters:
    ///   - host: that is asked.
    ///   - own: the number of the journal that it accepts into.
    package init(host: String, own: Int32, _ sightings: FleetSightings, _ asked: Asked) {
        self.host = host
        journal = sightings.journals.first { $0.id == own }?.name ?? ""
        hosts = sightings.hosts
        orders = asked.orders.map { FleetOrderRow($0) }
        lookedAt = sightings.at.map { ExactTime($0) }
        askedAt = asked.at.map { ExactTime($0) }
        trouble = sightings.trouble ?? asked.trouble
        let all = sightings.journals.map { Journal($0, own: own, sightings, asked) }
        journals = all.filter { $0.state != .closed }.sorted { one, other in
            one.severity == other.severity ? one.journal < other.journal : one.severity > other.severity
        }
        closed = all.count { $0.state == .closed }
    }
}

extension FleetStanding.Journal {
    init(_ listed: ListedJournal, own: Int32, _ sightings: FleetSightings, _ asked: FleetStanding.Asked) {
        (journal, host, number, isOwn) = (listed.name, listed.host, listed.id, listed.id == own)
        takenFrom = !listed.sighting.isFree && !listed.isOfItsHost ? listed.namesake : nil
        silentSeconds = sightings.silence[listed.id].map { Int($0 / .seconds(1)) }
        if listed.sighting.isFree {
            state = listed.isLeft ? .free : .closed
            freeSeconds = asked.releases[listed.id]
        } else {
            state = silentSeconds == nil ? .owned : listed.isClosed ? .closed : .silent
        }
        error = state == .owned ? asked.failures[listed.id] : nil
        severity = state == .owned && error == nil ? .fine : .fault
        if let told = asked.told[listed.id] { take(told) }
    }

    private mutating func take(_ told: FleetStanding.Told) {
        let status = told.status
        answeredAt = ExactTime(told.at)
        unconfirmed = status.lanes.reduce(0) { $0 + $1.unconfirmed }
        oldestAcceptedAt = status.lanes.compactMap(\.oldestAcceptedAt).min().map { ExactTime($0) }
        let still = status.lanes.map { LaneRow($0, status).lane }.filter { $0.state != "running" }
        let conditions = (status.conditions ?? []).filter { $0.severity != .notice && $0.journal == nil }
        lanes = still.isEmpty ? nil : still
        pausedTags = status.pausedTags.isEmpty ? nil : status.pausedTags.map { PausedTagForm($0) }
        self.conditions = conditions.isEmpty ? nil : conditions.map { ConditionForm($0) }
        var worst = FleetStanding.Severity.fine
        if !still.isEmpty || !status.pausedTags.isEmpty { worst = .notice }
        if conditions.contains(where: { $0.severity == .warning }) { worst = .warning }
        if conditions.contains(where: { $0.severity == .fault }) || still.contains(where: { $0.state == "stopped" }) {
            worst = .fault
        }
        severity = max(severity, worst)
    }
}

internal import Holdfast
internal import HoldfastControl

/// What became of each notification of one sending: counted, and told in a report where one is wanted.
actor SendLedger {
    /// The ends of this sending's notifications, as far as they are known.
    struct Counts: Sendable {
        var confirmed = 0
        var rejected: [String: Int] = [:]
        var expired = 0
        var unknown = 0
        var withdrawn = 0
        var superseded = 0
        /// Nobody knows how they ended, or whether they were taken.
        var untold = 0
    }

    /// Where each notification stands; nil where nothing is known of it.
    typealias Fates = @Sendable ([UID]) async throws(ToolError) -> [EntryFate?]

    /// Notifications without an outcome.
    struct Standing: Sendable {
        var open = 0
        /// Of them, those that wait for their time.
        var scheduled = 0
    }

    /// The shortest time between two checkpoints.
    private static let interval = Duration.milliseconds(200)
    /// The most of which it is asked at once where they stand.
    private static let page = 1000

    nonisolated let ids: LineIDs
    private let file: ReportFile?
    private var index = ReportIndex()
    private var lines = 0
    private var offset: UInt64 = 0
    private var part: Int?
    private(set) var cursor: OutcomeCursor
    private(set) var counts = Counts()
    private(set) var missed = 0
    /// Whether a batch is on its way: outcomes of what it has may come before it is known which they are.
    private var isTaking = false
    private var lastCheckpoint = ContinuousClock.now
    /// Why the report is not written any more.
    private(set) var failure: ToolError?

    /// - Parameters:
    ///   - file: nil for none.
    ///   - cursor: outcomes of this sending come behind it; without a file, which knows one itself.
    init(_ file: sending ReportFile?, ids: LineIDs, from cursor: OutcomeCursor) throws(ToolError) {
        self.ids = ids
        self.file = file
        self.cursor = cursor
        guard let file else { return }
        (lines, offset, part) = (file.state.lines, file.state.offset, file.state.part)
        self.cursor = OutcomeCursor(file.state.cursor)
        var index = ReportIndex()
        try file.cut()
        try file.replay { (record) throws(ToolError) in
            index.append(record.uid)
        } line: { (line, uid) throws(ToolError) in
            for number in index.records(of: uid) where try file.record(number).line == line { _ = index.end(number) }
        }
        self.index = index
    }

    /// Notifications without an outcome.
    var open: Int { index.open }

    // MARK: Taking

    /// A batch goes to the journal.
    func willTake() throws(ToolError) {
        if let failure { throw failure }
        isTaking = true
    }

    func didNotTake() { isTaking = false }

    /// A batch was taken.
    ///
    /// - Parameter receipts: of its notifications, in order.
    func took(_ batch: NotificationInput.Batch, _ receipts: [Receipt]) throws(ToolError) {
        defer { isTaking = false }
        try writing { () throws(ToolError) in
            for (line, fault) in batch.faults { try file?.append(try ReportLine.malformed(fault, line: line)) }
            for (position, receipt) in receipts.enumerated() {
                try note(receipt, of: batch.notifications[position], line: batch.lines[position])
            }
            (lines, offset, part) = (batch.lineCount, batch.offset, batch.part)
            try checkpointIfDue()
        }
    }

    private func note(_ receipt: Receipt, of notification: PushNotification, line: Int) throws(ToolError) {
        switch receipt {
        case .accepted(let uid): note(uid, notification.id, line: line)
        case .repeated(let uid, let end):
            try file?.append(try ReportLine.repeated(uid, end, notification, line: line))
        case .refused(let refusal):
            try file?.append(
                try ReportLine.refused(
                    notification.recipient, notification.id, refusal.reason.rawValue, refusal.detail, line: line))
        case .undetermined(let error): try tellNothing(of: notification, error.message, line: line)
        }
    }

    private func tellNothing(of notification: PushNotification, _ why: String, line: Int) throws(ToolError) {
        counts.untold += 1
        try file?.append(try ReportLine.untold(notification, why, line: line))
    }

    private func note(_ uid: UID, _ id: NotificationID?, line: Int) {
        index.append(uid)
        file?.append(ReportRecord(line: line, uid: uid, id: id ?? NotificationID(high: 0, low: 0)))
    }

    /// Adds what a crash left between the journal and the report.
    func recover(_ lost: LostReceipts.Found) throws(ToolError) {
        try writing { () throws(ToolError) in
            for (line, fault) in lost.faults { try file?.append(try ReportLine.malformed(fault, line: line)) }
            for item in lost.items {
                if let uid = item.uid {
                    note(uid, item.notification.id, line: item.line)
                } else if item.isUntold {
                    try tellNothing(of: item.notification, item.detail, line: item.line)
                } else {
                    try file?.append(
                        try ReportLine.refused(
                            item.notification.recipient, item.notification.id, item.reason?.rawValue, item.detail,
                            line: item.line))
                }
            }
            (lines, offset, part) = (lost.progress.lines, lost.progress.offset, lost.progress.part)
            try checkpoint()
        }
    }

    // MARK: Outcomes

    /// Takes outcomes in their order.
    ///
    /// - Returns: false where it can't take all of them yet, since a batch is on its way.
    func absorb(_ listing: OutcomeListing) throws(ToolError) -> Bool {
        try writing { () throws(ToolError) in
            missed += listing.missed
            for outcome in listing.outcomes where outcome.cursor > cursor {
                let records = index.records(of: outcome.uid)
                guard !records.isEmpty || !isTaking else { return false }
                for record in records where index.end(record) {
                    count(outcome.terminal)
                    if let file {
                        try file.append(try ReportLine.ended(outcome, line: try file.record(record).line))
                    }
                }
                cursor = outcome.cursor
            }
            cursor = max(cursor, listing.end)
            try checkpointIfDue()
            return true
        }
    }

    private func count(_ end: TerminalOutcome) {
        switch end {
        case .confirmed: counts.confirmed += 1
        case .rejected(let reason): counts.rejected[reason.rawValue, default: 0] += 1
        case .expired: counts.expired += 1
        case .unknown: counts.unknown += 1
        case .withdrawn: counts.withdrawn += 1
        case .superseded: counts.superseded += 1
        }
    }

    // MARK: What is open

    /// Some that have no outcome yet, from a place on, and the place behind them.
    func waiting(from place: Int, limit: Int) -> (uids: [UID], next: Int) {
        let found = index.open(from: place, limit: limit)
        return (found.map(index.uid), (found.last ?? place - 1) + 1)
    }

    /// Notifications that have ended.
    var told: Int { index.count - index.open }

    /// What has ended without an outcome that can be read, as its fate says.
    func settle(_ uid: UID, _ end: TerminalOutcome?) throws(ToolError) {
        for number in index.records(of: uid) where index.end(number) {
            if let end { count(end) } else { counts.untold += 1 }
            guard let file else { continue }
            try file.append(
                try ReportLine.standing(try file.record(number), end.map { .settled($0) }) { _ in nil })
        }
    }

    // MARK: The end

    /// Removes a report that nothing is in.
    func discardIfEmpty() throws(ToolError) {
        if lines == 0, part == nil { try file?.discard() }
    }

    /// Gives up a sending of which nothing was taken: another run may write its report.
    func abandon() throws(ToolError) {
        try discardIfEmpty()
        file?.close()
    }

    /// Writes the rest of the report: a line for each notification without an outcome, which the next run replaces.
    ///
    /// - Parameters:
    ///   - isWhole: whether the input was taken to its end.
    ///   - fates: where notifications stand.
    ///   - troubles: why lanes stand still.
    func finish(isWhole: Bool, fates: Fates, troubles: [LaneKey: String]) async throws(ToolError) -> Standing {
        if let failure { throw failure }
        do throws(ToolError) {
            try await eachOpen(fates) { (number, fate) throws(ToolError) in
                switch fate {
                case nil: try settle(index.uid(number), nil)
                case .settled(let end)?: try settle(index.uid(number), end)
                default: break
                }
            }
            try checkpoint()
            var standing = Standing()
            try await eachOpen(fates) { (number, fate) throws(ToolError) in
                standing.open += 1
                if case .scheduled? = fate { standing.scheduled += 1 }
                guard let file else { return }
                try file.append(try ReportLine.standing(try file.record(number), fate, trouble: { troubles[$0] }))
            }
            try file?.finish()
            if isWhole, index.open == 0 { try file?.complete() }
            file?.close()
            return standing
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    private func eachOpen(
        _ fates: Fates, _ body: (Int, EntryFate?) throws(ToolError) -> Void
    ) async throws(ToolError) {
        var next = 0
        while case let page = index.open(from: next, limit: Self.page), let last = page.last {
            for (number, fate) in zip(page, try await fates(page.map(index.uid))) { try body(number, fate) }
            next = last + 1
        }
    }

    private func checkpointIfDue() throws(ToolError) {
        if ContinuousClock.now - lastCheckpoint >= Self.interval { try checkpoint() }
    }

    private func checkpoint() throws(ToolError) {
        try file?.checkpoint(lines: lines, offset: offset, part: part, cursor: cursor)
        lastCheckpoint = ContinuousClock.now
    }

    private func writing<R>(_ body: () throws(ToolError) -> R) throws(ToolError) -> R {
        do throws(ToolError) { return try body() } catch {
            failure = failure ?? error
            throw error
        }
    }
}

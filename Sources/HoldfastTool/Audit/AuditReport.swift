internal import Holdfast

/// What a push service took, against what was to be sent. The names of its properties are those of its JSON.
struct AuditReport: Encodable, Equatable {
    /// Notifications in the input; malformed lines and those that `send` would refuse are not among them.
    var expected = 0
    /// Lines of the ledgers: how often any notification was taken.
    var taken = 0
    /// Notifications of the input that were taken, once or more often.
    var accepted = 0
    /// Notifications of the input that were never taken.
    var lost = 0
    /// How often a notification was taken after its first time.
    var duplicates = 0
    /// Notifications that were taken and are not in the input.
    var unexpected = 0
    /// Lines of the ledgers that are torn or damaged.
    var damaged = 0

    /// - Throws: ``ToolError`` when the input or a ledger cannot be read.
    init(comparing input: InputFile, with ledgers: [InputFile]) async throws(ToolError) {
        var ledger = LedgerIndex()
        for file in ledgers { try await ledger.read(file) }
        taken = ledger.lineCount
        damaged = ledger.damagedCount
        duplicates = ledger.lineCount - ledger.distinctCount

        // Those without an apns-id of their own got one at submission: any that their token has left over will do.
        var anonymous: [DeviceToken: Int] = [:]
        try await Self.forEachNotification(of: input) { notification in
            expected += 1
            if let id = notification.id {
                if ledger.take(id, notification.token) { accepted += 1 }
            } else {
                anonymous[notification.token, default: 0] += 1
            }
        }
        for (token, count) in anonymous {
            let found = min(count, ledger.remaining(of: token))
            ledger.take(found, of: token)
            accepted += found
        }
        lost = expected - accepted
        unexpected = ledger.remainingCount
    }

    func text() -> String {
        var rows = [
            ("expected", Format.count(expected), "notifications in the input"),
            ("accepted", Format.count(accepted), "of them by the push service"),
            ("lost", Format.count(lost), ""),
            ("duplicates", Format.count(duplicates), "taken again"),
        ]
        if unexpected > 0 { rows.append(("unexpected", Format.count(unexpected), "not in the input")) }
        if damaged > 0 { rows.append(("damaged", Format.count(damaged), "lines of the ledger")) }
        return DeliverySummary.table(rows)
    }

    private static func forEachNotification(
        of file: InputFile, _ body: (PushNotification) -> Void
    ) async throws(ToolError) {
        // The topic does not matter here, and what has expired since was not expired when it was sent.
        var input = NotificationInput(file, defaultTopic: "any")
        let validator = NotificationValidator()
        while true {
            let batch = try await input.next()
            for notification in batch.notifications {
                do throws(Refusal) {
                    try validator.validate(notification, now: WallTime(seconds: 0))
                } catch {
                    continue
                }
                body(notification)
            }
            if batch.isLast { break }
        }
    }
}

/// What is in a mock's ledgers: one line of JSON for each time a notification was taken.
struct LedgerIndex {
    private struct Key: Hashable {
        let id: NotificationID
        let token: DeviceToken
    }

    private(set) var lineCount = 0
    private(set) var damagedCount = 0
    private(set) var distinctCount = 0
    /// Those that nothing in the input has claimed yet.
    private var unclaimed: Set<Key> = []
    private var seen: Set<Key> = []
    private var unclaimedByToken: [DeviceToken: Int] = [:]

    mutating func read(_ file: InputFile) async throws(ToolError) {
        var splitter = LineSplitter()
        while true {
            while let line = splitter.next() {
                guard !line.range.isEmpty || line.isTooLong else { continue }
                take(splitter.bytes, line.range)
            }
            let data = try await file.source.read(name: file.name)
            if data.isEmpty { break }
            splitter.append(data)
        }
        // A line without its end is one that a killed mock did not finish, and so never answered.
        splitter.finish()
        if splitter.next() != nil { damagedCount += 1 }
    }

    private mutating func take(_ bytes: [UInt8], _ range: Range<Int>) {
        guard let key = Self.key(bytes, range) else {
            damagedCount += 1
            return
        }
        lineCount += 1
        guard seen.insert(key).inserted else { return }
        distinctCount += 1
        unclaimed.insert(key)
        unclaimedByToken[key.token, default: 0] += 1
    }

    private static func key(_ bytes: [UInt8], _ range: Range<Int>) -> Key? {
        var id: NotificationID?
        var token: DeviceToken?
        do {
            var members = try JSONMembers(bytes.span, in: range)
            while let member = try members.next(bytes.span) {
                if JSONScanner.isString(bytes.span, in: member.name, equalTo: "apns-id") {
                    id = NotificationID(try JSONScanner.string(bytes.span, in: member.value.range))
                } else if JSONScanner.isString(bytes.span, in: member.name, equalTo: "token") {
                    token = try DeviceToken(try JSONScanner.string(bytes.span, in: member.value.range))
                }
            }
        } catch {
            return nil
        }
        guard let id, let token else { return nil }
        return Key(id: id, token: token)
    }

    /// Claims one notification; false when it was never taken, or is claimed already.
    mutating func take(_ id: NotificationID, _ token: DeviceToken) -> Bool {
        guard unclaimed.remove(Key(id: id, token: token)) != nil else { return false }
        unclaimedByToken[token, default: 0] -= 1
        return true
    }

    func remaining(of token: DeviceToken) -> Int { unclaimedByToken[token] ?? 0 }

    /// Claims some of a token, whatever their ids.
    mutating func take(_ count: Int, of token: DeviceToken) { unclaimedByToken[token, default: 0] -= count }

    var remainingCount: Int { unclaimedByToken.values.reduce(0, +) }
}

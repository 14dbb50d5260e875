internal import Holdfast
internal import HoldfastMockAPNs
internal import HoldfastMockFCM
internal import HoldfastService

/// The content of mocks' ledgers: one line of JSON for each time a notification was taken.
struct LedgerIndex {
    private struct Key: Hashable {
        let mark: LedgerLine.Mark
        let recipient: Recipient
    }

    private(set) var lineCount = 0
    private(set) var damagedCount = 0
    /// The damage, a sentence for each file, for people.
    private(set) var damages: [String] = []
    /// The files, each of one service.
    private var files: [(name: String, service: LedgerLine.Service)] = []
    private var distinctIDCount = 0
    /// The lines with ids that nothing in the input has claimed yet.
    private var unclaimed: Set<Key> = []
    private var seen: Set<Key> = []
    private var unclaimedByRecipient: [Recipient: Int] = [:]
    /// The same of ids that the input does not have.
    private var unclaimedForeign: [Recipient: Int] = [:]
    private var payloads: [Key: Copies] = [:]

    /// Without an id a notification is its payload and its recipient. The same may be sent twice on purpose, so how many are too
    /// many shows when the input has claimed its own.
    private struct Copies {
        var lines = 0
        var claimed = 0
    }

    /// Different notifications taken.
    var distinctCount: Int { distinctIDCount + payloads.values.reduce(0) { $0 + max(1, $1.claimed) } }

    /// - Throws: ``ToolError`` when the file can't be read, or is no ledger of one mock.
    mutating func read(_ file: InputFile) async throws(ToolError) {
        var splitter = LineSplitter()
        var reading = Reading(name: file.name)
        while true {
            while let line = splitter.next() {
                guard !line.range.isEmpty || line.isTooLong else { continue }
                let read = LedgerLine(splitter.bytes, line.range)
                try reading.note(read, number: line.number)
                if let read { take(read) }
            }
            let data = try await file.source.read(name: file.name)
            if data.isEmpty { break }
            splitter.append(data)
        }
        // A line without its end is one that a killed mock did not finish, and so never answered.
        splitter.finish()
        reading.isTorn = splitter.next() != nil
        damagedCount += reading.damagedCount + (reading.isTorn ? 1 : 0)
        damages += try reading.damages()
        if let service = reading.service { files.append((file.name, service)) }
    }

    private mutating func take(_ line: LedgerLine) {
        lineCount += 1
        let key = Key(mark: line.mark, recipient: line.recipient)
        if case .digest = line.mark {
            payloads[key, default: Copies()].lines += 1
            return
        }
        guard seen.insert(key).inserted else { return }
        distinctIDCount += 1
        if case .foreign = line.mark {
            unclaimedForeign[line.recipient, default: 0] += 1
        } else {
            unclaimed.insert(key)
            unclaimedByRecipient[line.recipient, default: 0] += 1
        }
    }

    /// - Parameter services: those that the input is for; empty for an input without notifications.
    /// - Throws: ``ToolError`` for a ledger that has nothing to do with the input.
    func check(_ services: Set<LedgerLine.Service>, of input: String) throws(ToolError) {
        guard !services.isEmpty, let other = files.first(where: { !services.contains($0.service) }) else { return }
        throw ToolError(
            .badInput,
            "\(other.name) is the ledger of \(other.service.words.mock), and no line of \(input) is for "
                + "\(other.service.words.name): give the ledger of the mock that \(input) was sent to")
    }

    // MARK: Claims

    /// Claims one notification; false when it was never taken, or is claimed already.
    mutating func take(_ notification: PushNotification) -> Bool {
        let recipient = notification.recipient
        if let id = notification.id, unclaimed.remove(Key(mark: .id(id), recipient: recipient)) != nil {
            unclaimedByRecipient[recipient, default: 0] -= 1
            return true
        }
        guard !payloads.isEmpty, let digest = Self.digest(of: notification) else { return false }
        let key = Key(mark: .digest(digest), recipient: recipient)
        guard let copies = payloads[key], copies.claimed < copies.lines else { return false }
        payloads[key]?.claimed += 1
        return true
    }

    private static func digest(of notification: PushNotification) -> UInt64? {
        guard notification.recipient.serviceAddress != nil else {
            return PayloadMark.digest(of: notification.payload.span)
        }
        return MessageMark.digest(of: notification.payload).flatMap { UInt64($0.prefix(16), radix: 16) }
    }

    /// Claims notifications to a recipient by nothing else, as many as there are.
    ///
    /// - Parameter haveIDs: only those are claimed whose ids the input does not have.
    /// - Returns: how many there were.
    mutating func take(_ count: Int, of recipient: Recipient, haveIDs: Bool) -> Int {
        let known = haveIDs ? 0 : min(count, unclaimedByRecipient[recipient] ?? 0)
        let foreign = min(count - known, unclaimedForeign[recipient] ?? 0)
        unclaimedByRecipient[recipient, default: 0] -= known
        unclaimedForeign[recipient, default: 0] -= foreign
        return known + foreign
    }

    var remainingCount: Int {
        unclaimedByRecipient.values.reduce(0, +) + unclaimedForeign.values.reduce(0, +)
            + payloads.values.count { $0.claimed == 0 }
    }
}

extension LedgerIndex {
    /// The service and the damage of one file, as its lines show them.
    private struct Reading {
        let name: String
        private(set) var service: LedgerLine.Service?
        private(set) var damagedCount = 0
        private var firstDamaged = 0
        /// Its last line has no end.
        var isTorn = false

        init(name: String) { self.name = name }

        mutating func note(_ line: LedgerLine?, number: Int) throws(ToolError) {
            guard let line else {
                if damagedCount == 0 { firstDamaged = number }
                damagedCount += 1
                return
            }
            if let service, service != line.service {
                throw ToolError(
                    .badInput,
                    "line \(number) of \(name) is of \(line.service.words.mock), and those before are of "
                        + "\(service.words.mock): give each mock a ledger of its own, and all of them to this command")
            }
            service = line.service
        }

        func damages() throws(ToolError) -> [String] {
            var found: [String] = []
            if damagedCount > 0 {
                guard service != nil else {
                    throw ToolError(
                        .badInput,
                        "\(name) is no ledger: line \(firstDamaged) is none that a mock writes, and neither is another; give the "
                            + "file that `holdfast mock http2`, `mock binary` or `mock fcm` was given with --ledger")
                }
                found.append(
                    "\(Format.count(damagedCount)) of the lines of \(name) are damaged, the first is line \(firstDamaged): "
                        + "what they say was taken counts as lost")
            }
            if isTorn {
                found.append(
                    "the last line of \(name) has no end and does not count: its mock was killed, or is still writing; "
                        + "stop the mock before the audit")
            }
            return found
        }
    }
}

internal import Holdfast
internal import HoldfastMockAPNs

/// The content of a mock's ledgers: one line of JSON for each time a notification was taken.
struct LedgerIndex {
    private struct Key: Hashable {
        let id: NotificationID
        let recipient: Recipient
    }

    private(set) var lineCount = 0
    private(set) var damagedCount = 0
    private var distinctIDCount = 0
    /// The lines that nothing in the input has claimed yet.
    private var unclaimed: Set<Key> = []
    private var seen: Set<Key> = []
    private var unclaimedByRecipient: [Recipient: Int] = [:]
    private var payloads: [PayloadKey: Copies] = [:]

    /// Over the binary protocol there is no apns-id: a notification is its payload and its token. The same may be sent
    /// twice on purpose, so how many are too many shows when the input has claimed its own.
    private struct PayloadKey: Hashable {
        let digest: UInt64
        let recipient: Recipient
    }

    private struct Copies {
        var lines = 0
        var claimed = 0
    }

    private enum Line {
        case identified(Key)
        case digested(PayloadKey)
    }

    /// Different notifications taken.
    var distinctCount: Int { distinctIDCount + payloads.values.reduce(0) { $0 + max(1, $1.claimed) } }

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
        guard let line = Self.line(bytes, range) else {
            damagedCount += 1
            return
        }
        lineCount += 1
        guard case .identified(let key) = line else {
            if case .digested(let key) = line { payloads[key, default: Copies()].lines += 1 }
            return
        }
        guard seen.insert(key).inserted else { return }
        distinctIDCount += 1
        unclaimed.insert(key)
        unclaimedByRecipient[key.recipient, default: 0] += 1
    }

    private static func line(_ bytes: [UInt8], _ range: Range<Int>) -> Line? {
        var id: NotificationID?
        var digest: UInt64?
        var recipient: Recipient?
        do {
            var members = try JSONMembers(bytes.span, in: range)
            while let member = try members.next(bytes.span) {
                if JSONScanner.isString(bytes.span, in: member.name, equalTo: "apns-id") {
                    id = NotificationID(try JSONScanner.string(bytes.span, in: member.value.range))
                } else if JSONScanner.isString(bytes.span, in: member.name, equalTo: "payload") {
                    digest = UInt64(try JSONScanner.string(bytes.span, in: member.value.range), radix: 16)
                } else if JSONScanner.isString(bytes.span, in: member.name, equalTo: "token") {
                    recipient = .device(try DeviceToken(try JSONScanner.string(bytes.span, in: member.value.range)))
                } else if JSONScanner.isString(bytes.span, in: member.name, equalTo: "channel") {
                    recipient = .channel(
                        try BroadcastChannel(try JSONScanner.string(bytes.span, in: member.value.range)))
                }
            }
        } catch {
            return nil
        }
        guard let recipient else { return nil }
        if let id { return .identified(Key(id: id, recipient: recipient)) }
        return digest.map { .digested(PayloadKey(digest: $0, recipient: recipient)) }
    }

    /// Claims one notification; false when it was never taken, or is claimed already.
    mutating func take(_ id: NotificationID, _ recipient: Recipient) -> Bool {
        guard unclaimed.remove(Key(id: id, recipient: recipient)) != nil else { return false }
        unclaimedByRecipient[recipient, default: 0] -= 1
        return true
    }

    /// The same for a ledger of the binary protocol.
    mutating func take(payload: [UInt8], _ recipient: Recipient) -> Bool {
        guard !payloads.isEmpty else { return false }
        let key = PayloadKey(digest: PayloadMark.digest(of: payload.span), recipient: recipient)
        guard let copies = payloads[key], copies.claimed < copies.lines else { return false }
        payloads[key]?.claimed += 1
        return true
    }

    func remaining(of recipient: Recipient) -> Int { unclaimedByRecipient[recipient] ?? 0 }

    /// Claims lines of a recipient with any ids.
    mutating func take(_ count: Int, of recipient: Recipient) { unclaimedByRecipient[recipient, default: 0] -= count }

    var remainingCount: Int {
        unclaimedByRecipient.values.reduce(0, +) + payloads.values.count { $0.claimed == 0 }
    }
}

package import Holdfast
internal import HoldfastRequests

/// The events of a session, and whether it was allowed to tell them: each ticket is reported once, and only after it was
/// handed over; nothing comes behind the end; and the end calls possibly sent all that was written, and nothing else.
package struct SessionRecord {
    package private(set) var handedOut: Set<Ticket> = []
    /// What was handed over, in order, but for what was given back without having gone out.
    private var order: [Ticket] = []
    /// How many of them have begun to go out: a header block each.
    private var writtenCount = 0
    /// What the session has written of a frame whose rest is to come.
    private var wire: [UInt8] = []
    private var hasPreface = false
    package private(set) var confirmed: [Ticket] = []
    package private(set) var results: [Ticket: SendResult] = [:]
    package private(set) var told: [SendResult] = []
    package private(set) var stalls: [String] = []
    package private(set) var room: (capacity: Int, streams: Int)?
    package private(set) var isDraining = false
    package private(set) var isClosed = false
    package private(set) var connectError: ConnectError?
    package private(set) var end: ConnectionEnd?
    package var violations: [String] = []

    package init() {}

    package func result(_ ticket: UInt64) -> SendResult? { results[Ticket(rawValue: ticket)] }

    /// The tickets with this verdict, in order.
    package func tickets(_ verdict: SendResult.Verdict) -> [UInt64] {
        results.filter { $0.value.verdict == verdict }.map(\.key.rawValue).sorted()
    }

    /// Those that nobody has reported.
    package var unanswered: Set<Ticket> { handedOut.subtracting(confirmed).subtracting(results.keys) }

    /// The entries for the next tickets.
    package mutating func handOut(_ count: Int) -> HandOut {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        let first = UInt64(handedOut.count) + 1
        let tickets = (first..<first + UInt64(count)).map(Ticket.init(rawValue:))
        for ticket in tickets {
            let start = bytes.count
            // 32 bytes are a token.
            let token = DeviceToken(bytes: [UInt8](repeating: UInt8(ticket.rawValue & 0xFF), count: 32))!
            let notification = PushNotification(
                token: token, topic: "com.example.app", payload: Array(#"{"ticket":\#(ticket.rawValue)}"#.utf8))
            var random = Xoshiro256(seed: ticket.rawValue)
            PackedNotification.append(
                notification, id: NotificationID(using: &random), expiration: .at(1_900_000_000),
                acceptedAt: WallTime(milliseconds: 0), producer: "", to: &bytes)
            items.append(EntryBatch.Item(uid: UID(ticket.rawValue), attempts: 0, range: start..<bytes.count))
        }
        handedOut.formUnion(tickets)
        order += tickets
        return HandOut(entries: EntryBatch(bytes: bytes, items: items), tickets: tickets)
    }

    /// The ticket that a payload names; 0 for none.
    static func ticket(in payload: [UInt8]) -> Ticket {
        let digits = payload.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Ticket(rawValue: UInt64(String(decoding: digits, as: UTF8.self)) ?? 0)
    }

    /// Counts the header blocks among the frames that the session has written.
    mutating func written(_ bytes: some Sequence<UInt8>) {
        wire += bytes
        var start = 0
        if !hasPreface, wire.count >= 24 { (start, hasPreface) = (24, true) }
        while start + 9 <= wire.count {
            let length = Int(wire[start]) << 16 | Int(wire[start + 1]) << 8 | Int(wire[start + 2])
            guard start + 9 + length <= wire.count else { break }
            if wire[start + 3] == 1 { writtenCount += 1 }
            start += 9 + length
        }
        wire.removeFirst(start)
    }

    /// Looks at what the end has said of the tickets that were left. Once everything has been written.
    package mutating func checkEnd() {
        guard let possiblySent = end?.possiblySent.map(Set.init) else { return }
        let written = Set(order.prefix(writtenCount))
        for ticket in unanswered where possiblySent.contains(ticket) != written.contains(ticket) {
            violations.append("the end is wrong about ticket \(ticket.rawValue): \(writtenCount) were written")
        }
    }

    mutating func take(_ action: RequestAction<SendResult>) {
        if end != nil || connectError != nil { violations.append("\(action) comes behind the end") }
        switch action {
        case .opened(let capacity, let streams), .roomChanged(let capacity, let streams): room = (capacity, streams)
        case .confirmed(let tickets):
            answered(tickets)
            confirmed += tickets
        case .results(let pairs):
            answered(pairs.map(\.ticket))
            for (ticket, result) in pairs { results[ticket] = result }
            let returned = Set(pairs.map(\.ticket))
            order = Array(order.prefix(writtenCount)) + order.dropFirst(writtenCount).filter { !returned.contains($0) }
        case .told(let result): told.append(result)
        case .draining: isDraining = true
        case .stalled(let why): stalls.append(why)
        case .close: isClosed = true
        case .failed(let error): connectError = error
        case .ended(let possiblySent, let cause):
            for ticket in possiblySent where !unanswered.contains(ticket) {
                violations.append("the end names ticket \(ticket.rawValue), which was answered or never handed over")
            }
            end = ConnectionEnd(possiblySent: possiblySent, cause: cause)
        }
    }

    private mutating func answered(_ tickets: [Ticket]) {
        for ticket in tickets where !unanswered.contains(ticket) {
            violations.append("ticket \(ticket.rawValue) is answered again, or was never handed over")
        }
        if Set(tickets).count < tickets.count { violations.append("one event names a ticket twice") }
    }
}

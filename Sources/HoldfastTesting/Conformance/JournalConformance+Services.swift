internal import Holdfast

extension SampleNotification {
    /// Addresses at other services than Apple's: the same bytes under two kinds, all that follow a topic, a kind that nobody
    /// knows, bytes that are no text, and one longer than the keys of most databases.
    static let addresses: [ServiceAddress] = {
        let longest = "https://push.example/" + String(repeating: "x", count: ServiceAddress.maximumByteCount - 21)
        return [
            address(1, Array("same".utf8)), address(2, Array("same".utf8)), address(3, Array("weather".utf8)),
            address(4, Array("'a' in topics".utf8)), address(5, Array(longest.utf8)),
            // It differs in the last byte alone.
            address(5, Array(longest.utf8.dropLast()) + [UInt8(ascii: "y")]), address(200, [0, 0xFF, 0x20]),
        ]
    }()

    private static func address(_ kind: UInt8, _ bytes: [UInt8]) -> ServiceAddress {
        do throws(Refusal) {
            return try ServiceAddress(ServiceAddress.Kind(rawValue: kind), bytes: bytes)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// One for each of ``addresses``, in every form of payload, as it comes back from a journal.
    static let serviceNotifications: [PushNotification] = addresses.enumerated().map { index, address in
        let payloads: [([UInt8], PayloadKind)] = [
            (Array("{}".utf8), .json), ([0, 0xFF], .sealed), ([], .none), ([7], PayloadKind(rawValue: 77)),
        ]
        let (payload, payloadKind) = payloads[index % payloads.count]
        return PushNotification(
            address: address, topic: "project", payload: payload, payloadKind: payloadKind,
            priority: index.isMultiple(of: 2) ? .immediate : nil, expiration: .unstated(until: 4_000_000_000),
            collapseID: index.isMultiple(of: 3) ? "collapse" : nil, id: id(100 + index),
            registeredAt: index.isMultiple(of: 2) ? WallTime(milliseconds: 1_600_000_000_000) : nil,
            tag: Array("tag \(100 + index)".utf8))
    }

    /// The ``addresses`` that name a device.
    static var addressesOfDevices: [ServiceAddress] { addresses.filter { !$0.kind.isBroadcast } }
}

extension JournalBench {
    /// Appends ``SampleNotification/serviceNotifications``, each behind one of Apple's.
    ///
    /// - Returns: the UIDs of all, Apple's at even places.
    func appendMixed(lane: LaneID, producer: String = "default") throws -> [UID] {
        var mixed = try submission([], lane: lane, producer: producer)
        for (index, notification) in SampleNotification.serviceNotifications.enumerated() {
            let apple = SampleNotification.append(1 + index, producer: producer, to: &mixed.bytes)
            mixed.items.append(Submission.Item(lane: lane, range: apple))
            mixed.items.append(Submission.Item(lane: lane, range: append(notification, producer, to: &mixed.bytes)))
        }
        let first = try append(mixed).first.rawValue
        return (0..<UInt64(mixed.items.count)).map { UID(first + $0) }
    }

    private func append(_ notification: PushNotification, _ producer: String, to bytes: inout [UInt8]) -> Range<Int> {
        let start = bytes.count
        PackedNotification.append(
            notification, id: notification.id ?? SampleNotification.id(0),
            expiration: .unstated(until: 4_000_000_000), acceptedAt: SampleNotification.acceptedAt, producer: producer,
            to: &bytes)
        return start..<bytes.count
    }

    /// As ``appendMixed(lane:producer:)`` has appended them.
    static var mixed: [PushNotification] {
        SampleNotification.serviceNotifications.enumerated().flatMap { index, notification in
            [SampleNotification.numbered(1 + index), notification]
        }
    }

    static func entry(
        _ address: ServiceAddress, since: Int64 = 1000, topic: String? = "project", expiresAt: Int64? = nil,
        addition: UInt64 = 0
    ) -> BlacklistEntry {
        BlacklistEntry(
            recipient: .service(address), reason: Reason(rawValue: "UNREGISTERED"),
            since: WallTime(milliseconds: since), learntAt: WallTime(milliseconds: 1_700_000_000_001), route: "default",
            topic: topic, endpoint: "https://service.example", status: 404, answered: UID(7), number: addition,
            expiresAt: expiresAt.map { WallTime(milliseconds: $0) })
    }

    fileprivate func read(_ lane: LaneID, _ uids: [UID]) throws -> [PushNotification] {
        let batch = try journal.unconfirmed(lane, uids: uids)
        return try batch.items.indices.map { try batch.notification(at: $0) }
    }
}

/// Recipients at other services than Apple's, mixed with Apple's in one journal.
extension JournalConformance {
    static let services: [Rule] = [
        Rule("What is for other services comes back as it was, among Apple's, over a reopening too") { bench in
            let lane = try bench.lane()
            let uids = try bench.appendMixed(lane: lane)
            for _ in 1...2 {
                try expect("the lane's order", try bench.uids(lane), is: uids)
                for (found, expected) in zip(try bench.read(lane, uids), JournalBench.mixed) {
                    try expect("the notification", found, is: expected)
                }
                try expect("the depth", bench.journal.depth(lane), is: uids.count)
                try bench.reopen()
                _ = try bench.lane()
            }
        },
        Rule("What is for other services is deferred, and comes back as it was") { bench in
            let lane = try bench.lane()
            let uids = try bench.appendMixed(lane: lane)
            _ = try bench.deferEntries(uids, lane, until: 5, attempts: 2, possiblySent: true)
            try bench.reopen()
            _ = try bench.lane()
            try expect("those that are due", try bench.promote(lane, now: 5), is: uids)
            for (found, expected) in zip(try bench.read(lane, uids), JournalBench.mixed) {
                try expect("the notification", found, is: expected)
            }
            let items = try bench.journal.unconfirmed(lane, uids: uids).items
            try expect("attempts", Set(items.map(\.attempts)), is: [2])
            try expect("possibly sent", items.allSatisfy(\.isPossiblySent), is: true)
        },
        Rule("A rejection for another service keeps its notification and the service's words") { bench in
            let lane = try bench.lane()
            let uids = try bench.appendMixed(lane: lane)
            let cause = RejectionCause(
                reason: Reason(rawValue: "SENDER_ID_MISMATCH"), status: 403,
                rejectedAt: WallTime(milliseconds: 1_700_000_400_001))
            try bench.settle(uids, lane, .reject(cause))
            for _ in 1...2 {
                let found = try bench.journal.rejections(after: .none, limit: 100)
                try expect("UIDs", found.map(\.uid), is: uids)
                for (rejection, expected) in zip(found, JournalBench.mixed) {
                    try expect("the notification", rejection.notification, is: expected)
                    try expect("the cause", rejection.cause, is: cause)
                }
                try bench.reopen()
            }
        },
        Rule("An outcome of another service names the address, its kind and the service's word") { bench in
            let lane = try bench.lane()
            let uids = try bench.appendMixed(lane: lane, producer: "mails")
            let cause = RejectionCause(
                reason: Reason(rawValue: "UNREGISTERED"), status: 404,
                rejectedAt: WallTime(milliseconds: 1_700_000_400_001))
            let when = WallTime(milliseconds: 1_700_000_600_007)
            try bench.settle(uids, lane, .reject(cause), keepsOutcomes: true, settledAt: when)
            for _ in 1...2 {
                let found = try bench.journal.outcomes(after: .start, limit: 100).outcomes
                try expect("how many", found.count, is: uids.count)
                for (index, (outcome, notification)) in zip(found, JournalBench.mixed).enumerated() {
                    let expected = Outcome(
                        cursor: OutcomeCursor(UInt64(index + 1)), uid: uids[index], terminal: .rejected(cause.reason),
                        cause: cause,
                        history: DeliveryHistory(
                            acceptedAt: SampleNotification.acceptedAt, settledAt: when,
                            attempts: cause.status == nil ? 0 : 1),
                        id: notification.id ?? SampleNotification.id(0), recipient: notification.recipient,
                        topic: notification.topic, producer: "mails", tag: notification.tag)
                    try expect("the outcome", outcome, is: expected)
                }
                try bench.reopen()
            }
        },
        Rule("What is for other services goes to quarantine and comes back") { bench in
            let lane = try bench.lane()
            let uids = try bench.appendMixed(lane: lane)
            _ = try bench.quarantine(uids, lane)
            try bench.reopen()
            _ = try bench.lane()
            try expect("the number", bench.journal.quarantinedCount, is: uids.count)
            try expect("what waits again", try bench.retryQuarantined(uids), is: uids)
            _ = try bench.promote(lane, now: JournalBench.now.milliseconds)
            for (found, expected) in zip(try bench.read(lane, uids), JournalBench.mixed) {
                try expect("the notification", found, is: expected)
            }
        },
        Rule("An address is on the blacklist by its kind and all its bytes, with all that the entry says") { bench in
            let addresses = SampleNotification.addressesOfDevices
            let listed = addresses.enumerated().filter { $0.offset != 1 && $0.element != addresses[3] }
            let entries = listed.map { index, address in
                JournalBench.entry(
                    address, topic: index.isMultiple(of: 2) ? "project" : nil,
                    expiresAt: index == 0 ? 1_800_000_000_000 : nil)
            }
            try bench.blacklist(entries)
            for _ in 1...2 {
                try expect("the number", bench.journal.blacklist.count, is: entries.count)
                for (number, entry) in entries.enumerated() {
                    var expected = entry
                    expected.number = UInt64(number + 1)
                    let found = try bench.journal.blacklist.entries(for: entry.recipient)
                    try expect("the entry", found, is: [expected])
                }
                // The same bytes of another kind, and an endpoint that differs in its last byte.
                for other in [addresses[1], addresses[3]] {
                    let found = try bench.journal.blacklist.entries(for: .service(other))
                    try expect("the entries of another address", found, is: [])
                }
                try bench.reopen()
            }
        },
        Rule("A token and an address of the same bytes are two recipients of the blacklist") { bench in
            let address = SampleNotification.addresses[0]
            let token = try unwrap("a token of the address's bytes", DeviceToken(bytes: address.bytes))
            try bench.blacklist([JournalBench.entry(address)])
            try expect("the token's", try bench.journal.blacklist.entries(for: .device(token)), is: [])
            var entry = JournalBench.entry(1)
            entry.recipient = .device(token)
            try bench.blacklist([entry])
            try expect("the number", bench.journal.blacklist.count, is: 2)
            try expect("how many went", try bench.journal.blacklist.remove([Recipient.device(token)]), is: 1)
            try expect(
                "the address's", try bench.journal.blacklist.entries(for: .service(address)),
                is: [JournalBench.entry(address, addition: 1)])
        },
        Rule("The entries of a batch's addresses are found by index, beside those of its tokens") { bench in
            let lane = try bench.lane()
            let uids = try bench.appendMixed(lane: lane)
            let addresses = SampleNotification.addresses
            try bench.blacklist([JournalBench.entry(4), JournalBench.entry(addresses[5])])
            try bench.blacklist([JournalBench.entry(addresses[0]), JournalBench.entry(addresses[6])])
            let found = try bench.journal.blacklist.lookUp(bench.journal.unconfirmed(lane, uids: uids))
            try expect("indices", found.entries.map(\.index), is: [1, 6, 11, 13])
            try expect(
                "recipients", found.entries.map(\.entry.recipient),
                is: [
                    .service(addresses[0]), SampleNotification.device(4), .service(addresses[5]),
                    .service(addresses[6]),
                ])
            try expect("those that cannot be read", found.unreadable.count, is: 0)
        },
        Rule("All that follow a topic are never on the blacklist") { bench in
            for address in SampleNotification.addresses where address.kind.isBroadcast {
                try bench.expectError(.limitReached, "blacklisting \(address)") {
                    try bench.blacklist([JournalBench.entry(address)])
                }
                let found = try bench.journal.blacklist.entries(for: .service(address))
                try expect("the entries", found, is: [])
            }
            try bench.expectError(.limitReached, "an end of a token's entry") {
                var entry = JournalBench.entry(1)
                entry.expiresAt = JournalBench.now
                try bench.blacklist([entry])
            }
        },
        Rule("A newer registration lifts an address's entry, and no other kind's") { bench in
            let (one, other) = (SampleNotification.addresses[0], SampleNotification.addresses[1])
            try bench.blacklist([JournalBench.entry(one), JournalBench.entry(other)])
            func lift(_ time: Int64) throws {
                let registration = TokenRegistration(
                    recipient: .service(one), topic: "project", endpoint: "https://service.example",
                    registeredAt: WallTime(milliseconds: time))
                try bench.wait("the blacklist's lift") { bench.journal.blacklist.lift([registration], completion: $0) }
            }
            try lift(1000)
            try expect("the number after a registration of the same time", bench.journal.blacklist.count, is: 2)
            try lift(1001)
            try bench.reopen()
            try expect("the lifted one's", try bench.journal.blacklist.entries(for: .service(one)), is: [])
            try expect("the number", bench.journal.blacklist.count, is: 1)
        },
        Rule("An entry that expires is renewed by one that expires later, although it holds since the same time") {
            bench in
            let address = SampleNotification.addresses[4]
            try bench.blacklist([JournalBench.entry(address, expiresAt: 100)])
            try bench.blacklist([JournalBench.entry(address, expiresAt: 90)])
            try bench.blacklist([JournalBench.entry(address, expiresAt: 300)])
            try bench.reopen()
            try expect(
                "the entry", try bench.journal.blacklist.entries(for: .service(address)),
                is: [JournalBench.entry(address, expiresAt: 300, addition: 2)])
        },
        Rule("The blacklist lists addresses behind all tokens, page by page, each once") { bench in
            let addresses = SampleNotification.addressesOfDevices
            try bench.blacklist(
                addresses.map { JournalBench.entry($0) } + [JournalBench.entry(1), JournalBench.entry(2)])
            for limit in [1, 2, 3, 100] {
                var (found, last): ([Recipient], Recipient?) = ([], nil)
                while true {
                    let page = try bench.journal.blacklist.list(after: last, limit: limit)
                    found += page.map(\.recipient)
                    if page.count < limit { break }
                    last = found.last
                }
                try expect("tokens", Array(found.prefix(2)), is: [1, 2].map(SampleNotification.device))
                try expect("how many", found.count, is: addresses.count + 2)
                try expect("addresses", Set(found.dropFirst(2)), is: Set(addresses.map(Recipient.service)))
            }
            try expect(
                "how many go", try bench.journal.blacklist.remove(addresses.map(Recipient.service)), is: addresses.count
            )
            try expect("the number that is left", bench.journal.blacklist.count, is: 2)
        },
    ]
}

import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastLegacyAPNs

@Suite("What a server of the binary protocol reads") struct ServerCodecTests {
    private static let token: [UInt8] = (0..<32).map { $0 + 1 }
    private static let payload = Array(#"{"aps":{"alert":"x"}}"#.utf8)

    /// Everything that comes of the bytes, given in pieces that end at `cuts`.
    private func read(
        _ bytes: [UInt8], cuts: [Int] = [], limit: Int = BinaryRequestReader.defaultLimit
    ) -> (requests: [BinaryRequest], fault: BinaryRequestFault?) {
        var reader = BinaryRequestReader(limit: limit)
        var requests: [BinaryRequest] = []
        var start = 0
        for end in cuts + [bytes.count] where end >= start {
            reader.append(bytes.span.extracting(start..<end))
            start = end
            do throws(BinaryRequestFault) {
                while let request = try reader.next() { requests.append(request) }
            } catch {
                return (requests, error)
            }
        }
        return (requests, nil)
    }

    private static func item(_ id: UInt8, _ data: [UInt8]) -> [UInt8] {
        [id, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
    }

    private static func framed(_ items: [UInt8]) -> [UInt8] {
        [2, 0, 0, UInt8(items.count >> 8), UInt8(items.count & 0xFF)] + items
    }

    @Test("Commands 0 and 1 are read as Apple defined them") func plain() {
        let simple: [UInt8] = [0, 0, 32] + Self.token + [0, 21] + Self.payload
        let enhanced: [UInt8] = [1, 0, 0, 1, 0, 0x5F, 0, 0, 1, 0, 32] + Self.token + [0, 21] + Self.payload
        let (requests, fault) = read(simple + enhanced)
        #expect(fault == nil)
        #expect(
            requests == [
                BinaryRequest(command: 0, token: Self.token, payload: Self.payload),
                BinaryRequest(
                    command: 1, identifier: 256, token: Self.token, payload: Self.payload, expiration: 0x5F00_0001),
            ])
    }

    @Test("Items of command 2 come in any order, and those that may be missing may be missing")
    func itemOrder() {
        let items: [UInt8: [UInt8]] = [
            1: Self.item(1, Self.token), 2: Self.item(2, Self.payload), 3: Self.item(3, [0, 0, 0, 9]),
            4: Self.item(4, [0, 0, 0, 5]), 5: Self.item(5, [5]),
        ]
        var whole = BinaryRequest(
            command: 2, identifier: 9, token: Self.token, payload: Self.payload, expiration: 5, priority: 5)
        for order in [[1, 2, 3, 4, 5], [3, 1, 2, 4, 5], [5, 4, 3, 2, 1]] as [[UInt8]] {
            #expect(read(Self.framed(order.flatMap { items[$0] ?? [] })).requests == [whole])
        }
        whole.expiration = nil
        whole.priority = nil
        #expect(read(Self.framed([1, 2, 3].flatMap { items[$0] ?? [] })).requests == [whole])
        #expect(read(Self.framed([])).requests == [BinaryRequest(command: 2)])
        let noToken = Self.framed(Self.item(3, [0, 0, 0, 1]) + Self.item(1, []))
        #expect(read(noToken).requests == [BinaryRequest(command: 2, identifier: 1, token: [])])
    }

    @Test(
        "A priority of one byte that claims four is read at the end of a frame, as go-libapns writes it, and nowhere else"
    )
    func shortPriority() {
        let items = Self.item(1, Self.token) + Self.item(2, Self.payload) + Self.item(3, [0, 0, 0, 9])
        let frame = Self.framed(items + [5, 0, 4, 10])
        let request = BinaryRequest(
            command: 2, identifier: 9, token: Self.token, payload: Self.payload, priority: 10)
        #expect(read(frame + frame, cuts: [frame.count - 1]).requests == [request, request])
        for items in [
            items + [5, 0, 4, 10, 10], [5, 0, 4, 10] + items, items + [5, 0, 4], items + [4, 0, 4, 10],
            items + [5, 0, 1, 5, 5, 0, 4, 10],
        ] {
            let (requests, fault) = read(Self.framed(items))
            #expect(requests.isEmpty)
            #expect(fault != nil)
        }
    }

    @Test("What the connector writes is what a server reads") func ownFrames() throws {
        let notification = SampleNotification.numbered(3, payloadByteCount: 2000)
        let request = try #require(read(try Entries.frame(notification, identifier: 77)).requests.first)
        #expect(request.token == notification.recipient.address)
        #expect(request.payload == notification.payload)
        #expect(request.identifier == 77)
        #expect(request.expiration == 4_000_000_000)
        #expect(request.priority == 10)
    }

    @Test(
        "What has no meaning is a fault with the status that says so, and with the identifier where it had been read",
        arguments: [
            ([9], 1, 0), ([0x16, 3, 1], 1, 0),
            (framed(item(3, [0, 0, 0, 4]) + item(9, [1])), 128, 4),
            (framed(item(3, [0, 0, 4])), 128, 0),
            (framed(item(3, [0, 0, 0, 4]) + item(3, [0, 0, 0, 4])), 128, 4),
            (framed(item(3, [0, 0, 0, 4]) + [1, 0]), 128, 4),
            (framed(item(3, [0, 0, 0, 4]) + [1, 0, 32, 1]), 128, 4),
            (framed(item(5, [])), 128, 0),
            ([2, 0xFF, 0xFF, 0xFF, 0xFF], 7, 0),
            ([1, 0, 0, 0, 3, 0, 0, 0, 0, 0xFF, 0xFF], 5, 3),
        ] as [([UInt8], UInt8, UInt32)])
    func faults(_ bytes: [UInt8], _ status: UInt8, _ identifier: UInt32) {
        let (requests, fault) = read(bytes)
        #expect(requests == [])
        #expect(fault?.answer == ErrorResponse(status: BinaryStatus(rawValue: status), identifier: identifier))
    }

    @Test("A request beyond the limit is refused before it is there, and one at the limit is read") func limit() {
        let bytes: [UInt8] = [1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 32] + Self.token + [0, 21] + Self.payload
        #expect(read(bytes, limit: bytes.count).requests.count == 1)
        let header = Array(bytes.prefix(13 + 32))
        #expect(read(header, limit: bytes.count - 1).fault?.answer.status == .invalidPayloadSize)
        #expect(read(header, limit: bytes.count - 1).fault?.answer.identifier == 3)
    }

    // MARK: Fuzz

    /// Requests as clients send them, now and then with a byte wrong.
    private func traffic(_ random: inout Xoshiro256) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let request = BinaryRequest(
                command: UInt8.random(in: 0...2, using: &random), identifier: .random(in: 0 ... .max, using: &random),
                token: (0..<Int.random(in: 0...40, using: &random)).map { UInt8($0) },
                payload: [UInt8](repeating: 0x20, count: .random(in: 0...300, using: &random)),
                expiration: Bool.random(using: &random) ? .random(in: 0 ... .max, using: &random) : nil,
                priority: Bool.random(using: &random) ? 10 : nil)
            request.append(to: &bytes)
        }
        if !bytes.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0 ... .max, using: &random)
        }
        return bytes
    }

    @Test(
        "Every split of the bytes gives the same requests and the same fault", arguments: 1...200 as ClosedRange<UInt64>
    )
    func splits(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        let bytes = traffic(&random)
        let whole = read(bytes, limit: 256)
        let cuts = (0..<Int.random(in: 1...20, using: &random)).map { _ in
            Int.random(in: 0...bytes.count, using: &random)
        }
        for cuts in [cuts.sorted(), Array(0...bytes.count)] {
            let pieces = read(bytes, cuts: cuts, limit: 256)
            #expect(pieces.requests == whole.requests)
            #expect(pieces.fault == whole.fault)
        }
    }

    @Test(
        "Random bytes never crash a reader, and never make it keep more than its limit",
        arguments: 1...20 as ClosedRange<UInt64>)
    func garbage(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        for _ in 0..<200 {
            let count = Int.random(in: 0...400, using: &random)
            // Small numbers are what has a meaning here.
            let greatest = UInt8.random(in: 1 ... .max, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...greatest, using: &random) }
            _ = read(bytes, limit: 256)
            var errors = ErrorResponseReader()
            _ = try? errors.receive(bytes.span)
            var tuples = FeedbackTupleReader()
            tuples.append(bytes.span)
            while let tuple = tuples.next() { #expect(tuple.tokenBytes.count <= bytes.count) }
        }
    }
}

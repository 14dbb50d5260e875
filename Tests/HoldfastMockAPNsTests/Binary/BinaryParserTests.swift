import NIOCore
import Testing

@testable import HoldfastMockAPNs
@testable import HoldfastMocking

@Suite("The binary protocol's frames, as the mock reads them")
struct BinaryParserTests {
    /// A frame with what it holds, whatever the split.
    struct Read: Equatable {
        var command: UInt8
        var identifier: UInt32 = 0
        var token: [UInt8] = []
        var payload: [UInt8] = []
        var expiration: UInt32?
        var priority: UInt8?
        var fault: MockBinaryStatus?
    }

    /// Reads until the first fault.
    static func read(_ pieces: [[UInt8]], payloadLimit: Int = 2048) -> [Read] {
        var reader = BinaryFrameReader(payloadLimit: payloadLimit)
        var frames: [Read] = []
        for piece in pieces {
            reader.receive(ByteBuffer(bytes: piece))
            while let frame = reader.next() {
                let bytes = reader.buffer.readableBytesUInt8Span
                frames.append(
                    Read(
                        command: frame.command, identifier: frame.identifier, token: frame.token.map { bytes[$0] },
                        payload: frame.payload.map { bytes[$0] }, expiration: frame.expiration,
                        priority: frame.priority, fault: frame.fault))
                if frame.fault != nil { return frames }
            }
        }
        return frames
    }

    static func fault(_ bytes: [UInt8], payloadLimit: Int = 2048) -> Read? {
        read([bytes], payloadLimit: payloadLimit).first
    }

    @Test("All three commands, with every field")
    func commands() {
        let token = Wire.token(7)
        let bytes =
            Wire.simple(token: token) + Wire.enhanced(8, token: token, expiration: 99) + Wire.full(9, token: token)
        #expect(
            Self.read([bytes]) == [
                Read(command: 0, token: token, payload: Wire.payload),
                Read(command: 1, identifier: 8, token: token, payload: Wire.payload, expiration: 99),
                Read(
                    command: 2, identifier: 9, token: token, payload: Wire.payload, expiration: 1_798_761_600,
                    priority: 10),
            ])
    }

    @Test("Items in any order; identifier, expiration and priority may be missing")
    func itemOrders() {
        let items = [
            Wire.item(1, Wire.token(1)), Wire.item(2, Wire.payload), Wire.item(3, Wire.big(0x0102_0304, 4)),
            Wire.item(4, Wire.big(77, 4)), Wire.item(5, [5]),
        ]
        let expected = Read(
            command: 2, identifier: 0x0102_0304, token: Wire.token(1), payload: Wire.payload, expiration: 77,
            priority: 5)
        var generator = FixedGenerator(state: 1)
        for _ in 0..<200 { #expect(Self.read([Wire.frame(items.shuffled(using: &generator))]) == [expected]) }
        #expect(
            Self.read([Wire.frame([items[1], items[0]])])
                == [Read(command: 2, token: Wire.token(1), payload: Wire.payload)])
    }

    @Test("Each fault has Apple's status, and names the notification where the identifier came before it")
    func faults() {
        let (token, payload) = (Wire.token(1), Wire.payload)
        let identifier = Wire.item(3, Wire.big(6, 4))
        func status(_ bytes: [UInt8]) -> [Int?] {
            let frame = Self.fault(bytes)
            return [frame?.fault.map { Int($0.rawValue) }, frame.map { Int($0.identifier) }]
        }
        #expect(status(Wire.enhanced(6, token: [])) == [2, 6])
        #expect(status(Wire.enhanced(6, token: [1, 2, 3])) == [5, 6])
        #expect(status(Wire.enhanced(6, payload: [])) == [4, 6])
        #expect(status(Wire.enhanced(6, payload: [UInt8](repeating: 32, count: 2049))) == [7, 6])
        #expect(status(Wire.simple(token: [])) == [2, 0])
        #expect(status(Wire.barrier(6)) == [2, 6])
        #expect(status(Wire.frame([identifier, Wire.item(2, payload)])) == [2, 6])
        #expect(status(Wire.frame([identifier, Wire.item(1, token)])) == [4, 6])
        #expect(status(Wire.frame([identifier, Wire.item(1, token + [0]), Wire.item(2, payload)])) == [5, 6])
        #expect(status(Wire.full(6, payload: [UInt8](repeating: 32, count: 5000))) == [7, 6])
        #expect(status(Wire.frame([])) == [2, 0])
        #expect(status(Wire.frame([identifier, Wire.item(6, [1])])) == [128, 6])
        #expect(status(Wire.frame([Wire.item(0, [1]), identifier])) == [128, 0])
        #expect(status(Wire.frame([identifier, identifier])) == [128, 6])
        #expect(status(Wire.frame([identifier, Wire.item(4, [1, 2, 3])])) == [128, 6])
        #expect(status(Wire.frame([identifier, Wire.item(5, [7])])) == [128, 6])
        #expect(status(Wire.frame([identifier, [1, 0, 32, 9]])) == [128, 6])
        #expect(status(Wire.frame([identifier, [1]])) == [128, 6])
        #expect(status([3]) == [1, 0])
        #expect(status([2, 0xFF, 0xFF, 0xFF, 0xFF]) == [7, 0])
    }

    @Test("A payload of exactly the limit is taken")
    func limit() {
        let bytes = Wire.full(1, payload: [UInt8](repeating: 32, count: 256))
        #expect(Self.read([bytes], payloadLimit: 256).first?.fault == nil)
        #expect(Self.read([bytes], payloadLimit: 255).first?.fault == .invalidPayloadSize)
    }

    @Test("Any split of the bytes reads the same", arguments: 1...40)
    func splits(_ seed: UInt64) {
        var generator = FixedGenerator(state: seed)
        var bytes: [UInt8] = []
        for number in 1...60 {
            let payload = (0..<Int.random(in: 1...300, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes += Wire.simple(token: Wire.token(number), payload: payload)
            case 1: bytes += Wire.enhanced(number, payload: payload)
            default: bytes += Wire.full(number, payload: payload)
            }
        }
        let last: [[UInt8]] = [Wire.barrier(61), Wire.enhanced(61, token: [1]), [9], Wire.frame([Wire.item(9, [])])]
        bytes += last[Int(seed % 4)] + Wire.full(62)
        let whole = Self.read([bytes])
        #expect(whole.count == 61 && whole.last?.fault != nil)
        #expect(Self.read(bytes.map { [$0] }) == whole)
        for _ in 0..<10 {
            var (pieces, rest) = ([[UInt8]](), bytes[...])
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...400, using: &generator))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            #expect(Self.read(pieces) == whole)
        }
    }

    @Test("Random bytes never crash it, and it holds no more than one frame", arguments: 1...20)
    func garbage(_ seed: UInt64) {
        var generator = FixedGenerator(state: seed)
        for _ in 0..<300 {
            var reader = BinaryFrameReader(payloadLimit: 2048)
            var isOver = false
            for _ in 0..<20 where !isOver {
                // Small numbers most of the time, so that some of it looks like lengths and commands.
                let bytes = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                    Bool.random(using: &generator)
                        ? UInt8.random(in: 0...5, using: &generator) : UInt8.random(in: 0...255, using: &generator)
                }
                reader.receive(ByteBuffer(bytes: bytes))
                while !isOver, let frame = reader.next() { isOver = frame.fault != nil }
                #expect(reader.waitingByteCount <= BinaryFrameReader.frameLimit + 5 + 200)
            }
        }
    }
}

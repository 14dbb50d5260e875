import HoldfastHTTP2
import Testing
import Trials

/// Bytes that no peer should send. What is asked: no trap, no hang, and what is kept stays within its bounds.
@Suite("Garbage")
struct GarbageTests {
    private static let outputBound = 1 << 20

    private static func clientLimits() -> HTTP2Limits {
        var limits = HTTP2Limits.client
        limits.maxQueuedOutput = 1 << 18
        return limits
    }

    /// A stream of frames that is mostly right: real types, plausible numbers, payloads of the right size or nearly.
    private static func frames(_ random: inout SeededRandom, _ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            let stream = UInt32([0, 1, 1, 3, 5, 7, 2, 99, random.below(50)][random.below(9)])
            var frame = RawFrame(
                type: UInt8(random.below(11)), flags: [0, 1, 4, 5, 5, 8, 0x2d][random.below(7)], stream: stream)
            switch frame.type {
            case 1, 9:
                frame.payload =
                    [[0x88], requestBlock, block((":status", "400")), random.bytes(random.below(30))][random.below(4)]
            case 2: frame.payload = random.bytes(5)
            case 3: frame.payload = random.bytes(4)
            case 4:
                frame.stream = 0
                if frame.flags != 1 {
                    frame.payload =
                        [0, UInt8(random.below(8))] + big32([0, 1, 100, 16384, 65535, 0x7fff_ffff][random.below(6)])
                }
            case 6: (frame.stream, frame.payload) = (0, random.bytes(8))
            case 7: (frame.stream, frame.payload) = (0, random.bytes(8 + random.below(4)))
            case 8: frame.payload = big32([1, 100, 65535, 0x7fff_0000, 0][random.below(5)])
            default: frame.payload = random.bytes(random.below(300))
            }
            if random.below(40) == 0 { frame.payload = random.bytes(random.below(20)) }
            bytes += frame.bytes
        }
        return bytes
    }

    @Test("Random bytes after a valid opening do not bring the client down")
    func clientRandomBytes() throws {
        for seed in UInt64(0)..<300 {
            var random = SeededRandom(seed: seed)
            var client = ClientUnderTest(limits: Self.clientLimits())
            for tag in UInt64(0)..<4 { try client.start(tag: tag) }
            for _ in 0..<20 { client.receive(random.bytes(random.below(200))) }
            #expect(client.session.output.count < Self.outputBound, "seed \(seed)")
        }
    }

    @Test("Frames in no order do not bring the client down, and every request still ends at most once")
    func clientRandomFrames() throws {
        for seed in UInt64(0)..<1500 {
            var random = SeededRandom(seed: seed)
            var client = ClientUnderTest(limits: Self.clientLimits())
            for tag in UInt64(0)..<4 { try client.start(tag: tag, body: random.bytes(random.below(400))) }
            let wire = Self.frames(&random, 60)
            var rest = wire[...]
            while !rest.isEmpty {
                let count = 1 + random.below(min(rest.count, 400))
                client.receive(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            var ends = client.events.succeeded + client.session.openTags + client.responses.map(\.tag)
            ends += client.goAways.flatMap(\.neverProcessed)
            for case .reset(let tag, _, _, _) in client.events.others { ends.append(tag) }
            #expect(ends.sorted() == [0, 1, 2, 3], "seed \(seed): \(client.events.others)")
            #expect(client.session.output.count < Self.outputBound, "seed \(seed)")
            #expect(RawFrame.parse(client.session.output) != nil, "seed \(seed): the output is not whole frames")
        }
    }

    @Test("Frames in no order do not bring the server down")
    func serverRandomFrames() throws {
        for seed in UInt64(0)..<1500 {
            var random = SeededRandom(seed: seed)
            var server = ServerUnderTest()
            let wire = Self.frames(&random, 60)
            var rest = wire[...]
            while !rest.isEmpty {
                let count = 1 + random.below(min(rest.count, 400))
                server.receive(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
                for request in server.events.requests where random.below(2) == 0 {
                    server.session.respond(
                        streamID: request.streamID, status: 400, body: random.bytes(random.below(100)))
                }
            }
            #expect(server.session.output.count < Self.outputBound, "seed \(seed)")
            #expect(RawFrame.parse(server.session.output) != nil, "seed \(seed): the output is not whole frames")
        }
    }

    @Test("A real conversation with some bytes changed brings neither side down", arguments: UInt64(0)..<8)
    func mutated(part: UInt64) {
        for seed in part * 60..<(part + 1) * 60 {
            var talk = Conversation(seed: seed)
            for round in 0..<400 {
                if talk.client.availableStreams > 0 {
                    _ = talk.client.startRequest(
                        tag: UInt64(round), headerBlock: requestBlock, body: [1, 2, 3], bodyRange: 0..<3)
                }
                talk.toServer += talk.client.takeOutput()
                talk.toClient += talk.server.takeOutput()
                if round > 20, talk.random.below(10) == 0, !talk.toServer.isEmpty {
                    talk.toServer[talk.random.below(talk.toServer.count)] = UInt8(talk.random.below(256))
                }
                if round > 20, talk.random.below(10) == 0, !talk.toClient.isEmpty {
                    talk.toClient[talk.random.below(talk.toClient.count)] ^= UInt8(1 << talk.random.below(8))
                }
                talk.move()
                for request in talk.serverEvents.requests {
                    talk.server.respond(
                        streamID: request.streamID, headerBlock: [0x88], body: round % 2 == 0 ? [] : [1])
                }
                talk.serverEvents.removeAll()
                if talk.client.failure != nil && talk.server.failure != nil { break }
            }
            #expect(talk.client.openStreams <= 1000, "seed \(seed)")
        }
    }

    @Test("Random header blocks do not bring the decoder down")
    func randomHeaderBlocks() throws {
        for seed in UInt64(0)..<3000 {
            var random = SeededRandom(seed: seed)
            var client = ClientUnderTest()
            try client.start(tag: 1)
            var block = random.bytes(random.below(60))
            for _ in 0..<random.below(4) where !block.isEmpty {
                block[random.below(block.count)] = [0x00, 0x7f, 0xff, 0x80, 0x3f, 0x1f][random.below(6)]
            }
            client.receive(.headers(1, block, end: true))
            #expect(client.events.others.count + client.events.succeeded.count <= 1, "seed \(seed)")
        }
    }
}

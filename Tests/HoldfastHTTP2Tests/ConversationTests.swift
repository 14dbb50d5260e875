import HoldfastHTTP2
import Testing
import Trials

/// Both roles, joined by wires that split bytes anywhere.
struct Conversation {
    var client: HTTP2ClientSession
    var server: HTTP2ServerSession
    var clientEvents = HTTP2ClientEvents()
    var serverEvents = HTTP2ServerEvents()
    var random: SeededRandom
    var toServer: [UInt8] = []
    var toClient: [UInt8] = []

    init(seed: UInt64, clientLimits: HTTP2Limits = .client, serverLimits: HTTP2Limits = .server) {
        random = SeededRandom(seed: seed)
        client = HTTP2ClientSession(limits: clientLimits)
        server = HTTP2ServerSession(limits: serverLimits)
    }

    /// Moves some bytes, in one direction or both.
    mutating func move() {
        toServer += client.takeOutput()
        toClient += server.takeOutput()
        if random.below(3) > 0 {
            let piece = Self.piece(of: &toServer, &random)
            server.receive(piece.span, events: &serverEvents)
        }
        if random.below(3) > 0 {
            let piece = Self.piece(of: &toClient, &random)
            client.receive(piece.span, events: &clientEvents)
        }
    }

    private static func piece(of wire: inout [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        let most = [1, 8, 20, 300, 5000, 100_000][random.below(6)]
        let count = min(wire.count, random.below(most + 1))
        defer { wire.removeFirst(count) }
        return Array(wire.prefix(count))
    }

    /// Moves everything, until nobody has anything to say.
    mutating func settle() {
        for _ in 0..<10_000 {
            let requests = toServer + client.takeOutput()
            let answers = toClient + server.takeOutput()
            if requests.isEmpty && answers.isEmpty { return }
            server.receive(requests.span, events: &serverEvents)
            client.receive(answers.span, events: &clientEvents)
            toServer = []
            toClient = []
        }
    }
}

@Suite("Client and server together")
struct ConversationTests {
    @Test("Every request gets its own answer, however the bytes are split", arguments: UInt64(0)..<40)
    func everyRequestAnswered(seed: UInt64) throws {
        var choices = SeededRandom(seed: seed &+ 1000)
        var clientLimits = HTTP2Limits.client
        clientLimits.streamReceiveWindow = [65_535, 100, 3000][choices.below(3)]
        var serverLimits = HTTP2Limits.server
        serverLimits.streamReceiveWindow = [65_535, 50, 1000][choices.below(3)]
        serverLimits.connectionReceiveWindow = [65_535, 1 << 20][choices.below(2)]
        serverLimits.maxConcurrentStreams = [1, 7, 100][choices.below(3)]
        var talk = Conversation(seed: seed, clientLimits: clientLimits, serverLimits: serverLimits)
        let total = 300
        var started = 0
        var bodies: [UInt64: [UInt8]] = [:]
        var received: [UInt64: [UInt8]] = [:]
        var answered: [UInt64: String] = [:]
        var pending: [(streamID: UInt32, tag: UInt64)] = []
        var rounds = 0
        while answered.count < total {
            rounds += 1
            try #require(rounds < 200_000, "seed \(seed): stuck with \(answered.count) answers")
            while started < total, talk.client.availableStreams > 0, talk.random.below(3) > 0 {
                let tag = UInt64(started)
                let body = talk.random.bytes(talk.random.below([1, 100, 5000][talk.random.below(3)]))
                var fields = requestBlock
                HPACKWriter.appendLiteral(
                    name: "tag".utf8, value: "\(tag)".utf8,
                    indexing: talk.random.below(2) == 0 ? .incremental : .without,
                    to: &fields)
                if talk.random.below(50) == 0 {
                    HPACKWriter.appendLiteral(
                        name: "long".utf8, value: [UInt8](repeating: 0x61, count: 15_000), indexing: .without,
                        to: &fields)
                }
                let result = talk.client.startRequest(
                    tag: tag, headerBlock: fields, body: body, bodyRange: body.indices)
                guard case .started = result else { throw UnexpectedResult(description: "seed \(seed): \(result)") }
                bodies[tag] = body
                started += 1
            }
            talk.move()
            for request in talk.serverEvents.requests {
                let tag = try #require(
                    UInt64(talk.serverEvents.headers(of: request).first(name: "tag") ?? ""), "seed \(seed)")
                received[tag] = Array(talk.serverEvents.bodies[request.body])
                pending.append((request.streamID, tag))
            }
            talk.serverEvents.removeAll()
            while !pending.isEmpty, talk.random.below(3) > 0 {
                let (streamID, tag) = pending.remove(at: talk.random.below(pending.count))
                if tag % 3 == 0 {
                    talk.server.respond(
                        streamID: streamID, status: 400 + Int(tag % 50),
                        body: talk.random.bytes(talk.random.below(4000)) + Array("\(tag)".utf8))
                } else {
                    talk.server.respond(streamID: streamID, headerBlock: [0x88])
                }
            }
            for tag in talk.clientEvents.succeeded { answered[tag] = "200" }
            for event in talk.clientEvents.others {
                guard case .response(let tag, let response) = event else { continue }
                #expect(response.body.suffix("\(tag)".utf8.count) == Array("\(tag)".utf8)[...], "seed \(seed)")
                answered[tag] = "\(response.status)"
            }
            talk.clientEvents.removeAll()
            let failures = [talk.client.failure, talk.server.failure].compactMap { $0 }
            try #require(failures.isEmpty, "seed \(seed): \(failures)")
        }
        #expect(received == bodies, "seed \(seed)")
        for tag in UInt64(0)..<UInt64(total) {
            #expect(answered[tag] == (tag % 3 == 0 ? "\(400 + Int(tag % 50))" : "200"), "seed \(seed)")
        }
        talk.settle()
        let open = [talk.client.openStreams, talk.server.openStreams, talk.client.heldBack, talk.server.heldBack]
        #expect(open == [0, 0, 0, 0], "seed \(seed)")
    }

    @Test(
        "Cancels, resets, GOAWAY and changed SETTINGS in between: each request ends exactly once",
        arguments: UInt64(0)..<40)
    func everyRequestEndsOnce(seed: UInt64) throws {
        var limits = HTTP2Limits.server
        limits.streamReceiveWindow = 200
        limits.maxConcurrentStreams = 50
        var talk = Conversation(seed: seed, serverLimits: limits)
        var streams: [UInt64: UInt32] = [:]
        var ends: [UInt64: Int] = [:]
        var next: UInt64 = 0
        for round in 0..<3000 {
            if talk.client.availableStreams > 0, talk.random.below(2) == 0 {
                let body = talk.random.bytes(talk.random.below(600))
                if case .started(let id) = talk.client.startRequest(
                    tag: next, headerBlock: requestBlock, body: body, bodyRange: body.indices)
                {
                    streams[next] = id
                    next += 1
                }
            }
            talk.move()
            switch talk.random.below(60) {
            case 0:
                if let tag = talk.client.openTags.randomElement(using: &talk.random), let id = streams[tag] {
                    #expect(talk.client.cancel(streamID: id) == tag, "seed \(seed)")
                    ends[tag, default: 0] += 1
                }
            case 1:
                talk.server.changeSettings(
                    maxConcurrentStreams: 1 + talk.random.below(60), initialWindowSize: talk.random.below(1000))
            case 2: talk.client.ping(UInt64(round))
            case 3: talk.server.ping(UInt64(round))
            case 4 where round > 2500: talk.server.goAway(code: .noError)
            default: break
            }
            for request in talk.serverEvents.requests {
                switch talk.random.below(10) {
                case 0: talk.server.reset(streamID: request.streamID, code: .refusedStream)
                case 1: talk.server.respond(streamID: request.streamID, status: 500, body: [1, 2, 3])
                default: talk.server.respond(streamID: request.streamID, headerBlock: [0x88])
                }
            }
            talk.serverEvents.removeAll()
            Self.count(&ends, talk.clientEvents)
            talk.clientEvents.removeAll()
        }
        for _ in 0..<50 {
            talk.settle()
            for request in talk.serverEvents.requests {
                talk.server.respond(streamID: request.streamID, headerBlock: [0x88])
            }
            talk.serverEvents.removeAll()
        }
        Self.count(&ends, talk.clientEvents)
        let failures = [talk.client.failure, talk.server.failure].compactMap { $0 }
        #expect(failures.isEmpty, "seed \(seed): \(failures)")
        for tag in talk.client.openTags { ends[tag, default: 0] += 1 }
        #expect(ends.values.allSatisfy { $0 == 1 } && ends.count == Int(next), "seed \(seed)")
        // What is still open waits for a window that the server shut; nothing else may be.
        #expect(talk.client.openStreams == 0 || talk.client.heldBack > 0, "seed \(seed)")
        #expect(next > 100, "seed \(seed)")
    }

    private static func count(_ ends: inout [UInt64: Int], _ events: HTTP2ClientEvents) {
        for tag in events.succeeded { ends[tag, default: 0] += 1 }
        for event in events.others {
            switch event {
            case .response(let tag, _), .reset(let tag, _, _, _): ends[tag, default: 0] += 1
            case .goAway(let goAway): for tag in goAway.neverProcessed { ends[tag, default: 0] += 1 }
            default: break
            }
        }
    }

    @Test("The client's blocks, with entries of the dynamic table, are read back by the server")
    func dynamicTable() throws {
        var talk = Conversation(seed: 1)
        talk.settle()
        var first = requestBlock
        HPACKWriter.appendLiteral(
            name: "apns-topic".utf8, value: "com.example".utf8, indexing: .incremental, to: &first)
        HPACKWriter.appendLiteral(name: "apns-id".utf8, value: "1".utf8, indexing: .incremental, to: &first)
        var second = requestBlock
        HPACKWriter.appendIndexed(HPACKWriter.firstDynamicIndex + 1, to: &second)
        HPACKWriter.appendLiteral(
            nameIndex: HPACKWriter.firstDynamicIndex, value: "2".utf8, indexing: .without, to: &second)
        _ = talk.client.startRequest(tag: 1, headerBlock: first, body: [], bodyRange: 0..<0)
        _ = talk.client.startRequest(tag: 2, headerBlock: second, body: [], bodyRange: 0..<0)
        talk.settle()
        let topics = talk.serverEvents.requests.map { talk.serverEvents.headers(of: $0).first(name: "apns-topic") }
        let ids = talk.serverEvents.requests.map { talk.serverEvents.headers(of: $0).first(name: "apns-id") }
        #expect(topics == ["com.example", "com.example"])
        #expect(ids == ["1", "2"])
    }
}

import HoldfastHTTP2
import HostileHTTP2
import Trials

/// The same bytes, given whole and cut anywhere, must mean the same.
enum SplitTrial {
    static func run(seed: UInt64, _ tally: inout Tally) throws(Breach) {
        var random = SeededRandom(seed: seed)
        let isClient = random.once(in: 2)
        let wire = bytes(isClient: isClient, &random)
        var told: [(cut: String, text: String)] = []
        for cut in ["whole", "cut", "byte by byte"] {
            var pieces: [[UInt8]] = []
            var start = 0
            while start < wire.count {
                let most = cut == "whole" ? wire.count : cut == "cut" ? random.one(of: [1, 9, 40, 3000]) : 1
                let end = min(wire.count, start + most)
                pieces.append(Array(wire[start..<end]))
                start = end
            }
            told.append((cut, isClient ? client(pieces) : server(pieces)))
        }
        tally.bytes += wire.count
        for (cut, text) in told.dropFirst() where text != told[0].text {
            throw Breach(
                "\(isClient ? "client" : "server"), \(wire.count) bytes \(cut) mean something else:\n\(told[0].text)\n\(text)"
            )
        }
    }

    private static func bytes(isClient: Bool, _ random: inout SeededRandom) -> [UInt8] {
        var situation = Situation(open: [1, 3, 5], closed: [], highest: 7, isServer: isClient)
        var wire = isClient ? [] : WireFrame.preface
        wire += WireFrame.settings([(3, 100)]).bytes + WireFrame.settingsAck.bytes
        let isSly = random.once(in: 2)
        for _ in 0..<30 {
            if isClient {
                wire += WireFrame.headers(random.one(of: [1, 3, 5, 7]), HeaderBlocks.status(103), end: false).bytes
            } else {
                wire += WireFrame.headers(situation.nextStream(), HeaderBlocks.request, end: random.once(in: 2)).bytes
            }
            if !isSly || random.once(in: 8) { wire += random.one(of: Malice.allCases).bytes(&situation, &random) }
        }
        return random.once(in: 3) ? HeaderBlocks.mutated(wire, &random) : wire
    }

    private static func client(_ pieces: [[UInt8]]) -> String {
        var limits = HTTP2Limits.client
        limits.streamsBeforeSettings = 4
        var session = HTTP2ClientSession(limits: limits, firstStreamID: 1)
        for tag in UInt64(0)..<4 {
            _ = session.startRequest(tag: tag, headerBlock: [0x83], body: [1, 2, 3], bodyRange: 0..<3)
        }
        var events = HTTP2ClientEvents()
        for piece in pieces { session.receive(piece.span, events: &events) }
        return "\(events.succeeded) \(events.others) \(session.openTags) \(session.output)"
    }

    private static func server(_ pieces: [[UInt8]]) -> String {
        var session = HTTP2ServerSession()
        var events = HTTP2ServerEvents()
        for piece in pieces { session.receive(piece.span, events: &events) }
        return "\(events.requests) \(events.bodies) \(events.others) \(session.openStreams) \(session.output)"
    }
}

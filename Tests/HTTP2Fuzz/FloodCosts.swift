import HoldfastHTTP2
import HostileHTTP2
import Trials

/// What each flood costs the one who is flooded: how far it gets, how long each byte takes, and what is held at most.
///
/// The session is as large as it gets before: thousands of requests are open, each with a body that no window lets out, so
/// that work which grows with the number of streams shows.
enum FloodCosts {
    /// Of an optimised build, on a machine that does other things as well. A budget of frames must not buy more.
    private static let longest = Duration.milliseconds(200)
    private static let most = 4 << 20

    static func run() -> Bool {
        print(
            "| flood | to a client: ended after | time | held at most "
                + "| to a server: ended after | time | held at most |")
        print("|---|---|---|---|---|---|---|")
        var isGood = true
        for malice in Malice.allCases {
            let results = [client(malice), server(malice)]
            let cells = results.map { "\($0.ended) | \($0.time) ms | \($0.held / 1024) KiB" }
            print("| \(malice) | \(cells.joined(separator: " | ")) |")
            for result in results where result.time > Int(longest / .milliseconds(1)) {
                FuzzCampaign.say("breach: \(malice) took \(result.time) ms")
                isGood = false
            }
        }
        return isGood
    }

    private struct Result {
        var ended: String
        var time: Int
        var held: Int
    }

    private static func client(_ malice: Malice) -> Result {
        var session = HTTP2ClientSession()
        var events = HTTP2ClientEvents()
        var open: [UInt32] = []
        session.receive((WireFrame.settings([(3, 4096)]).bytes + WireFrame.settingsAck.bytes).span, events: &events)
        let body = [UInt8](repeating: 1, count: 1000)
        while case .started(let id) = session.startRequest(
            tag: 0, headerBlock: HeaderBlocks.request, body: body, bodyRange: body.indices)
        { open.append(id) }
        _ = session.takeOutput()
        return flood(malice, Situation(open: open, highest: open.last ?? 0, isServer: true)) { bytes in
            events.removeAll()
            session.receive(bytes.span, events: &events)
            let held = session.heldBytes
            _ = session.takeOutput()
            return (session.failure, held)
        }
    }

    private static func server(_ malice: Malice) -> Result {
        var session = HTTP2ServerSession()
        var events = HTTP2ServerEvents()
        var open: [UInt32] = []
        var opening = WireFrame.preface + WireFrame.settings([(4, 0)]).bytes + WireFrame.settingsAck.bytes
        for index in UInt32(0)..<1000 {
            opening += WireFrame.headers(2 * index + 1, HeaderBlocks.request, end: index % 2 == 0).bytes
            open.append(2 * index + 1)
        }
        session.receive(opening.span, events: &events)
        for request in events.requests {
            session.respond(streamID: request.streamID, status: 400, body: [UInt8](repeating: 1, count: 1000))
        }
        _ = session.takeOutput()
        return flood(malice, Situation(open: open, highest: open.last ?? 0, isServer: false)) { bytes in
            events.removeAll()
            session.receive(bytes.span, events: &events)
            let held = session.heldBytes
            _ = session.takeOutput()
            return (session.failure, held)
        }
    }

    private static func flood(
        _ malice: Malice, _ situation: Situation, _ receive: ([UInt8]) -> (failure: HTTP2Error?, held: Int)
    ) -> Result {
        var situation = situation
        var random = SeededRandom(seed: 1)
        var (sent, held) = (0, 0)
        var time = Duration.zero
        while sent < most {
            var bytes: [UInt8] = []
            while bytes.count < 8192 { bytes += malice.bytes(&situation, &random) }
            let start = ContinuousClock.now
            let (failure, heldNow) = receive(bytes)
            time += ContinuousClock.now - start
            held = max(held, heldNow)
            sent += bytes.count
            if let failure {
                return Result(ended: "\(sent) B, \(failure.code)", time: Int(time / .milliseconds(1)), held: held)
            }
        }
        return Result(ended: "not (\(sent >> 20) MiB)", time: Int(time / .milliseconds(1)), held: held)
    }
}

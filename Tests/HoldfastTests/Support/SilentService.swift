import HoldfastAPNsAnswers
import HoldfastTesting

@testable import Holdfast

/// A service that answers nothing of some topics, on the first route of a bench. As Apple's, it has one request of a connection
/// at a time until it has taken one of them: a refusal does not count. What is not answered for 30 s is given up, and a
/// connection that has answered nothing for so long ends.
final class SilentService {
    static let deadline = Duration.seconds(30)
    private static let tick = Duration.milliseconds(500)

    private struct Line {
        let connection: StubConnection
        var waiting: ArraySlice<StubConnection.Sent> = []
        var open: [(at: Duration, entry: StubConnection.Sent)] = []
        var hasTaken = false
        var hasReturned = false
        /// It takes nothing more, and ends when what it has begun is answered.
        var isEnding = false
        var answeredAt: Duration
    }

    let bench: Bench
    /// Whether the service leaves this notification unanswered.
    var isSilent: (PushNotification) -> Bool
    /// The answer to each notification that it does not leave unanswered.
    var answer: (PushNotification) -> SendResult = { _ in .confirmed }
    /// Whether it ends the connection with this answer: what it has not begun goes over another one.
    var endsWith: (SendResult) -> Bool = { _ in false }
    /// Whether it ends the connection with this answer at once: what it has begun has no answer.
    var closesWith: (SendResult) -> Bool = { _ in false }
    /// What it does with a request in place of an answer.
    enum Drop: CaseIterable {
        /// The connection ends.
        case reset
        /// GOAWAY, with nothing processed.
        case unprocessed
        /// GOAWAY and an end, without an answer to the last request.
        case processed
        /// RST_STREAM, and the connection stays.
        case refusedStream
        /// 503 Shutdown, and GOAWAY.
        case shutdown
    }
    var drop: (PushNotification) -> Drop? = { _ in nil }
    private(set) var dropped = 0
    /// Answers that have not taken anything.
    private(set) var refusals = 0
    /// How late it answers.
    var delay: (PushNotification) -> Duration = { _ in .zero }
    /// When it was mended so that what was out before has no answer; nil where all that is out may have one.
    var mendedAt: Duration?
    /// How many requests it works on at a time over one connection, from the first answer on; nil for as many as it is given.
    var streams: Int?
    private(set) var taken: [PushNotification] = []
    private var asked: [String: Int] = [:]
    private var lines: [Int: Line] = [:]

    /// - Parameter announces: whether its SETTINGS say so. Else it is the connection that keeps to one request, and others may
    ///   wait in it.
    init(_ bench: Bench, announces: Bool = false, isSilent: @escaping (PushNotification) -> Bool) {
        self.bench = bench
        self.isSilent = isSilent
        // What it has is still answered, or not.
        bench.prepare = { connection in
            connection.state.withLock { $0.endsWhenClosed = false }
            connection.streamLimit.withLock { $0 = 1 }
            if announces { connection.capacityLimit.withLock { $0 = 2 } }
        }
    }

    func taken(of topic: String) -> Int { taken.count { $0.topic == topic } }

    /// Requests of the topic that have reached it.
    func asked(of topic: String) -> Int { asked[topic] ?? 0 }

    func run(for duration: Duration) {
        let end = bench.clock.monotonic + duration
        while bench.clock.monotonic < end {
            look()
            bench.advance(by: Self.tick)
        }
        look()
    }

    private func look() {
        repeat {
            for connection in bench.connections[0] where !connection.hasEnded {
                let number = connection.number
                lines[number, default: Line(connection: connection, answeredAt: now)].waiting += connection.takeNew()
                work(number)
            }
            bench.settle()
        } while bench.connections[0].contains { !$0.hasEnded && $0.hasNew }
    }

    /// Has every connection end, as a service does that is restarted: each takes nothing more.
    func endAll() {
        for number in lines.keys { lines[number]?.isEnding = true }
    }

    private var now: Duration { bench.clock.monotonic }

    private func work(_ number: Int) {
        guard var line = lines[number] else { return }
        defer { lines[number] = line }
        var isOver = false
        while !isOver {
            isOver = true
            let late = line.open.filter { now - $0.at >= Self.deadline }
            line.open.removeAll { now - $0.at >= Self.deadline }
            if !late.isEmpty {
                line.connection.sink(.results(late.map { ($0.entry.ticket, .unknown("no answer within 30 s")) }))
                if now - line.answeredAt >= Self.deadline {
                    return leave(&line, cause: "the service keeps connections open and answers no request")
                }
            }
            let due = line.open.filter { isDue($0) }
            line.open.removeAll { isDue($0) }
            for (index, (_, entry)) in due.enumerated() {
                guard respond(to: entry, on: &line) else { continue }
                line.open.append(contentsOf: due.dropFirst(index + 1))
                returnWaiting(of: &line)
                return leave(&line, cause: "closed by the service")
            }
            if line.connection.isClosed || line.isEnding { returnWaiting(of: &line) }
            while let next = line.waiting.first, line.open.count < line.connection.streams {
                line.waiting.removeFirst()
                asked[next.notification.topic, default: 0] += 1
                if let drop = drop(next.notification) {
                    if take(next, drop, on: &line) { return }
                } else {
                    line.open.append((now, next))
                }
                isOver = false
            }
        }
        if line.connection.isClosed || line.isEnding, line.open.isEmpty {
            line.connection.end(possiblySent: [], cause: nil)
        }
    }

    /// - Returns: whether the connection is over.
    private func take(_ entry: StubConnection.Sent, _ drop: Drop, on line: inout Line) -> Bool {
        dropped += 1
        switch drop {
        case .reset, .processed:
            if drop == .processed { returnWaiting(of: &line) }
            line.connection.end(
                possiblySent: (line.open.map(\.entry) + line.waiting + [entry]).map {
                    Sample.number(of: $0.notification)
                },
                cause: "reset")
            (line.open, line.waiting) = ([], [])
            return true
        case .unprocessed:
            returnWaiting(of: &line)
            line.connection.sink(.results([(entry.ticket, SendResult(.neverProcessed(.newConnection)))]))
            line.isEnding = true
        case .refusedStream:
            line.connection.sink(.results([(entry.ticket, SendResult(.neverProcessed(.none)))]))
        case .shutdown:
            line.connection.sink(.results([(entry.ticket, SendResult(apnsStatus: 503, reason: "Shutdown"))]))
            line.isEnding = true
        }
        return false
    }

    /// Gives the requests back that have not begun: the connection is closed, and they go over another one.
    private func returnWaiting(of line: inout Line) {
        if !line.hasReturned { line.connection.sink(.draining) }
        line.hasReturned = true
        let unsent = line.waiting.map { ($0.ticket, SendResult(.neverProcessed(.newConnection))) }
        line.waiting = []
        if !unsent.isEmpty { line.connection.sink(.results(unsent)) }
    }

    private func isDue(_ open: (at: Duration, entry: StubConnection.Sent)) -> Bool {
        if let mendedAt, open.at < mendedAt { return false }
        return !isSilent(open.entry.notification) && now - open.at >= delay(open.entry.notification)
    }

    /// - Returns: whether the connection is over.
    private func respond(to entry: StubConnection.Sent, on line: inout Line) -> Bool {
        line.answeredAt = now
        let answer = answer(entry.notification)
        if answer.verdict == .confirmed { taken.append(entry.notification) } else { refusals += 1 }
        defer { if answer.verdict == .confirmed, !line.hasTaken { grantAll(&line) } }
        line.connection.sink(
            answer.verdict == .confirmed ? .confirmed([entry.ticket]) : .results([(entry.ticket, answer)]))
        if endsWith(answer) { line.isEnding = true }
        return closesWith(answer)
    }

    private func grantAll(_ line: inout Line) {
        line.hasTaken = true
        line.connection.streamLimit.withLock { $0 = streams }
        line.connection.capacityLimit.withLock { $0 = streams.map { $0 + 1 } }
        line.connection.sink(.capacityChanged(line.connection.capacity))
    }

    private func leave(_ line: inout Line, cause: String) {
        returnWaiting(of: &line)
        line.connection.end(
            possiblySent: line.open.map { Sample.number(of: $0.entry.notification) },
            cause: cause)
        line.open = []
    }
}

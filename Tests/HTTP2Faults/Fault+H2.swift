extension Fault {
    /// Faults that are served, and counted, by Python's h2 (Tests/ForeignServers/push_service.py). None where it is missing.
    static let foreign: [Fault] = H2FaultyService.isThere ? allForeign : []

    private static func h2(
        _ fault: String, _ what: String, leavesOpen: LeftOpen = .nothing, at number: Int = 300, times: Int = 1 << 30
    ) -> Fault {
        Fault(name: "h2-\(fault)", what: what, server: "Python's h2", leavesOpen: leavesOpen) { count in
            try await H2FaultyService(fault: fault, at: number, times: times, count: count)
        }
    }

    private static let allForeign: [Fault] = [
        .h2("small-windows", "stream windows of 100 bytes, opened as they are used"),
        .h2("settings-games", "every 50 requests another initial window, header table, frame size and stream limit"),
        .h2("goaway", "eight connections: GOAWAY at request 250, what is on its way not processed", at: 250, times: 8),
        .h2("goaway-twice", "four connections: GOAWAY in two steps at request 250", at: 250, times: 4),
        .h2("refused", "from request 300 on, 500 requests REFUSED_STREAM", times: 500),
        .h2("stream-limit", "every 200 requests the stream limit falls to 1, and 20 later comes back", at: 200),
        .h2(
            "stall", "two connections: from request 300 on no answers, PING included", leavesOpen: .connection, times: 2
        ),
        .h2("busy", "from request 300 on, for 3 seconds, answers 503 with Retry-After: 1", times: 3),
        .h2("pieces", "every 50th answered 500; all error bodies in frames of one byte", at: 50),
        .h2(
            "close-unanswered", "five connections: closed at request 310, the last ten taken and not answered",
            leavesOpen: .connection, times: 5),
    ]
}

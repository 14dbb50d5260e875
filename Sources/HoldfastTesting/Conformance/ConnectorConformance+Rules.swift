internal import Holdfast

extension ConnectorConformance {
    private static let shortDeadline = Duration.milliseconds(200)

    /// Of every connection.
    static let connections: [Rule] = [
        Rule("A connection takes at least one entry") { bench in
            let connection = try await bench.connect()
            try expect("a capacity of at least 1", connection.capacity >= 1)
        },
        Rule("A connection that is closed with nothing in flight ends soon, and once") { bench in
            let connection = try await bench.connect()
            connection.close(deadline: .seconds(60))
            connection.close(deadline: .seconds(60))
            let end = try await bench.untilEnded()
            try expect("entries that may have been sent", end.possiblySent ?? [], is: [])
            connection.close(deadline: .zero)
        },
        Rule("A connection that is closed while its service is silent ends all the same") { bench in
            try await bench.order(.staySilent)
            let connection = try await bench.connect()
            bench.handOut(3, to: connection)
            connection.close(deadline: shortDeadline)
            _ = try await bench.untilEnded()
            try expect("confirmed by silence", bench.now.confirmed, is: [])
        },
        Rule("What is handed to an ended connection is answered by the end, or as not sent") { bench in
            let connection = try await bench.connect()
            connection.close(deadline: .zero)
            bench.handOut(2, to: connection)
            _ = try await bench.untilEnded()
            bench.handOut(2, to: connection)
            try expect("confirmed after closing", bench.now.confirmed, is: [])
            // The end calls nothing possibly sent that it does not name: it stands for what came later too.
            for (ticket, result) in bench.now.answers where ticket.rawValue > 2 {
                guard case .neverProcessed = result.verdict else {
                    throw Deviation(
                        "the answer to what came after the end", expected: "never processed", found: "\(result.verdict)"
                    )
                }
            }
        },
        Rule("A connection that its service ends reports the end, which answers for the rest") { bench in
            try await bench.order(.staySilent)
            let connection = try await bench.connect()
            bench.handOut(5, to: connection)
            try await bench.order(.close)
            let end = try await bench.untilEnded()
            try expect("confirmed by silence", bench.now.confirmed, is: [])
            try expect("a cause, since nobody asked for the end", end.cause != nil)
        },
        Rule("Connecting to a service that takes no connections fails, and says so") { bench in
            try await bench.order(.turnAway)
            do throws(ConnectError) {
                let connection = try await bench.connector.connect(ConnectionRecorder(.perNotification).sink)
                connection.close(deadline: .zero)
            } catch {
                return try expect("a message for people", !error.message.isEmpty)
            }
            throw Deviation("connecting", expected: "a ConnectError", found: "a connection")
        },
        Rule("After one connection has ended another can be made") { bench in
            let first = try await bench.connect()
            first.close(deadline: .zero)
            _ = try await bench.untilEnded()
            let second = try await bench.connect()
            bench.handOut(1, to: second)
            try await bench.until("the entry to be taken or sent") { !$0.confirmed.isEmpty || $0.sentThrough == 1 }
        },
    ]

    /// Of connections on which each notification is answered.
    static let answers: [Rule] = [
        Rule("Each notification that the service takes is confirmed, once") { bench in
            let connection = try await bench.connect()
            for _ in 1...10 { bench.handOut(1 + connection.capacity / 20, to: connection) }
            try await bench.until("an answer for each") { $0.unanswered.isEmpty }
            try expect("confirmed", bench.now.confirmed.count, is: bench.now.handedOut.count)
        },
        Rule("A notification that the service refuses is reported as rejected") { bench in
            try await bench.order(.refuse)
            let connection = try await bench.connect()
            bench.handOut(min(5, connection.capacity), to: connection)
            try await bench.until("an answer for each") { $0.unanswered.isEmpty }
            for result in bench.now.answers.values {
                guard case .rejected = result.verdict else {
                    throw Deviation("a verdict", expected: "rejected", found: "\(result.verdict)")
                }
            }
        },
        Rule("What the end does not call possibly sent was never sent") { bench in
            try await bench.order(.staySilent)
            let connection = try await bench.connect()
            bench.handOut(1, to: connection)
            connection.close(deadline: shortDeadline)
            let end = try await bench.untilEnded()
            // It was given time to be written. Whoever can't tell says nil.
            let isKnown = bench.now.answers[Ticket(rawValue: 1)] != nil
            let isNamed = end.possiblySent.map { $0.contains(Ticket(rawValue: 1)) } ?? true
            try expect("answered, or named as possibly sent", isKnown || isNamed)
        },
        Rule("An answer that comes while the connection closes comes before the end, or the end stands for it") {
            bench in
            // A race, so more than once.
            for _ in 1...5 {
                let connection = try await bench.connect(lingering: true)
                bench.handOut(min(connection.capacity, 100), to: connection)
                connection.close(deadline: .seconds(5))
                _ = try await bench.untilEnded()
            }
        },
    ]

    /// Of connections on which only errors are answered.
    static let positions: [Rule] = [
        Rule("Everything that has left is reported as sent, up to the last") { bench in
            let connection = try await bench.connectCumulatively()
            for _ in 1...3 { bench.handOut(7, to: connection) }
            try await bench.until("sent, through the last") { $0.sentThrough == 21 }
        },
        Rule("Listening is answered, in turn") { bench in
            let connection = try await bench.connectCumulatively()
            bench.handOut(1, to: connection)
            for stamp in [5, 6, 9] as [UInt64] {
                bench.recorder.asking(stamp)
                connection.listen(stamp: stamp)
            }
            try await bench.until("three stamps") { $0.stampsHeard == [5, 6, 9] }
        },
        Rule("A refused notification is named by its position, and the connection ends") { bench in
            let connection = try await bench.connectCumulatively()
            bench.handOut(3, to: connection)
            try await bench.until("sent, through the last") { $0.sentThrough == 3 }
            try await bench.order(.refuse)
            bench.handOut(3, to: connection)
            _ = try await bench.untilEnded()
            let error = try unwrap("a payload error", bench.now.error)
            // The service may read the first ones late.
            try expect("a position from 1 to 4", (1...4).contains(error.position.rawValue))
            guard case .refused(let result) = error.kind, case .rejected = result.verdict else {
                throw Deviation("the error", expected: "refused, with a verdict of rejected", found: "\(error.kind)")
            }
        },
        Rule("Listening keeps no error from being reported") { bench in
            try await bench.order(.refuse)
            let connection = try await bench.connectCumulatively()
            bench.handOut(1, to: connection)
            bench.recorder.asking(1)
            connection.listen(stamp: 1)
            try await bench.until("the error") { $0.error != nil }
        },
        Rule("A barrier proves what was sent before it, and costs the connection") { bench in
            let connection = try await bench.connectCumulatively()
            guard connection.canWriteBarrier else { throw PassedOver() }
            bench.handOut(4, to: connection)
            connection.writeBarrier()
            let end = try await bench.untilEnded()
            try expect("through what the barrier was answered", bench.now.barrierAnswered, is: 4)
            try expect("entries behind the barrier", (end.possiblySentThrough?.rawValue ?? 4) <= 4)
        },
        Rule("Behind a barrier nothing is sent") { bench in
            let connection = try await bench.connectCumulatively()
            guard connection.canWriteBarrier else { throw PassedOver() }
            bench.handOut(2, to: connection)
            connection.writeBarrier()
            bench.handOut(2, to: connection)
            let end = try await bench.untilEnded()
            try expect("sent through at most", bench.now.sentThrough <= 2)
            try expect("possibly sent through at most", (end.possiblySentThrough?.rawValue ?? 2) <= 2)
        },
    ]
}

import HoldfastMocking

/// A departure from the normal handling: asked for each connection as it is accepted, and for each notification that is
/// not discarded, after the mock has decided and before it acts.
///
/// It is called on event loops, possibly on several at a time, and must not block.
public struct MockBinaryBehavior: Sendable {
    let open: @Sendable (_ connection: Int) -> MockBinaryAnswer.Ending?
    let decide: @Sendable (MockBinaryNotification) -> MockBinaryAnswer?

    /// Creates a behavior for notifications.
    ///
    /// - Parameter decide: the handling of a notification; nil for the normal one.
    public init(_ decide: @escaping @Sendable (MockBinaryNotification) -> MockBinaryAnswer?) {
        open = { _ in nil }
        self.decide = decide
    }

    /// Creates a behavior for connections.
    ///
    /// - Parameter open: the handling of a connection, given its number, before TLS; nil for the normal one.
    public init(opening open: @escaping @Sendable (_ connection: Int) -> MockBinaryAnswer.Ending?) {
        self.open = open
        decide = { _ in nil }
    }

    private init(
        _ open: @escaping @Sendable (Int) -> MockBinaryAnswer.Ending?,
        _ decide: @escaping @Sendable (MockBinaryNotification) -> MockBinaryAnswer?
    ) {
        self.open = open
        self.decide = decide
    }

    /// Asks this behavior first, and `next` where it has no answer.
    public func orElse(_ next: MockBinaryBehavior) -> MockBinaryBehavior {
        MockBinaryBehavior({ number in open(number) ?? next.open(number) }, { one in decide(one) ?? next.decide(one) })
    }

    /// Restricts the behavior to these connections, given their numbers, which count from 1 over the server's life.
    public func onConnections(_ isMeant: @escaping @Sendable (Int) -> Bool) -> MockBinaryBehavior {
        MockBinaryBehavior(
            { number in isMeant(number) ? open(number) : nil }, { one in isMeant(one.connection) ? decide(one) : nil })
    }

    /// Restricts the behavior to its first `count` answers over the server's life.
    public func atMost(_ count: Int) -> MockBinaryBehavior {
        let left = Locked(count)
        @Sendable func limited<Answer>(_ answer: Answer?) -> Answer? {
            guard let answer else { return nil }
            return left.withLock { left in
                guard left > 0 else { return nil }
                left -= 1
                return answer
            }
        }
        return MockBinaryBehavior({ number in limited(open(number)) }, { one in limited(decide(one)) })
    }
}

extension MockBinaryBehavior {
    /// Handles every error except a barrier's in this way.
    public static func errors(_ answer: MockBinaryAnswer) -> MockBinaryBehavior {
        MockBinaryBehavior { one in one.fault != nil && !one.isBarrier ? answer : nil }
    }

    /// Handles every barrier in this way.
    public static func barriers(_ answer: MockBinaryAnswer) -> MockBinaryBehavior {
        MockBinaryBehavior { one in one.isBarrier ? answer : nil }
    }

    /// Handles this notification of each connection, counted from 1, in this way.
    public static func notification(_ number: Int, _ answer: MockBinaryAnswer) -> MockBinaryBehavior {
        MockBinaryBehavior { one in one.number == number ? answer : nil }
    }

    /// Reads and throws away everything, and answers nothing.
    public static let stalling = notification(
        1, MockBinaryAnswer(.refused(.unknown), isAnswered: false, ending: .discard))

    /// On each connection: shuts down with status 10 behind the first valid notification from this number on.
    public static func shuttingDown(after count: Int) -> MockBinaryBehavior {
        MockBinaryBehavior { one in
            one.number >= count && one.fault == nil ? MockBinaryAnswer(.lastGood) : nil
        }
    }

    /// On each connection: ends it in this way, without an answer, behind the notification of this number.
    public static func ending(_ ending: MockBinaryAnswer.Ending, after count: Int) -> MockBinaryBehavior {
        MockBinaryBehavior { one in
            one.number == count ? MockBinaryAnswer(isAnswered: false, ending: ending) : nil
        }
    }

    /// Closes or resets connections as they are accepted, or does not read from them.
    public static func opening(_ ending: MockBinaryAnswer.Ending) -> MockBinaryBehavior {
        MockBinaryBehavior(opening: { _ in ending })
    }
}

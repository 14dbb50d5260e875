/// A departure from the normal handling: asked about each request, before anything else is done with it.
///
/// It is called on event loops, possibly on several at a time, and must not block.
public struct MockBehavior: Sendable {
    package let decide: @Sendable (MockRequest) -> MockAnswer?

    /// Creates a behavior.
    ///
    /// - Parameter decide: the handling of a request; nil for the normal one.
    public init(_ decide: @escaping @Sendable (MockRequest) -> MockAnswer?) {
        self.decide = decide
    }

    /// Asks this behavior first, and `next` where it has no answer.
    public func orElse(_ next: MockBehavior) -> MockBehavior {
        MockBehavior { request in self.decide(request) ?? next.decide(request) }
    }
}

extension MockBehavior {
    /// Accepts nothing and answers nothing.
    public static let stalling = MockBehavior { _ in MockAnswer(.silence) }

    /// On each connection: handles `count` requests normally and then ends the connection in this way. Requests behind
    /// those are not looked at.
    public static func closing(after count: Int, ending: MockAnswer.Ending = .close) -> MockBehavior {
        MockBehavior { request in request.number == count ? MockAnswer(ending: ending) : nil }
    }

    /// Refuses the first `count` requests over the server's life with RST_STREAM REFUSED_STREAM.
    public static func refusing(first count: Int) -> MockBehavior {
        let left = Locked(count)
        return MockBehavior { _ in
            let isRefused = left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return true
            }
            return isRefused ? MockAnswer(.reset(code: 0x7)) : nil
        }
    }

    /// Resets the streams of requests to these tokens (hex, either case).
    ///
    /// - Parameter code: of RFC 9113 section 7; 0x7 is REFUSED_STREAM, 0x8 CANCEL, 0x2 INTERNAL_ERROR.
    public static func resetting(tokens: some Sequence<String>, code: UInt32) -> MockBehavior {
        let tokens = Set(tokens.map { $0.lowercased() })
        return MockBehavior { request in
            request.token.map(tokens.contains) == true ? MockAnswer(.reset(code: code)) : nil
        }
    }

    /// Delays the normal answers to these tokens (hex, either case).
    public static func delaying(tokens: [String: Duration]) -> MockBehavior {
        let delays = Dictionary(tokens.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: max)
        return MockBehavior { request in
            request.token.flatMap { delays[$0] }.map { delay in MockAnswer(delay: delay) }
        }
    }

    /// Writes bodies in DATA frames of at most `byteCount` bytes, 1 or more.
    public static func splittingBodies(every byteCount: Int) -> MockBehavior {
        precondition(byteCount > 0, "a frame of no bytes would never end")
        return MockBehavior { _ in MockAnswer(bodyFrameByteCount: byteCount) }
    }
}

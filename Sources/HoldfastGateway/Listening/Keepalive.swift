internal import NIOCore

/// How TCP finds a client whose machine or network is gone: its kernel is asked when nothing came for a while, and the
/// connection is closed when it does not answer, two minutes behind the last byte.
///
/// For a client that is owed nothing. What a client does not acknowledge ends its connection sooner: ``ConnectionClock``.
enum Keepalive {
    /// Seconds without a byte.
    static let idle: Int = 60
    /// Seconds between two questions.
    static let interval: Int = 15
    /// Questions without an answer.
    static let count: Int = 4

    // As Linux numbers them: TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT.
    static let idleOption = NIOBSDSocket.Option(rawValue: 4)
    static let intervalOption = NIOBSDSocket.Option(rawValue: 5)
    static let countOption = NIOBSDSocket.Option(rawValue: 6)
}

internal import NIOCore

/// TCP keepalive, which finds a client whose machine or network is gone: after a silence its kernel is asked, and
/// without an answer the connection is closed, two minutes behind the last byte.
///
/// For a client that is owed nothing. Unacknowledged bytes end a connection sooner: ``ConnectionClock``.
enum Keepalive {
    /// Seconds without a byte.
    static let idle: Int = 60
    /// Seconds between two questions.
    static let interval: Int = 15
    /// Questions without an answer.
    static let count: Int = 4

    // Linux's numbers: TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT.
    static let idleOption = NIOBSDSocket.Option(rawValue: 4)
    static let intervalOption = NIOBSDSocket.Option(rawValue: 5)
    static let countOption = NIOBSDSocket.Option(rawValue: 6)
}

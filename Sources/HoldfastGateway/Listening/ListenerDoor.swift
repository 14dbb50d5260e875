internal import NIOCore

/// Who is let in at a listener, and what is told of those who are not.
struct ListenerDoor: Sendable {
    /// The connections that the listener may have, as of now.
    let limit: @Sendable () -> Int
    /// What it shares with the others.
    let room: ConnectionRoom
    let figures: IngressFigures
    let log: ListenerLog

    /// - Parameter open: the listener's open connections.
    /// - Returns: whether there is room for one more, which is taken.
    func admits(_ peer: SocketAddress?, open: Int) -> Bool {
        let limit = limit()
        guard open < limit else {
            figures.fault(.connections)
            log(
                .tooManyConnections,
                "a connection was closed at once: \(open) are open, as many as the listener's `connections` allow",
                peer: peer)
            return false
        }
        guard room.take() else {
            figures.fault(.descriptors)
            log(
                .tooManyDescriptors,
                """
                a connection was closed at once: the listeners have as many open as this process may have beside what it \
                keeps for delivery, operators and files (`LimitNOFILE=` of a systemd unit, `ulimit -Hn` of a shell)
                """,
                peer: peer)
            return false
        }
        return true
    }

    func cannotAccept(_ error: any Error) {
        log(.cannotAccept, "no connection can be accepted, and it is tried again in a second: \(error)")
    }
}

internal import Holdfast
internal import NIOCore

/// The connections of the operators' page. When there are as many as may be, the one that has been idle for longest gives
/// way to another: those that say nothing must not keep a probe from its answer.
final class AdminConnections: Sendable {
    private struct Connection: Sendable {
        let channel: any Channel
        /// Nil while it has a request.
        var idleSince: NIODeadline?
    }

    private let limit: Int
    private let connections = Monitor<[ObjectIdentifier: Connection]>([:])

    init(limit: Int) { self.limit = limit }

    /// - Returns: false where each of the others is being answered: then it is to be closed.
    func add(_ channel: any Channel, now: NIODeadline = .now()) -> Bool {
        let (isAdded, oldest) = connections.withLock { connections -> (Bool, (any Channel)?) in
            var oldest: (key: ObjectIdentifier, value: Connection)?
            if connections.count >= limit {
                oldest = connections.filter { $0.value.idleSince != nil }.min { one, other in
                    one.value.idleSince ?? now < other.value.idleSince ?? now
                }
                guard let oldest else { return (false, nil) }
                connections[oldest.key] = nil
            }
            connections[ObjectIdentifier(channel)] = Connection(channel: channel, idleSince: now)
            return (true, oldest?.value.channel)
        }
        oldest?.close(promise: nil)
        return isAdded
    }

    func remove(_ channel: any Channel) { connections.withLock { $0[ObjectIdentifier(channel)] = nil } }

    /// It has a request from now on, or none any more.
    func change(_ channel: any Channel, isIdle: Bool, now: NIODeadline = .now()) {
        connections.withLock { $0[ObjectIdentifier(channel)]?.idleSince = isIdle ? now : nil }
    }
}

internal import Holdfast
internal import NIOCore

/// The connections of the admin server. At the limit, a new one replaces the one that has been idle for longest: silent
/// clients must not keep a probe from its answer.
final class AdminConnections: Sendable {
    private struct Connection: Sendable {
        let channel: any Channel
        /// nil while a request is being answered.
        var idleSince: NIODeadline?
    }

    private let limit: Int
    private let connections = Monitor<[ObjectIdentifier: Connection]>([:])

    init(limit: Int) { self.limit = limit }

    /// - Returns: false where all others are being answered: the new one has to be closed.
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

    /// Notes that a request has come, or was answered.
    func change(_ channel: any Channel, isIdle: Bool, now: NIODeadline = .now()) {
        connections.withLock { $0[ObjectIdentifier(channel)]?.idleSince = isIdle ? now : nil }
    }
}

internal import Holdfast
internal import NIOCore

/// The open connections of a listener, which any thread may ask about.
final class GuestList: Sendable {
    private struct State: Sendable {
        var guests: Guests<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isEnding = false
    }

    enum Admission: Sendable {
        case admitted
        /// This one has to go for it.
        case inPlaceOf(any Channel)
        case refused(ListenerFault)
        /// The listener ends.
        case ended
    }

    private let state: Monitor<State>

    /// - Parameter asksForCredentials: whether clients have to show credentials.
    init(asksForCredentials: Bool) {
        state = Monitor(State(guests: Guests(asksForCredentials: asksForCredentials)))
    }

    /// Whether clients have to show credentials. Applies to open connections, too.
    var asksForCredentials: Bool {
        get { state.withLock(\.guests.asksForCredentials) }
        set { state.withLock { $0.guests.asksForCredentials = newValue } }
    }

    var channels: [any Channel] { state.withLock { Array($0.channels.values) } }
    /// The open connections, without those being closed for another one.
    var count: Int { state.withLock(\.guests.count) }

    /// See ``Guests/admit(_:from:limit:addressLimit:hasRoom:)``.
    func admit(_ channel: any Channel, _ limits: ListenerLimits, hasRoom: Bool) -> Admission {
        let address = GuestAddress(channel.remoteAddress)
        return state.withLock { state in
            guard !state.isEnding else { return .ended }
            let asks = state.guests.asksForCredentials
            let admission = state.guests.admit(
                ObjectIdentifier(channel), from: address, limit: limits.connections,
                addressLimit: limits.addressLimit(asksForCredentials: asks), hasRoom: hasRoom)
            if case .refused(let fault) = admission { return .refused(fault) }
            state.channels[ObjectIdentifier(channel)] = channel
            guard case .inPlaceOf(let id) = admission, let other = state.channels[id] else { return .admitted }
            return .inPlaceOf(other)
        }
    }

    /// Notes that a connection has shown valid credentials.
    func proved(_ channel: any Channel) { state.withLock { $0.guests.proved(ObjectIdentifier(channel)) } }

    /// The credentials that a connection has shown hold no more.
    func doubted(_ channel: any Channel) { state.withLock { $0.guests.doubted(ObjectIdentifier(channel)) } }

    /// Tells each open connection something, through its pipeline.
    func tell(_ event: any Sendable) {
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(event) }
    }

    /// A connection is closed.
    func remove(_ channel: any Channel) {
        state.withLock { state in
            state.guests.remove(ObjectIdentifier(channel))
            state.channels[ObjectIdentifier(channel)] = nil
        }
    }

    /// Admits no more connections.
    ///
    /// - Returns: the open ones.
    func end() -> [any Channel] {
        state.withLock { state in
            state.isEnding = true
            return Array(state.channels.values)
        }
    }
}

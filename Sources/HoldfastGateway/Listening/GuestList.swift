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

    /// - Parameter asksForCredentials: whether its clients have to prove who they are.
    init(asksForCredentials: Bool) {
        state = Monitor(State(guests: Guests(asksForCredentials: asksForCredentials)))
    }

    /// Whether the listener's clients have to prove who they are. Holds for those that are inside, too.
    var asksForCredentials: Bool {
        get { state.withLock(\.guests.asksForCredentials) }
        set { state.withLock { $0.guests.asksForCredentials = newValue } }
    }

    var channels: [any Channel] { state.withLock { Array($0.channels.values) } }
    /// Without those that have to go for another one.
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

    /// A connection has shown who it is.
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

    /// Lets nobody in any more.
    ///
    /// - Returns: those that are open.
    func end() -> [any Channel] {
        state.withLock { state in
            state.isEnding = true
            return Array(state.channels.values)
        }
    }
}

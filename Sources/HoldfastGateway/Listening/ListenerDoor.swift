internal import NIOCore

/// Decides which connections a listener admits, and reports the others.
struct ListenerDoor: Sendable {
    /// The limits now.
    let limits: @Sendable () -> ListenerLimits
    /// The open connections.
    let guests: GuestList
    /// The places that all listeners share.
    let room: ConnectionRoom
    let figures: IngressFigures
    let log: ListenerLog

    /// - Returns: whether there is room for one more, which is taken until it is closed.
    func admits(_ channel: any Channel) -> Bool {
        let limits = limits()
        let hasRoom = room.take()
        switch guests.admit(channel, limits, hasRoom: hasRoom) {
        case .admitted: break
        case .inPlaceOf(let stranger):
            // Until the other one is closed, one of the reserved places is in use.
            if !hasRoom { room.take(beyondLimit: true) }
            end(stranger)
        case .refused(let fault):
            if hasRoom { room.giveBack() }
            refuse(channel.remoteAddress, fault, limits)
            return false
        case .ended:
            if hasRoom { room.giveBack() }
            return false
        }
        channel.closeFuture.whenComplete { _ in
            guests.remove(channel)
            room.giveBack()
        }
        return true
    }

    private func end(_ stranger: any Channel) {
        figures.fault(.unproven)
        log(
            .strangersGo,
            """
            a connection that had shown no credentials was closed to let another one in: all places are taken (the \
            listener's `connections`, or what the process may have open)
            """,
            peer: stranger.remoteAddress)
        stranger.eventLoop.execute { stranger.cutOff() }
    }

    private func refuse(_ peer: SocketAddress?, _ fault: ListenerFault, _ limits: ListenerLimits) {
        figures.fault(fault)
        switch fault {
        case .address:
            let limit = limits.addressLimit(asksForCredentials: guests.asksForCredentials)
            log(
                .tooManyFromAddress,
                """
                a connection was closed at once: \(limit) are open from its address, as many as the listener's \
                `connections-per-address` allow
                """,
                peer: peer)
        case .descriptors:
            log(
                .tooManyDescriptors,
                """
                a connection was closed at once: the listeners have as many open as this process may have beside what it \
                keeps for delivery, operators and files (`LimitNOFILE=` of a systemd unit, `ulimit -Hn` of a shell)
                """,
                peer: peer)
        default:
            log(
                .tooManyConnections,
                """
                a connection was closed at once: \(limits.connections) are open, as many as the listener's `connections` \
                allow
                """,
                peer: peer)
        }
    }
}

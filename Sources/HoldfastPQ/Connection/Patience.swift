internal import HoldfastPlatform

/// How long a call may wait, and who may end it sooner.
///
/// The clock goes on while the machine sleeps: a deadline passes during a suspension as a lease in the database does.
struct Patience {
    let deadline: ContinuousClock.Instant
    let interruption: PQInterruption

    enum Event: Hashable {
        case ready
        case deadline
        case interruption
    }

    /// Waits until the descriptor can be read or written.
    func wait(_ descriptor: Int32, reading: Bool, writing: Bool) -> Event {
        let wanted = (reading ? Int16(POLLIN) : 0) | (writing ? Int16(POLLOUT) : 0)
        while true {
            if interruption.isInterrupted { return .interruption }
            let rest = deadline - .now
            guard rest > .zero else { return .deadline }
            var interest = [
                pollfd(fd: descriptor, events: wanted, revents: 0),
                pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&interest, nfds_t(interest.count), Self.milliseconds(rest))
            // A failed poll is left to the next call on the descriptor, which says why.
            if count < 0, errno != EINTR { return .ready }
            if count > 0, interest[0].revents != 0 { return .ready }
        }
    }

    /// Whether there is something to read now.
    func isReadable(_ descriptor: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&interest, 1, 0) > 0
    }

    /// Rounded up, so that the last wait does not end before the deadline.
    private static func milliseconds(_ rest: Duration) -> Int32 {
        let (seconds, attoseconds) = rest.components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// A part of the time for one of several attempts: the same for each that is left.
    func share(among count: Int) -> Patience {
        let rest = max(deadline - .now, .zero)
        return Patience(deadline: .now + rest / max(count, 1), interruption: interruption)
    }
}

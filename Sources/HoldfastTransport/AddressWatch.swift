package import Holdfast
internal import NIOCore

/// The address book that the connections of one connector share. Reports addresses that are quarantined.
package final class AddressWatch: Sendable {
    private struct State: Sendable {
        var book: AddressBook
        var hosts: [ConnectorHost] = []
    }

    /// The endpoint, for people: `https://api.push.apple.com:443`.
    private let endpoint: String
    private let quarantine: Duration
    private let state: Monitor<State>

    package init(endpoint: String, quarantine: Duration) {
        self.endpoint = endpoint
        self.quarantine = quarantine
        state = Monitor(State(book: AddressBook(quarantine: quarantine)))
    }

    package func add(_ host: ConnectorHost) {
        state.withLock { state in
            state.hosts.removeAll(where: \.hasEnded)
            state.hosts.append(host)
        }
    }

    func order(_ addresses: [String]) -> [String] { state.withLock { $0.book.order(addresses, now: Self.now()) } }

    func opened(_ address: String) { state.withLock { $0.book.opened(address) } }

    func closed(_ address: String) { state.withLock { $0.book.closed(address) } }

    func refused(_ address: String) { state.withLock { $0.book.refused(address, now: Self.now()) } }

    /// - Parameter why: "accepts connections and does not answer".
    func stalled(_ address: String, _ why: String) {
        let hosts: [ConnectorHost] = state.withLock { state in
            state.book.stalled(address, now: Self.now()) ? state.hosts : []
        }
        let notice = ConnectorNotice(
            .addressQuarantined,
            "\(address), one of the addresses of \(endpoint), \(why): for \(quarantine) it is tried only when no other "
                + "answers")
        for host in hosts { host.report(notice) }
    }

    private static func now() -> Duration { .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }
}

/// The address that a connection goes to: the service's, or a proxy's.
package struct DialedAddress: Sendable {
    /// `17.188.143.34:443`
    package let text: String
    let watch: AddressWatch?

    /// The connection has come to nothing in a way that is the address's fault.
    package func stalled(_ why: String) { watch?.stalled(text, why) }
}

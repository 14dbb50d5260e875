internal import Holdfast
package import NIOCore

/// The addresses at which this process itself takes notifications.
///
/// Clients with a fixed host name are led to a gateway by their machine's hosts file. A gateway on that machine reads
/// the same line: it would deliver to itself, get 200 for notifications that its journal holds already, and count them
/// as delivered.
package final class OwnListeners: Sendable {
    package static let shared = OwnListeners()

    private let open = Monitor<[Place]>([])

    package init() {}

    /// - Parameter address: the listener's bound address; one of no IP network is ignored.
    package func opened(_ address: SocketAddress) {
        guard let place = Place(address) else { return }
        open.withLock { $0.append(place) }
    }

    package func closed(_ address: SocketAddress) {
        guard let place = Place(address) else { return }
        open.withLock { places in
            if let index = places.firstIndex(of: place) { places.remove(at: index) }
        }
    }

    /// Whether it listens nowhere.
    var isEmpty: Bool { open.withLock { $0.isEmpty } }

    /// Whether a connection to the address would reach this process. One that comes back through a translation of ports or
    /// addresses, or a balancer, is recognised by what it brings: see ``RelayMark``.
    package func take(_ address: SocketAddress) -> Bool {
        guard let wanted = Place(address) else { return false }
        let candidates = open.withLock { $0.filter { $0.port == wanted.port } }
        guard !candidates.isEmpty else { return false }
        // The system connects to the unspecified address by loopback.
        if wanted.ip.isUnspecified { return candidates.contains { $0.ip.isUnspecified || $0.ip.isLoopback } }
        return candidates.contains { $0.ip == wanted.ip }
            || (candidates.contains { $0.ip.isUnspecified } && (wanted.ip.isLoopback || Self.machineHas(wanted.ip)))
    }

    /// Whether an interface of this machine has the address.
    private static func machineHas(_ ip: AddressBits) -> Bool {
        // Without a list nothing is known, and the connection is made as ever.
        guard let devices = try? System.enumerateDevices() else { return false }
        return devices.contains { $0.address.flatMap { Place($0) }?.ip == ip }
    }

    private struct Place: Hashable {
        let ip: AddressBits
        let port: Int

        init?(_ address: SocketAddress) {
            guard let bits = AddressBits(address), let port = address.port else { return nil }
            ip = bits.unmapped
            self.port = port
        }
    }
}

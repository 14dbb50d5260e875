/// A server of a connection string: one of its hosts with its port.
struct PQPlace: Hashable, Sendable {
    /// A name, an address, or the path of a directory of sockets; empty for libpq's own directory.
    var host: String
    /// An address that the string gives beside the name, or that the name was found to have.
    var address: String?
    var port: String

    /// Whether it is a socket of this machine.
    var isSocket: Bool { address == nil && (host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@")) }

    /// Whether nobody but this machine can hear what goes there.
    var isLocal: Bool {
        if isSocket { return true }
        return HostAddress.isLoopback(address ?? host) && (address == host || host == "localhost" || host.isEmpty)
    }

    /// For messages.
    var words: String {
        if isSocket { return "the socket \(host.isEmpty ? "in libpq's directory" : host) of port \(port)" }
        let name = host.isEmpty ? address ?? "" : host
        guard let address, address != name else { return "\(name):\(port)" }
        return "\(name):\(port) (\(address))"
    }
}

/// The servers of a connection string, in its order.
enum PQPlaces {
    /// - Throws: `configuration` when the lists have different lengths, or a port is none.
    static func read(_ values: [String: String]) throws(PQError) -> [PQPlace] {
        let hosts = list(values["host"])
        let addresses = list(values["hostaddr"])
        let ports = list(values["port"])
        let count = max(hosts.count, addresses.count, 1)
        for (keyword, found) in [("host", hosts), ("hostaddr", addresses)] where !found.isEmpty && found.count != count
        {
            throw PQError(
                .configuration,
                "the connection string for PostgreSQL has \(found.count) of \(keyword), and \(count) hosts")
        }
        guard ports.count <= 1 || ports.count == count else {
            throw PQError(
                .configuration, "the connection string for PostgreSQL has \(ports.count) ports for \(count) hosts")
        }
        var places: [PQPlace] = []
        for index in 0..<count {
            let port = ports.isEmpty ? "" : ports[ports.count == 1 ? 0 : index]
            let address = addresses.isEmpty ? "" : addresses[index]
            places.append(
                PQPlace(
                    host: hosts.isEmpty ? "" : hosts[index], address: address.isEmpty ? nil : address,
                    port: try checked(port)))
        }
        return places
    }

    private static func checked(_ port: String) throws(PQError) -> String {
        if port.isEmpty { return "5432" }
        guard let number = Int(port), (1...65_535).contains(number) else {
            throw PQError(.configuration, "the connection string for PostgreSQL has a port that is not in 1…65535")
        }
        return String(number)
    }

    private static func list(_ value: String?) -> [String] {
        guard let value, !value.isEmpty else { return [] }
        return value.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.split(separator: " ").joined(separator: " ")
        }
    }
}

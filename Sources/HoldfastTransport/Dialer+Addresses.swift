internal import Holdfast
internal import NIOCore

extension Dialer {
    /// The addresses to try, in order: names are resolved each time.
    func candidates(on loop: any EventLoop) async throws(ConnectError) -> [Candidate] {
        guard let proxy else {
            let addresses = try await allowed(resolve(host, port, endpoint, on: loop))
            return ordered(addresses).map { Candidate(address: $0.address, dialed: $0.dialed, tunnel: nil) }
        }
        let proxies = try await resolve(proxy.host, proxy.port, "the proxy \(proxy)", on: loop)
        guard proxy.kind == .socks4 else {
            let tunnel = ProxyTunnel(proxy: proxy, target: target(for: proxy))
            return ordered(proxies).map { Candidate(address: $0.address, dialed: $0.dialed, tunnel: tunnel) }
        }
        // SOCKS 4 is told an address: it is the service's that may stall.
        let targets = try await resolve(host, port, endpoint, on: loop).filter { $0.ipv4Bytes != nil }
        guard let address = proxies.first, !targets.isEmpty else {
            throw ConnectError(
                .configuration, "\(endpoint) has no IPv4 address, and the proxy \(proxy) takes no other: use socks4a://"
            )
        }
        return ordered(targets).map { target in
            Candidate(
                address: address, dialed: target.dialed,
                tunnel: ProxyTunnel(
                    proxy: proxy, target: .address(target.address.ipv4Bytes ?? [], port: port)))
        }
    }

    /// The addresses to which a connection may be made: not this process's own and, in the clear, only loopback's.
    ///
    /// - Throws: ``ConnectError`` where nothing is left.
    private func allowed(_ addresses: [SocketAddress]) throws(ConnectError) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let near = addresses.filter { tls != nil || AddressBits($0)?.isLoopback == true }
        guard !near.isEmpty else {
            throw ConnectError(
                .configuration,
                """
                \(endpoint) would be in the clear to another machine: \(host) is \(Self.text(first)) here, which is not \
                loopback; nothing is sent to it. Mend the name in this machine's hosts file, or name 127.0.0.1 or [::1]
                """)
        }
        let others = near.filter { !avoided.take($0) }
        guard others.isEmpty else { return others }
        throw ConnectError(
            .configuration,
            """
            \(endpoint) is this process itself: \(host) is \(Self.text(near[0])) here, where it listens; nothing is sent to \
            it. Take the name out of this machine's hosts file, or configure the service's own address (over HTTP/2 with its \
            name as server-name)
            """)
    }

    private func target(for proxy: ProxyServer) -> ProxyTarget {
        guard proxy.kind != .http, let address = try? SocketAddress(ipAddress: host, port: port),
            let bytes = address.ipv4Bytes ?? (proxy.kind == .socks5 ? address.ipv6Bytes : nil)
        else { return .name(host, port: port) }
        return .address(bytes, port: port)
    }

    private func ordered(_ addresses: [SocketAddress]) -> [(address: SocketAddress, dialed: DialedAddress)] {
        let byText = Dictionary(addresses.map { (Self.text($0), $0) }, uniquingKeysWith: { first, _ in first })
        let texts = addresses.map(Self.text)
        return (watch?.order(texts) ?? texts).compactMap { text in
            byText[text].map { ($0, DialedAddress(text: text, watch: watch)) }
        }
    }

    private static func text(_ address: SocketAddress) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "\(address)" }
        return HostAndPort.text(host: ip, port: port)
    }

    /// - Parameter what: the thing that has the name, for people.
    private func resolve(
        _ host: String, _ port: Int, _ what: String, on loop: any EventLoop
    ) async throws(ConnectError) -> [SocketAddress] {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return [address] }
        let answer = loop.makePromise(of: [SocketAddress].self)
        let timer = loop.scheduleTask(in: TimeAmount(deadline)) {
            answer.fail(UnknownHost(host: host, why: "the resolver did not answer within \(deadline.words)"))
        }
        defer { timer.cancel() }
        resolver.addresses(of: host, port: port, on: loop).cascade(to: answer)
        do {
            return try await withTaskCancellationHandler {
                try await answer.futureResult.get()
            } onCancel: {
                answer.fail(UnknownHost(host: host, why: "looking for it was given up"))
            }
        } catch let error as UnknownHost {
            throw ConnectError(
                .temporary, "\(what) can't be reached: \(error.host) has no address: \(error.why)",
                advice: Self.nameAdvice)
        } catch {
            throw ConnectError(
                .temporary, "\(what) can't be reached: \(host) can't be resolved: \(error)", advice: Self.nameAdvice)
        }
    }
}

extension SocketAddress {
    /// nil for text that is no IPv4 address.
    fileprivate var ipv4Bytes: [UInt8]? {
        guard case .v4 = self, let ip = ipAddress else { return nil }
        let bytes = ip.split(separator: ".").compactMap { UInt8($0) }
        return bytes.count == 4 ? bytes : nil
    }

    /// nil for text that is no IPv6 address.
    fileprivate var ipv6Bytes: [UInt8]? {
        guard case .v6 = self, let text = ipAddress?.prefix(while: { $0 != "%" }) else { return nil }
        let halves = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false).map(Self.groups)
        let known = halves.reduce(0) { $0 + $1.count }
        guard known == 16 || (halves.count == 2 && known < 16) else { return nil }
        return halves[0] + [UInt8](repeating: 0, count: 16 - known) + (halves.count == 2 ? halves[1] : [])
    }

    private static func groups(_ text: Substring) -> [UInt8] {
        text.split(separator: ":").flatMap { group -> [UInt8] in
            // The end may be written as IPv4.
            if group.contains(".") { return group.split(separator: ".").compactMap { UInt8($0) } }
            let number = UInt16(group, radix: 16) ?? 0
            return [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
        }
    }
}

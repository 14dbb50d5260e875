import Testing

@testable import Holdfast
@testable import HoldfastTransport

@Suite struct SOCKSHandshakeTests {
    private static let name = ProxyTarget.name("api.push.apple.com", port: 443)

    private func handshake(
        _ kind: ProxyServer.Kind, _ target: ProxyTarget = name, user: String? = nil, password: String? = nil
    ) -> SOCKSHandshake {
        SOCKSHandshake(ProxyServer(kind, host: "p", port: 1, user: user, password: password), target: target)
    }

    @Test("SOCKS 5 without a user, byte by byte as RFC 1928 has it") func anonymous() throws {
        var handshake = handshake(.socks5)
        #expect(handshake.takeOutput() == [5, 1, 0])
        try handshake.receive([5, 0])
        #expect(handshake.takeOutput() == [5, 1, 0, 3, 18] + Array("api.push.apple.com".utf8) + [1, 0xBB])
        try handshake.receive([5, 0, 0, 1, 10, 0, 0, 1, 4, 5])
        #expect(handshake.isEstablished)
        #expect(handshake.takeRest() == [])
    }

    @Test("SOCKS 5 with user and password as RFC 1929 has it, to an address") func login() throws {
        var handshake = handshake(.socks5, .address([17, 1, 2, 3], port: 2197), user: "me", password: "pw")
        #expect(handshake.takeOutput() == [5, 2, 0, 2])
        try handshake.receive([5, 2])
        #expect(handshake.takeOutput() == [1, 2, 0x6D, 0x65, 2, 0x70, 0x77])
        try handshake.receive([1, 0])
        #expect(handshake.takeOutput() == [5, 1, 0, 1, 17, 1, 2, 3, 0x08, 0x95])
        // An answer that names the proxy's own end by a name, and what the service said at once behind it.
        try handshake.receive([5, 0, 0, 3, 2, 0x61, 0x62, 0, 1, 0x16, 0x03])
        #expect(handshake.isEstablished)
        #expect(handshake.takeRest() == [0x16, 0x03])
    }

    @Test("SOCKS 4 tells an address, 4a the name") func version4() throws {
        var four = handshake(.socks4, .address([17, 1, 2, 3], port: 443), user: "me")
        #expect(four.takeOutput() == [4, 1, 1, 0xBB, 17, 1, 2, 3, 0x6D, 0x65, 0])
        try four.receive([0, 0x5A, 0, 0, 0, 0, 0, 0])
        #expect(four.isEstablished)
        var fourA = handshake(.socks4a, .name("ab", port: 443))
        #expect(fourA.takeOutput() == [4, 1, 1, 0xBB, 0, 0, 0, 1, 0, 0x61, 0x62, 0])
        try fourA.receive([0, 0x5A, 1, 2, 3, 4, 5, 6, 7])
        #expect(fourA.isEstablished)
        #expect(fourA.takeRest() == [7])
    }

    @Test("Answers split anywhere are read as they are whole") func split() throws {
        var handshake = handshake(.socks5, user: "me", password: "pw")
        for byte in [5, 2, 1, 0, 5, 0, 0, 4] + [UInt8](repeating: 9, count: 18) {
            #expect(!handshake.isEstablished)
            try handshake.receive([byte])
        }
        #expect(handshake.isEstablished)
    }

    @Test(
        "What the proxy has against who we are is for the operator; against the target, it may pass",
        arguments: [
            (ProxyServer.Kind.socks5, nil, [5, 0xFF], ConnectError.Kind.configuration, "no user"),
            (.socks5, "me", [5, 0xFF], .configuration, "neither"),
            (.socks5, "me", [5, 2, 1, 1], .configuration, "does not know this user"),
            (.socks5, nil, [5, 0, 5, 2], .temporary, "does not allow"),
            (.socks5, nil, [5, 0, 5, 5], .temporary, "refused"),
            (.socks5, nil, [5, 0, 5, 99], .temporary, "code 99"),
            (.socks5, nil, [5, 2], .temporary, "as it should"),
            (.socks5, nil, [4, 0], .temporary, "as it should"),
            (.socks5, nil, [5, 0, 5, 0, 0, 7, 0], .temporary, "as it should"),
            (.socks4a, nil, [0, 0x5B, 0, 0, 0, 0, 0, 0], .temporary, "does not connect"),
            (.socks4a, nil, [0, 0x5D, 0, 0, 0, 0, 0, 0], .configuration, "who we say"),
            (.socks4a, nil, [5, 0x5A, 0, 0, 0, 0, 0, 0], .temporary, "as it should"),
        ] as [(ProxyServer.Kind, String?, [UInt8], ConnectError.Kind, String)])
    func refusals(
        _ kind: ProxyServer.Kind, _ user: String?, _ bytes: [UInt8], _ expected: ConnectError.Kind, _ words: String
    ) {
        var handshake = handshake(kind, user: user, password: user.map { _ in "pw" })
        let error = #expect(throws: SOCKSHandshake.Refusal.self) { try handshake.receive(bytes) }
        #expect(error?.kind == expected)
        #expect(error?.why.contains(words) == true)
    }

    @Test("Any bytes at all end in a tunnel, a refusal or waiting for a few more", arguments: 0..<20 as Range<UInt64>)
    func garbage(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        for _ in 0..<500 {
            let kind = ProxyServer.Kind.allCases.filter { $0 != .http }.randomElement(using: &random)!
            var handshake = handshake(kind, user: "me", password: "pw")
            for _ in 0..<Int.random(in: 1...600, using: &random) {
                let likely: [UInt8] = [0, 1, 2, 3, 4, 5, 0x5A]
                let isLikely = Bool.random(using: &random)
                let byte = isLikely ? likely.randomElement(using: &random)! : .random(in: 0...255, using: &random)
                guard (try? handshake.receive([byte])) != nil, !handshake.isEstablished else { break }
            }
            #expect(handshake.takeRest().count <= 262, "seed \(seed)")
        }
    }
}

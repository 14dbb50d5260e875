import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastOpenSSL
import RawClients
import Testing

@Suite("Provider tokens")
struct ProviderTokenTests {
    private func reason(_ authorization: String?, _ server: MockAPNsServer) async throws -> String? {
        var request = Curl()
        if let authorization { request.headers.append("authorization: \(authorization)") }
        let answer = try await request.send(to: server)
        #expect((answer.status == 200) == (answer.reason == nil))
        if answer.reason != nil { #expect(answer.status == 403) }
        return answer.reason
    }

    private func token(
        header: String = #"{"alg":"ES256","kid":"MOCKKEYID1"}"#, claims: String, server: MockAPNsServer
    ) throws -> String {
        let pem = try Data(contentsOf: URL(fileURLWithPath: server.providerKeyFile))
        let key = try ES256PrivateKey(pem: Array(pem))
        let parts = [header, claims].map { part in
            let bytes = Array(part.utf8)
            return Base64URL.encode(bytes.span)
        }
        let signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
        let jose = try key.sign(signed.span)
        let signature = Base64URL.encode(jose.span)
        return "bearer " + String(decoding: signed + [UInt8(ascii: ".")] + signature, as: UTF8.self)
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970) }

    @Test("A token of the server's own is accepted, again and again, and in any case of `bearer`")
    func valid() async throws {
        try await withServer {
            $0.providerTokens = .verified
        } _: { server async throws in
            let token = try server.makeProviderToken()
            #expect(try await reason("bearer \(token)", server) == nil)
            #expect(try await reason("bearer \(token)", server) == nil)
            #expect(try await reason("Bearer \(token)", server) == nil)
            #expect(try await reason("bearer " + server.makeProviderToken(issuedAt: now - 3500), server) == nil)
        }
    }

    @Test("The openssl command agrees with the signature of a token of the server's own")
    func foreignVerification() async throws {
        try await withDirectory { directory in
            try await withServer {
                $0.certificateDirectory = directory
            } _: { server async throws in
                let parts = try server.makeProviderToken().split(separator: ".")
                let digits = Array(parts[2].utf8)
                let decoded = Base64URL.decode(digits.span)
                let jose = try #require(decoded)
                try Data(Self.der(jose)).write(to: URL(fileURLWithPath: directory + "/signature"))
                try "\(parts[0]).\(parts[1])".write(toFile: directory + "/signed", atomically: true, encoding: .utf8)
                let verified = try await Command.run(
                    "openssl",
                    [
                        "dgst", "-sha256", "-verify", directory + "/AuthKey.pub.pem", "-signature",
                        directory + "/signature", directory + "/signed",
                    ])
                #expect(verified.text == "Verified OK\n")
            }
        }
    }

    private static func der(_ jose: [UInt8]) -> [UInt8] {
        func integer(_ half: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(half.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        let both = integer(jose[..<32]) + integer(jose[32...])
        return [0x30, UInt8(both.count)] + both
    }

    @Test("No token is MissingProviderToken")
    func missing() async throws {
        try await withServer {
            $0.providerTokens = .verified
        } _: { server async throws in
            #expect(try await reason(nil, server) == "MissingProviderToken")
            #expect(try await reason("basic dXNlcjpwYXNz", server) == "MissingProviderToken")
            #expect(try await reason("bearer", server) == "MissingProviderToken")
        }
    }

    @Test("A token issued more than an hour ago is ExpiredProviderToken")
    func expired() async throws {
        try await withServer {
            $0.providerTokens = .verified
        } _: { server async throws in
            let old = try server.makeProviderToken(issuedAt: now - 3700)
            #expect(try await reason("bearer \(old)", server) == "ExpiredProviderToken")
            #expect(try await reason("bearer \(old)", server) == "ExpiredProviderToken")
            let early = try server.makeProviderToken(issuedAt: now + 3700)
            #expect(try await reason("bearer \(early)", server) == "InvalidProviderToken")
        }
    }

    @Test("A token that is accepted now expires while its connection and its verdict are remembered")
    func expiresLater() async throws {
        try await withServer {
            $0.providerTokens = .verified
        } _: { server async throws in
            let token = try server.makeProviderToken(issuedAt: now - 3598)
            #expect(try await reason("bearer \(token)", server) == nil)
            let deadline = ContinuousClock.now + .seconds(10)
            var last: String?
            while last == nil, ContinuousClock.now < deadline { last = try await reason("bearer \(token)", server) }
            #expect(last == "ExpiredProviderToken")
        }
    }

    @Test("A token that is not the server's, or not in order, is InvalidProviderToken")
    func invalid() async throws {
        try await withServer {
            $0.providerTokens = .verified
        } _: { server async throws in
            let good = try server.makeProviderToken()
            let foreign = try await withServer { try $0.makeProviderToken() }
            let claims = #"{"iss":"MOCKTEAMID","iat":\#(now)}"#
            let bad: [String] = [
                "bearer \(foreign)", "bearer \(good.dropLast(4))", "bearer \(good)x", "bearer x", "bearer a.b.c",
                "bearer \(good.replacingOccurrences(of: ".", with: ".."))",
                try token(header: #"{"alg":"ES256","kid":"OTHERKEYID"}"#, claims: claims, server: server),
                try token(header: #"{"alg":"HS256","kid":"MOCKKEYID1"}"#, claims: claims, server: server),
                try token(header: #"{"alg":"ES256"}"#, claims: claims, server: server),
                try token(claims: #"{"iss":"OTHERTEAMX","iat":\#(now)}"#, server: server),
                try token(claims: #"{"iss":"MOCKTEAMID","iat":"\#(now)"}"#, server: server),
                try token(claims: #"{"iss":"MOCKTEAMID","iat":\#(now).5}"#, server: server),
                try token(claims: #"{"iss":"MOCKTEAMID"}"#, server: server),
                try token(claims: #"{"iss":"MOCKTEAMID","iat":9223372036854775807}"#, server: server),
                try token(claims: "[]", server: server),
            ]
            for authorization in bad { #expect(try await reason(authorization, server) == "InvalidProviderToken") }
            #expect(try await reason(try token(claims: claims, server: server), server) == nil)
        }
    }

    @Test("Where only the form counts, any token of the right form is accepted, whatever its signature and age")
    func wellFormed() async throws {
        try await withServer {
            $0.providerTokens = .wellFormed
        } _: { server async throws in
            let foreign = try await withServer { try $0.makeProviderToken(issuedAt: 1) }
            #expect(try await reason("bearer \(foreign)", server) == nil)
            #expect(try await reason("bearer a.b.c", server) == "InvalidProviderToken")
            #expect(
                try await reason(try token(claims: #"{"iss":"T","iat":"1"}"#, server: server), server)
                    == "InvalidProviderToken")
            #expect(try await reason(nil, server) == "MissingProviderToken")
        }
    }

    @Test("Where tokens do not count, none is needed and any will do")
    func ignored() async throws {
        try await withServer { server async throws in
            #expect(try await reason(nil, server) == nil)
            #expect(try await reason("bearer x", server) == nil)
        }
    }
}

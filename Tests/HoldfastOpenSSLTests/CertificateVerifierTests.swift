import HoldfastOpenSSL
import Testing

@Suite struct CertificateVerifierTests {
    private static let host = SubjectName.dns("api.push.example")

    private let authority: CertificateAuthority
    private let verifier: CertificateVerifier

    init() throws {
        authority = try CertificateAuthority(commonName: "Test authority")
        verifier = try CertificateVerifier(trusting: [authority.certificate])
    }

    private func fault(
        _ names: [SubjectName], as role: CertificateVerifier.Role = .server(host), start: Duration = .seconds(-86_400),
        lifetime: Duration = .seconds(86_400), usage: String = "serverAuth,clientAuth"
    ) throws -> CertificateFault? {
        let issued = try authority.issue(
            commonName: "api.push.example", names: names, start: start, lifetime: lifetime, usage: usage)
        return try verifier.fault(in: [issued.certificate], as: role)
    }

    @Test(
        "A certificate is good for the names that it names, whatever their case, and for one label by an asterisk",
        arguments: [
            ["api.push.example"], ["API.push.Example"], ["*.push.example"], ["other.example", "api.push.example"],
        ])
    func names(_ names: [String]) throws {
        #expect(try fault(names.map { .dns($0) }) == nil)
        #expect(try fault(names.map { .dns($0) }, as: .server(.dns("api.push.example."))) == nil)
    }

    @Test(
        "A certificate is good for no other name",
        arguments: [
            ["push.example"], ["*.example"], ["a.api.push.example"], ["ap*.push.example"], ["api.push.example.org"],
            ["*"],
        ])
    func otherNames(_ names: [String]) throws {
        #expect(try fault(names.map { .dns($0) }) == .otherName(names.map { .dns($0) }))
    }

    @Test("An address in a certificate proves an address, and never a name; nor does a name prove an address")
    func addresses() throws {
        let address = SubjectName.ip("127.0.0.1")
        #expect(try fault([address]) == .otherName([address]))
        #expect(try fault([.ip("::1")]) == .otherName([.ip("::1")]))
        #expect(try fault([address], as: .server(address)) == nil)
        #expect(try fault([.ip("::1")], as: .server(.ip("0:0:0:0:0:0:0:1"))) == nil)
        #expect(try fault([.ip("127.0.0.2")], as: .server(address)) == .otherName([.ip("127.0.0.2")]))
        #expect(try fault([Self.host], as: .server(address)) == .otherName([Self.host]))
        #expect(try fault([address, Self.host]) == nil)
    }

    @Test("Where any name is taken, the rest is checked") func anyName() throws {
        #expect(try fault([.dns("other.example")], as: .server(nil)) == nil)
        let expired = try fault([.dns("other.example")], as: .server(nil), lifetime: .seconds(-60))
        guard case .expired = expired else {
            Issue.record("\(expired as Any)")
            return
        }
    }

    @Test("A common name proves nothing") func commonName() throws {
        // The common name is the one asked for.
        #expect(try fault([.dns("other.example")]) == .otherName([.dns("other.example")]))
    }

    @Test("An empty name is no name, and proves nothing") func emptyName() throws {
        let issued = try authority.issue(commonName: "x", names: [Self.host])
        #expect(throws: OpenSSLError.self) {
            _ = try verifier.fault(in: [issued.certificate], as: .server(.dns("")))
        }
        #expect(throws: OpenSSLError.self) {
            _ = try verifier.fault(in: [issued.certificate], as: .server(.dns(".")))
        }
        #expect(throws: OpenSSLError.self) {
            _ = try verifier.fault(in: [issued.certificate], as: .server(.ip("nowhere")))
        }
    }

    @Test("Dates have words of their own") func dates() throws {
        guard case .expired(let end?, authority: nil) = try fault([Self.host], lifetime: .seconds(-60)) else {
            Issue.record("expected an expired one")
            return
        }
        #expect(end > 1_700_000_000)
        let early = try fault([Self.host], start: .seconds(3600))
        guard case .notYetValid(let start?, authority: nil) = early else {
            Issue.record("\(early as Any)")
            return
        }
        #expect(start > end)
    }

    @Test("What has expired is called expired, also if nobody trusted has signed it") func expiredAndUntrusted() throws
    {
        let stranger = try CertificateAuthority(commonName: "Stranger")
        let issued = try stranger.issue(commonName: "x", names: [Self.host], lifetime: .seconds(-60))
        let fault = try verifier.fault(in: [issued.certificate], as: .server(Self.host))
        guard case .expiredAndUntrusted(let end, let issuer) = fault else {
            Issue.record("\(fault as Any)")
            return
        }
        #expect(end > 1_700_000_000 && issuer?.contains("Stranger") == true)
        let fresh = try stranger.issue(commonName: "x", names: [Self.host])
        guard case .untrusted = try verifier.fault(in: [fresh.certificate], as: .server(Self.host)) else {
            Issue.record("a stranger's certificate is trusted")
            return
        }
    }

    @Test("A certificate is good for what it is for") func purposes() throws {
        #expect(try fault([Self.host], usage: "clientAuth") == .otherPurpose)
        #expect(try fault([Self.host], usage: "serverAuth") == nil)
        #expect(try fault([Self.host], as: .client, usage: "serverAuth") == .otherPurpose)
        #expect(try fault([Self.host], as: .client, usage: "clientAuth") == nil)
    }

    @Test("Only those who are trusted are believed, an authority or just one server") func trust() throws {
        let other = try CertificateAuthority(commonName: "Somebody else")
        let issued = try other.issue(commonName: "x", names: [Self.host])
        #expect(
            try verifier.fault(in: [issued.certificate], as: .server(Self.host))
                == .untrusted(issuer: "CN=Somebody else"))
        #expect(
            try verifier.fault(in: [issued.certificate, other.certificate], as: .server(Self.host))
                == .untrusted(issuer: "CN=Somebody else"))
        let pinned = try CertificateVerifier(trusting: [issued.certificate])
        #expect(try pinned.fault(in: [issued.certificate], as: .server(Self.host)) == nil)
        #expect(try pinned.fault(in: [other.certificate], as: .server(nil)) != nil)
        #expect(try verifier.fault(in: [], as: .server(Self.host)) == .missing)
        let nobody = try CertificateVerifier(trusting: [])
        #expect(try nobody.fault(in: [issued.certificate], as: .server(Self.host)) != nil)
        let system = try CertificateVerifier(trusting: nil)
        #expect(try system.fault(in: [issued.certificate], as: .server(Self.host)) != nil)
    }

    @Test("A certificate of a name that somebody trusted has signed does not sign others") func noAuthority() throws {
        let issued = try authority.issue(commonName: "x", names: [Self.host])
        let forger = try CertificateAuthority(certificatePEM: issued.certificate.pem(), keyPEM: issued.key.pem())
        let forged = try forger.issue(commonName: "x", names: [Self.host])
        let fault = try verifier.fault(in: [forged.certificate, issued.certificate], as: .server(Self.host))
        #expect(fault != nil)
    }

    @Test("Names in certificates come as text") func subjectNames() throws {
        let names: [SubjectName] = [Self.host, .ip("127.0.0.1"), .ip("::1")]
        let issued = try authority.issue(commonName: "Käthe, und andere", names: names)
        #expect(issued.certificate.subjectNames == names)
        #expect(issued.certificate.issuer == "CN=Test authority")
        #expect(issued.certificate.subject == "CN=Käthe\\, und andere")
        #expect(authority.certificate.subjectNames.isEmpty)
    }
}

import Foundation
import HoldfastOpenSSL
import Testing

/// A root, an authority below it, and a client of that one.
@Suite("Revocation lists") struct RevocationTests {
    private let root: CertificateAuthority
    private let below: CertificateAuthority
    private let client: Certificate

    init() throws {
        root = try CertificateAuthority(commonName: "Root", depth: 1)
        below = try root.subordinate(commonName: "Below")
        client = try below.issue(commonName: "sender", names: [.dns("sender.example")]).certificate
    }

    private var chain: [Certificate] { [client, below.certificate] }

    private func fault(
        _ lists: [RevocationList], trusting: [CertificateAuthority]? = nil, chain: [Certificate]? = nil
    ) throws -> CertificateFault? {
        try CertificateVerifier(trusting: (trusting ?? [root]).map(\.certificate), revoked: lists)
            .fault(in: chain ?? self.chain, as: .client)
    }

    @Test("A client is as good as every authority above it is by the list of whoever has signed that one")
    func eachAuthority() throws {
        let (ofRoot, ofBelow) = (try root.revoke([]), try below.revoke([]))
        #expect(try fault([ofRoot, ofBelow]) == nil)
        #expect(try fault([ofRoot, below.revoke([client])]) == .revoked(authority: nil))
        #expect(try fault([root.revoke([below.certificate]), ofBelow]) == .revoked(authority: "CN=Below"))
        #expect(try fault([ofBelow]) == .unlisted(issuer: "CN=Root"))
        #expect(try fault([ofRoot]) == .unlisted(issuer: "CN=Below"))
        #expect(try fault([root.revoke([], lifetime: .seconds(-60)), ofBelow]) == .outdatedList(issuer: "CN=Root"))
        let forged = try CertificateAuthority(commonName: "Root").revoke([])
        #expect(try fault([forged, ofBelow]) == .forgedList(issuer: "CN=Root"))
    }

    @Test("The root takes back an authority below it, although that one is trusted for itself as well")
    func trustedAuthorityTakenBack() throws {
        let lists = [try root.revoke([below.certificate]), try below.revoke([])]
        #expect(try fault(lists, trusting: [root, below], chain: [client]) == .revoked(authority: "CN=Below"))
        #expect(try fault([root.revoke([]), below.revoke([])], trusting: [root, below], chain: [client]) == nil)
    }

    @Test("An authority that is trusted without its root needs a list of its own, and none of the root")
    func trustedAuthorityAlone() throws {
        #expect(try fault([below.revoke([])], trusting: [below]) == nil)
        #expect(try fault([below.revoke([])], trusting: [below], chain: chain + [root.certificate]) == nil)
        #expect(try fault([below.revoke([client])], trusting: [below]) == .revoked(authority: nil))
        #expect(try fault([root.revoke([])], trusting: [below]) == .unlisted(issuer: "CN=Below"))
    }

    @Test("Of two authorities with one name each one's own list counts, in any order")
    func sameName() throws {
        let renewed = try CertificateAuthority(commonName: "Root", depth: 1)
        let other = try renewed.issue(commonName: "other", names: [.dns("other.example")]).certificate
        let first = try root.issue(commonName: "first", names: [.dns("first.example")]).certificate
        for lists in [
            [try root.revoke([]), try renewed.revoke([])], [try renewed.revoke([]), try root.revoke([])],
        ] {
            for one in [other, first] { #expect(try fault(lists, trusting: [root, renewed], chain: [one]) == nil) }
        }
        let lists = [try root.revoke([]), try renewed.revoke([other])]
        #expect(try fault(lists, trusting: [root, renewed], chain: [other]) == .revoked(authority: nil))
        #expect(try fault(lists, trusting: [root, renewed], chain: [first]) == nil)
    }

    @Test("A verdict holds until the first of all certificates and lists of the chain runs out")
    func holdsUntil() throws {
        let now = Int64(Date().timeIntervalSince1970)
        let brief = try root.subordinate(commonName: "Brief", lifetime: .seconds(1000))
        let ofBrief = try brief.issue(commonName: "sender", names: [.dns("sender.example")]).certificate
        let day = Duration.seconds(86_400)
        func seconds(_ chain: [Certificate], _ lists: [RevocationList]?) throws -> Int64? {
            let verifier = try CertificateVerifier(trusting: [root.certificate], revoked: lists)
            guard case .good(let path) = try verifier.verdict(on: chain, as: .client) else { return nil }
            #expect(try path.shown.map { try $0.der() } == chain.map { try $0.der() })
            return path.goodUntil - now
        }
        func isNear(_ seconds: Int64?, _ expected: Int64) -> Bool { abs((seconds ?? 0) - expected) < 60 }

        #expect(isNear(try seconds([ofBrief, brief.certificate], nil), 1000))
        #expect(isNear(try seconds(chain, nil), 397 * 86_400))
        for (root, below) in [(day, day * 2), (day * 2, day)] {
            let lists = [try self.root.revoke([], lifetime: root), try self.below.revoke([], lifetime: below)]
            #expect(isNear(try seconds(chain, lists), 86_400))
        }
    }

    @Test("A delta list, and whatever follows a list in DER, is no list")
    func noList() throws {
        #expect(throws: OpenSSLError.self) { _ = try RevocationList.all(Array(Self.delta.utf8)) }
        let pem = String(decoding: try root.revoke([]).pem(), as: UTF8.self)
        let der = try #require(
            Data(base64Encoded: pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()))
        #expect(try RevocationList.all(Array(der)).count == 1)
        #expect(throws: OpenSSLError.self) { _ = try RevocationList.all(Array(der + der)) }
        #expect(throws: OpenSSLError.self) { _ = try RevocationList.all(Array(der + [10])) }
        #expect(try RevocationList.all(Array((pem + pem).utf8)).count == 2)
    }

    /// By `openssl ca -gencrl` with `2.5.29.27 = critical,DER:020101`.
    private static let delta = """
        -----BEGIN X509 CRL-----
        MIG2MF4CAQEwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEUm9vdBcNMjYxMTI1MDIy
        NzU3WhcNMjYxMjI1MDIyNzU3WqAeMBwwDQYDVR0bAQH/BAMCAQEwCwYDVR0UBAQC
        AhAAMAoGCCqGSM49BAMCA0gAMEUCIQDVEOWJm7DQdsZuZDaBjcc0fFNFroNGCMQy
        Fs65VO9tJQIgSBwF+7npxAKGeagd06i+sW3D2g4gqEMmkm63ItMoUh4=
        -----END X509 CRL-----
        """
}

import Foundation
import HoldfastOpenSSL
import NIOSSL

@testable import Holdfast
@testable import HoldfastGateway

/// An authority with a server's certificate, and clients' certificates as many as are wanted.
struct TestAuthority: Sendable {
    let authority: CertificateAuthority

    init() throws { authority = try CertificateAuthority(commonName: "Test authority") }

    func identity(_ name: String = "server") throws -> ClientCertificate {
        let (certificate, key) = try authority.issue(commonName: name, names: [.ip("127.0.0.1")])
        return .pem(certificates: .bytes(try certificate.pem()), key: .bytes(try key.pem()))
    }

    var trusted: TrustedCertificates {
        get throws { .pem(try authority.certificate.pem()) }
    }

    /// What a client goes by that trusts this authority.
    ///
    /// - Parameter other: who has issued the client's own certificate; nil for a client without one.
    func client(certificateOf other: TestAuthority? = nil, protocols: [String] = ["h2"]) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: authority.certificate.pem(), format: .pem)])
        tls.certificateVerification = .noHostnameVerification
        tls.applicationProtocols = protocols
        if let other {
            let (certificate, key) = try other.authority.issue(commonName: "client", names: [.ip("127.0.0.1")])
            tls.certificateChain = [.certificate(try NIOSSLCertificate(bytes: certificate.pem(), format: .pem))]
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: key.pem(), format: .pem))
        }
        return tls
    }
}

/// A sender's signing key, and tokens made with it.
struct TestSigner: Sendable {
    let key: ES256PrivateKey
    var keyID = "ABC123DEFG"
    var teamID = "DEF123GHIJ"

    init() throws { key = try ES256PrivateKey() }

    func submitter(topics: Set<String>? = nil) throws -> SubmitterKey {
        SubmitterKey(.bytes(try key.pem()), keyID: keyID, teamID: teamID, topics: topics)
    }

    /// An `authorization` header's value.
    ///
    /// - Parameters:
    ///   - age: seconds since `iat`.
    ///   - claims: instead of what belongs there.
    ///   - writes: how the signature is written: as JOSE has it, unless told.
    func authorization(
        age: Int = 0, header: String? = nil, claims: String? = nil, scheme: String = "bearer",
        writes: ([UInt8]) -> [UInt8] = { $0 }
    ) throws -> String {
        let issuedAt = Int(Date().timeIntervalSince1970) - age
        let parts = [
            header ?? #"{"alg":"ES256","kid":"\#(keyID)"}"#, claims ?? #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#,
        ]
        let signed = parts.map { Self.encoded(Array($0.utf8)) }.joined(separator: ".")
        let bytes = Array(signed.utf8)
        let signature = try key.sign(bytes.span)
        return "\(scheme) \(signed).\(Self.encoded(writes(signature)))"
    }

    /// A signature as Java's libraries write it: a DER sequence of two numbers.
    static func der(_ jose: [UInt8]) -> [UInt8] {
        let numbers = [jose.prefix(32), jose.suffix(32)].flatMap { half in
            var number = Array(half.drop { $0 == 0 })
            if number.first ?? 0x80 >= 0x80 { number.insert(0, at: 0) }
            return [0x02, UInt8(number.count)] + number
        }
        return [0x30, UInt8(numbers.count)] + numbers
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        String(decoding: Base64URL.encode(bytes.span), as: UTF8.self)
    }
}

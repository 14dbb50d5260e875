import Testing

@testable import Holdfast
@testable import HoldfastOpenSSL
@testable import HoldfastTransport

@Suite("How a connection's failure is told") struct DialerWordsTests {
    private func dialer(_ host: String) -> Dialer {
        Dialer(
            endpoint: "https://\(host):443", host: host, port: 443, tls: nil, trust: .system, deadline: .seconds(1))
    }

    private func words(_ fault: CertificateFault, host: String) -> ConnectError {
        dialer(host).describe(Dialer.BadCertificate(fault: fault), at: DialedAddress(text: "192.0.2.1:443", watch: nil))
    }

    @Test("A certificate that is not for servers is named as such, and is for somebody to mend") func keyUsage() {
        let error = dialer("svc.example.com").describe(
            handshake:
                "sslError([Error: 268435703 error:100000f7:SSL routines:OPENSSL_internal:KEY_USAGE_BIT_INCORRECT "
                + "at /somewhere/else/ssl_cert.cc:381])")
        #expect(error.kind == .configuration)
        #expect(error.message.contains("its key usage lacks digitalSignature"))
        #expect(!error.message.contains("/somewhere"), "\(error.message)")
    }

    @Test("A failure of TLS is told by its reasons, without the types and numbers of its library") func reasons() {
        let error = dialer("svc.example.com").describe(
            handshake: "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435703 error:100000f7:SSL "
                + "routines:OPENSSL_internal:WRONG_VERSION_NUMBER at /a/tls_record.cc:1]))")
        #expect(
            error.message == "https://svc.example.com:443 does not speak TLS on this port (WRONG_VERSION_NUMBER)",
            "\(error.message)")
    }

    @Test("A server that ends the handshake is told in words, and what to do with it") func ended() {
        let error = dialer("svc.example.com").describe(
            handshake: "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: EOF during handshake]))")
        #expect(
            error.message
                == "TLS with https://svc.example.com:443 failed: the connection ended in the middle of the handshake")
        #expect(error.advice?.contains("firewall") == true)
    }

    @Test("Each fault of a certificate has a next step of its own kind") func advice() {
        let faults: [(CertificateFault, String)] = [
            (.expired(at: 1, authority: nil), "renew"), (.notYetValid(until: 1, authority: nil), "clock"),
            (.otherName([]), "server-name"), (.untrusted(issuer: "x"), "trust"), (.selfSigned, "trust"),
            (.revoked(authority: nil), "whoever runs the service"),
        ]
        for (fault, word) in faults {
            #expect(words(fault, host: "svc.example.com").advice?.contains(word) == true, "\(fault)")
        }
        let unknown = dialer("svc.example.com").describe(handshake: "OPENSSL_internal:TLSV1_ALERT_UNKNOWN_CA")
        #expect(unknown.advice?.contains("client certificate") == true)
    }

    @Test("Places in the sources of others are left out of what nobody knows words for") func places() {
        let error = dialer("svc.example.com").describe(
            handshake: "sslError([Error: 1 one at /a/b.cc:1, Error: 2 two at /c/d-e.cc:22])")
        #expect(error.kind == .temporary)
        #expect(error.message.hasSuffix("sslError([Error: 1 one, Error: 2 two])"), "\(error.message)")
    }

    @Test(
        "A name that looks like the one that is wanted is told apart from it",
        arguments: [
            ("127.0.0.1", SubjectName.dns("127.0.0.1"), #"the address 127.0.0.1, but the host "127.0.0.1""#),
            ("svc.example", .dns("svc.example "), #"the host "svc.example", but the host "svc.example ""#),
            ("svc.example", .dns("svc.example\0.evil"), #"the host "svc.example", but the host "svc.example\0.evil""#),
            ("svc.example", .dns("\u{455}vc.example"), #"the host "svc.example", but the host "\u{0455}vc.example""#),
        ])
    func lookalike(host: String, shown: SubjectName, words expected: String) {
        let error = words(.otherName([shown]), host: host)
        #expect(error.kind == .configuration)
        #expect(error.message.contains("it does not name \(expected)"), "\(error.message)")
    }
}

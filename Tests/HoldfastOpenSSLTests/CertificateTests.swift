import HoldfastOpenSSL
import Testing

@Suite("Certificates for tests")
struct CertificateTests {
    static let localNames: [SubjectName] = [.dns("localhost"), .ip("127.0.0.1"), .ip("::1")]

    @Test("The openssl command trusts a server by its authority, for each of its names, and no other")
    func foreignVerification() throws {
        let authority = try CertificateAuthority(commonName: "Test authority")
        let (certificate, key) = try authority.issue(commonName: "Test server", names: Self.localNames)
        var files = ["ca.pem": try authority.certificate.pem(), "server.pem": try certificate.pem()]
        let verify = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem"]
        for name in [["-verify_hostname", "localhost"], ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"]] {
            let output = try OpenSSLCommand.run(verify + name + ["server.pem"], files: files)
            #expect(output.text == "server.pem: OK\n")
        }
        #expect(
            try OpenSSLCommand.run(verify + ["-verify_hostname", "example.com", "server.pem"], files: files).status != 0
        )
        files["ca.pem"] = try CertificateAuthority(commonName: "Test authority").certificate.pem()
        #expect(try OpenSSLCommand.run(verify + ["server.pem"], files: files).status != 0)
        #expect(certificate.certifies(key))
        #expect(!certificate.certifies(authority.key))
    }

    @Test("The openssl command shows the names and the uses of a server certificate")
    func serverText() throws {
        let authority = try CertificateAuthority(commonName: "Test authority")
        let (certificate, _) = try authority.issue(commonName: "Test server", names: Self.localNames)
        let text = try OpenSSLCommand.run(["x509", "-in", "c", "-noout", "-text"], files: ["c": try certificate.pem()])
            .text
        for part in [
            "Version: 3 (0x2)", "Issuer: CN = Test authority", "Subject: CN = Test server", "CA:FALSE",
            "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1", "TLS Web Server Authentication",
            "Public-Key: (256 bit)", "ecdsa-with-SHA256",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }

    @Test("The openssl command shows an authority as one, good for ten years from yesterday")
    func authorityText() throws {
        let pem = try CertificateAuthority(commonName: "Test authority").certificate.pem()
        let text = try OpenSSLCommand.run(["x509", "-in", "c", "-noout", "-text"], files: ["c": pem]).text
        for part in ["CA:TRUE", "Certificate Sign, CRL Sign", "Issuer: CN = Test authority"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let nineYears = "\(9 * 365 * 86_400)"
        let elevenYears = "\(11 * 365 * 86_400)"
        #expect(
            try OpenSSLCommand.run(["x509", "-in", "c", "-noout", "-checkend", nineYears], files: ["c": pem]).status
                == 0)
        #expect(
            try OpenSSLCommand.run(["x509", "-in", "c", "-noout", "-checkend", elevenYears], files: ["c": pem]).status
                == 1)
    }

    @Test("Two certificates never share a serial number")
    func serials() throws {
        let authority = try CertificateAuthority(commonName: "Test authority")
        var serials: Set<String> = []
        for _ in 0..<20 {
            let pem = try authority.issue(commonName: "Server", names: [.dns("localhost")]).certificate.pem()
            serials.insert(try OpenSSLCommand.run(["x509", "-in", "c", "-noout", "-serial"], files: ["c": pem]).text)
        }
        #expect(serials.count == 20)
    }

    @Test("An authority read from its files issues certificates that the first one's holders trust")
    func reopenedAuthority() throws {
        let authority = try CertificateAuthority(commonName: "Test authority")
        let pem = try authority.certificate.pem()
        let reopened = try CertificateAuthority(certificatePEM: pem, keyPEM: authority.key.pem())
        let certificate = try reopened.issue(commonName: "Server", names: [.dns("localhost")]).certificate
        #expect(certificate.isIssued(by: authority.certificate))
        #expect(try !certificate.isIssued(by: CertificateAuthority(commonName: "Test authority").certificate))
        let other = try ES256PrivateKey().pem()
        #expect(throws: OpenSSLError.self) { try CertificateAuthority(certificatePEM: pem, keyPEM: other) }
    }

    @Test("A certificate knows for how long it is valid, and whom it names")
    func facts() throws {
        let authority = try CertificateAuthority(commonName: "Test authority")
        let certificate = try Certificate(
            pem: authority.issue(commonName: "Server", names: Self.localNames, lifetime: .seconds(3600)).certificate
                .pem())
        #expect(certificate.isValid())
        #expect(certificate.isValid(for: .seconds(3500)))
        #expect(!certificate.isValid(for: .seconds(3700)))
        #expect(
            certificate.names(.dns("localhost")) && certificate.names(.ip("::1")) && certificate.names(.ip("127.0.0.1"))
        )
        #expect(!certificate.names(.dns("Server")) && !certificate.names(.ip("127.0.0.2")))
        let expired = try authority.issue(commonName: "Server", names: Self.localNames, lifetime: .seconds(-60))
        #expect(!expired.certificate.isValid())
    }

    @Test(
        "A name that would break out of the configuration language is refused",
        arguments: [
            SubjectName.dns("a,IP:10.0.0.1"), .dns(""), .dns("a b"), .dns("@section"), .ip("300.1.1.1"), .ip(""),
            .ip("127.0.0.1,DNS:a"), .dns("bücher.example"),
        ])
    func hostileNames(_ name: SubjectName) throws {
        let authority = try CertificateAuthority(commonName: "Test authority")
        #expect(throws: OpenSSLError.self) { try authority.issue(commonName: "Server", names: [name]) }
    }
}

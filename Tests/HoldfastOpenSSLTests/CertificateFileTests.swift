import Foundation
import HoldfastOpenSSL
import Testing

/// Client certificates and their keys, as the `openssl` command writes them.
@Suite("Client certificate files")
struct CertificateFileTests {
    /// A self-signed certificate with its key, both PEM.
    struct Pair {
        var certificate: [UInt8]
        var key: [UInt8]

        init(_ algorithm: [String] = ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], _ more: [String] = []) throws {
            key = try OpenSSLCommand.output(["genpkey", "-quiet", "-algorithm"] + algorithm)
            certificate = try OpenSSLCommand.output(
                ["req", "-x509", "-new", "-key", "k", "-days", "30", "-subj", "/CN=Test"] + more, files: ["k": key])
        }

        /// As `.p12`.
        func bundle(_ passphrase: String, _ options: [String] = []) throws -> [UInt8] {
            let files = ["c": certificate, "k": key]
            return try OpenSSLCommand.outputFile(
                ["pkcs12", "-export", "-in", "c", "-inkey", "k", "-passout", "pass:\(passphrase)", "-out", "out"]
                    + options,
                files: files)
        }
    }

    /// Made once: keys of this kind take their time.
    private static let rsa = Swift.Result { try Pair(["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]) }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    // MARK: .p12

    @Test(
        "A .p12 file is read with today's encryption and with that of old, RC2-40 among it",
        arguments: [
            [], ["-legacy"], ["-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES"],
            ["-certpbe", "NONE", "-keypbe", "NONE"], ["-macalg", "sha1"],
        ])
    func bundles(_ options: [String]) throws {
        let pair = try Self.rsa.get()
        let passphrase = "pass phräse"
        let bundle = try PKCS12Bundle(pair.bundle(passphrase, options), passphrase: Array(passphrase.utf8))
        #expect(bundle.certificates.count == 1)
        #expect(bundle.certificates[0].certifies(bundle.key))
        #expect(try bundle.certificates[0].pem() == Certificate(pem: pair.certificate).pem())
    }

    @Test("A .p12 file without a passphrase needs none given") func noPassphrase() throws {
        for options in [[], ["-legacy"]] {
            let bytes = try Pair().bundle("", options)
            for passphrase in [nil, []] as [[UInt8]?] {
                #expect(try PKCS12Bundle(bytes, passphrase: passphrase).certificates.count == 1)
            }
        }
    }

    @Test("A .p12 file's other certificates stand behind the key's own") func chain() throws {
        let authority = try CertificateAuthority(commonName: "Authority")
        let (certificate, key) = try authority.issue(commonName: "Client", names: [.dns("client.invalid")])
        var pair = try Pair()
        (pair.certificate, pair.key) = (try authority.certificate.pem() + certificate.pem(), try key.pem())
        let bundle = try PKCS12Bundle(pair.bundle("x", ["-legacy"]), passphrase: Array("x".utf8))
        #expect(try bundle.certificates.map { try $0.der() } == [certificate.der(), authority.certificate.der()])
    }

    @Test("A wrong passphrase and a missing one are called that, and neither is told") func wrongPassphrase() throws {
        let pair = try Pair()
        for options in [[], ["-legacy"]] {
            let bytes = try pair.bundle("right-one", options)
            let wrong = message { _ = try PKCS12Bundle(bytes, passphrase: Array("wrong-one".utf8)) }
            #expect(wrong == "the passphrase is not that of this .p12 file")
            let missing = message { _ = try PKCS12Bundle(bytes, passphrase: nil) }
            #expect(missing == "this .p12 file has a passphrase, and none is given")
        }
    }

    @Test("What is no .p12 file, or lacks something, is called what it is") func noBundle() throws {
        let pair = try Pair()
        #expect(message { _ = try PKCS12Bundle([], passphrase: nil) }.contains("empty"))
        #expect(message { _ = try PKCS12Bundle(Array("hello".utf8), passphrase: nil) }.contains("no PKCS#12 file"))
        #expect(
            message { _ = try PKCS12Bundle(pair.certificate, passphrase: nil) }.contains("PEM and holds: certificate"))
        let der = try Certificate(pem: pair.certificate).der()
        #expect(message { _ = try PKCS12Bundle(der, passphrase: nil) }.contains("no PKCS#12 file"))
        let keyless = try pair.bundle("x", ["-nokeys"])
        #expect(message { _ = try PKCS12Bundle(keyless, passphrase: [0x78]) }.contains("no private key"))
        let unchecked = try pair.bundle("x", ["-nomac"])
        #expect(message { _ = try PKCS12Bundle(unchecked, passphrase: [0x78]) }.contains("mac absent"))
        let bare = try OpenSSLCommand.outputFile(
            ["pkcs12", "-export", "-nocerts", "-inkey", "k", "-passout", "pass:x", "-out", "out"],
            files: ["k": pair.key])
        #expect(message { _ = try PKCS12Bundle(bare, passphrase: [0x78]) }.contains("no certificate"))
    }

    @Test("A .p12 file cut off anywhere is an error, and one with any byte changed is one or none, never a crash")
    func damagedBundle() throws {
        let bytes = try Pair().bundle("x", ["-legacy"])
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: OpenSSLError.self) { try PKCS12Bundle(Array(bytes.prefix(count)), passphrase: [0x78]) }
        }
        for index in stride(from: 0, to: bytes.count, by: 5) {
            var changed = bytes
            changed[index] ^= 0x41
            _ = try? PKCS12Bundle(changed, passphrase: [0x78])
        }
    }

    // MARK: PEM keys

    @Test(
        "A private key is read in PKCS#8 and in the traditional form, encrypted or not",
        arguments: [
            ["pkcs8", "-topk8", "-passout", "pass:secret"],
            ["pkcs8", "-topk8", "-v1", "PBE-SHA1-3DES", "-passout", "pass:secret"],
            // Single DES, which OpenSSL has put aside.
            [
                "pkcs8", "-topk8", "-v1", "PBE-MD5-DES", "-provider", "legacy", "-provider", "default", "-passout",
                "pass:secret",
            ],
            ["rsa", "-traditional", "-aes128", "-passout", "pass:secret"],
            ["rsa", "-traditional", "-des3", "-passout", "pass:secret"], ["rsa", "-traditional"],
            ["pkcs8", "-topk8", "-nocrypt"],
        ])
    func keys(_ command: [String]) throws {
        let pair = try Self.rsa.get()
        let pem = try OpenSSLCommand.output(command + ["-in", "k"], files: ["k": pair.key])
        let certificate = try Certificate(pem: pair.certificate)
        #expect(certificate.certifies(try PrivateKey(pem: pem, passphrase: Array("secret".utf8))))
        // In one file with its certificate, whichever comes first.
        for both in [pair.certificate + pem, pem + pair.certificate] {
            #expect(certificate.certifies(try PrivateKey(pem: both, passphrase: Array("secret".utf8))))
            #expect(try Certificate.chain(pem: both).count == 1)
        }
        let isEncrypted = String(decoding: pem, as: UTF8.self).contains("ENCRYPTED")
        guard isEncrypted else { return }
        #expect(
            message { _ = try PrivateKey(pem: pem, passphrase: Array("wrong".utf8)) }.contains("passphrase is not that")
        )
        #expect(message { _ = try PrivateKey(pem: pem, passphrase: nil) }.contains("is encrypted"))
    }

    @Test("An encrypted .p8 key is read with its passphrase") func encryptedSigningKey() throws {
        let key = try ES256PrivateKey()
        let pem = try OpenSSLCommand.output(
            ["pkcs8", "-topk8", "-passout", "pass:secret", "-in", "k"], files: ["k": key.pem()])
        let read = try ES256PrivateKey(pem: pem, passphrase: Array("secret".utf8))
        #expect(try read.publicKey.pem() == key.publicKey.pem())
    }

    @Test("A key that TLS can't sign with is called by its kind") func unusableKey() throws {
        let x25519 = try OpenSSLCommand.output(["genpkey", "-algorithm", "X25519"])
        #expect(message { _ = try PrivateKey(pem: x25519, passphrase: nil) }.contains("X25519 private key"))
    }

    @Test("A key is told from another's certificate") func strangers() throws {
        let (one, other) = (try Pair(), try Pair())
        let key = try PrivateKey(pem: other.key, passphrase: nil)
        #expect(!(try Certificate(pem: one.certificate).certifies(key)))
    }

    // MARK: What a certificate says

    private static func text(_ text: String) -> [UInt8] { [0x0c, UInt8(text.utf8.count)] + Array(text.utf8) }

    /// As Apple writes its extension.
    static func topics(_ topics: [(String, String)]) -> String {
        var content: [UInt8] = []
        for (topic, kind) in topics {
            content += text(topic)
            content += [0x30, UInt8(kind.utf8.count + 2)]
            content += text(kind)
        }
        let bytes: [UInt8] =
            (content.count < 128 ? [0x30, UInt8(content.count)] : [0x30, 0x81, UInt8(content.count)]) + content
        return "1.2.840.113635.100.6.3.6=DER:" + bytes.map { String(format: "%02x", $0) }.joined(separator: ":")
    }

    @Test("Topics and environments are read from Apple's fields") func appleFields() throws {
        let pair = try Pair(
            ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            [
                "-subj", "/UID=com.example.app/CN=Apple Push Services: com.example.app/OU=TEAM/C=US", "-addext",
                "1.2.840.113635.100.6.3.1=DER:05:00", "-addext", "1.2.840.113635.100.6.3.2=DER:05:00", "-addext",
                Self.topics([
                    ("com.example.app", "app"), ("com.example.app.voip", "voip"),
                    ("com.example.app.complication", "complication"),
                ]),
            ])
        let facts = try Certificate(pem: pair.certificate).facts()
        #expect(facts.userID == "com.example.app")
        #expect(facts.listedTopics == ["com.example.app", "com.example.app.voip", "com.example.app.complication"])
        #expect(facts.topics == ["com.example.app", "com.example.app.voip", "com.example.app.complication"])
        #expect(facts.isForSandbox && facts.isForProduction)
        let month = Int64(Date().timeIntervalSince1970) + 30 * 86_400
        #expect(abs(facts.notAfter - month) < 300)
    }

    @Test("An older certificate is good for the topic in its subject; one that says nothing, for what nobody knows")
    func olderFields() throws {
        let older = try Pair(
            ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            ["-subj", "/UID=com.example.app", "-addext", "1.2.840.113635.100.6.3.1=DER:05:00"])
        let facts = try Certificate(pem: older.certificate).facts()
        #expect(facts.topics == ["com.example.app"])
        #expect(facts.isForSandbox && !facts.isForProduction)
        #expect(try Certificate(pem: Pair().certificate).facts().topics == nil)
    }

    @Test(
        "A list of topics that is none is no list, and no crash",
        arguments: ["05:00", "30:03:0c:05:61", "30:84:ff:ff:ff:ff", "30:80", "30", "30:02:0c:7f"])
    func foreignTopics(_ der: String) throws {
        let pair = try Pair(
            ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], ["-addext", "1.2.840.113635.100.6.3.6=DER:\(der)"])
        #expect(try Certificate(pem: pair.certificate).facts().topics == nil)
    }
}

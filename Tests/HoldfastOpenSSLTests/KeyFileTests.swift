import Foundation
import HoldfastOpenSSL
import Testing

@Suite("Key files")
struct KeyFileTests {
    @Test(
        "A P-256 key made by the openssl command is read, in PKCS#8 and in SEC1",
        arguments: [
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            ["ecparam", "-name", "prime256v1", "-genkey", "-noout"],
            ["ecparam", "-name", "prime256v1", "-genkey"],
        ])
    func foreignKeys(_ arguments: [String]) throws {
        let pem = try OpenSSLCommand.output(arguments)
        let key = try ES256PrivateKey(pem: pem)
        let message = Array("message".utf8)
        // Its own public half, as the openssl command sees it, must verify what we signed with it.
        let publicPEM = try OpenSSLCommand.output(["pkey", "-in", "key.pem", "-pubout"], files: ["key.pem": pem])
        let publicKey = try ES256PublicKey(pem: publicPEM)
        #expect(publicKey.accepts(try key.sign(message.span), for: message))
        #expect(try key.publicKey.pem() == publicPEM)
    }

    @Test("Line ends of Windows, a byte-order mark and a missing last line end do no harm")
    func editedFiles() throws {
        let pem = String(decoding: try ES256PrivateKey().pem(), as: UTF8.self)
        let trimmed = pem.trimmingCharacters(in: .newlines)
        for text in [pem.replacingOccurrences(of: "\n", with: "\r\n"), "\u{feff}" + pem, trimmed, "my key:\n" + pem] {
            #expect(throws: Never.self) { try ES256PrivateKey(pem: Array(text.utf8)) }
        }
    }

    @Test("An encrypted key is called encrypted, and nobody is asked for a password")
    func encrypted() throws {
        let pem = try OpenSSLCommand.output([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass", "pass:secret",
        ])
        #expect(message(for: pem).contains("encrypted"))
        let traditional = try OpenSSLCommand.output(
            ["ec", "-in", "key.pem", "-aes128", "-passout", "pass:secret"],
            files: ["key.pem": try ES256PrivateKey().pem()])
        #expect(message(for: traditional).contains("encrypted"))
    }

    @Test("A key of another kind is called by its kind")
    func otherKinds() throws {
        let p384 = try OpenSSLCommand.output(["ecparam", "-name", "secp384r1", "-genkey", "-noout"])
        #expect(message(for: p384).contains("P-384 EC private key"))
        let rsa = try OpenSSLCommand.output([
            "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048",
        ])
        #expect(message(for: rsa).contains("2048-bit RSA private key"))
        let ed25519 = try OpenSSLCommand.output(["genpkey", "-algorithm", "ED25519"])
        #expect(message(for: ed25519).contains("ED25519 private key"))
    }

    @Test("What is not a private key is called by its name")
    func notAKey() throws {
        #expect(message(for: []).contains("empty"))
        #expect(message(for: Array("{\"key\": 1}".utf8)).contains("not PEM"))
        #expect(message(for: [0x30, 0x81, 0x87, 0x02, 0x01, 0x00]).contains("not PEM"))
        #expect(message(for: try ES256PrivateKey().publicKey.pem()).contains("public key"))
        let authority = try CertificateAuthority(commonName: "Test")
        #expect(message(for: try authority.certificate.pem()).contains("certificate"))
        #expect(message(for: [UInt8](repeating: 65, count: 2 << 20)).contains("too many"))
    }

    @Test("A damaged key is called damaged, with OpenSSL's own words")
    func damaged() throws {
        let error = #expect(throws: OpenSSLError.self) {
            try ES256PrivateKey(pem: Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8))
        }
        #expect(error?.what.contains("damaged") == true)
        #expect(error?.openSSL.contains("error:") == true)
    }

    @Test("A key cut off at any byte, or with any byte changed, is an error or a key, never a crash")
    func fuzzed() throws {
        let pem = try ES256PrivateKey().pem()
        for count in 0..<(pem.count - 30) {
            #expect(throws: OpenSSLError.self) { try ES256PrivateKey(pem: Array(pem.prefix(count))) }
        }
        for index in pem.indices {
            var changed = pem
            changed[index] = changed[index] &+ 1
            _ = try? ES256PrivateKey(pem: changed)
        }
    }

    @Test("A private key whose public half is another's is refused")
    func mismatchedHalves() throws {
        // The last 65 bytes of the PKCS#8 form are the public point.
        func der(_ pem: [UInt8]) throws -> [UInt8] {
            let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
            return Array(try #require(Data(base64Encoded: lines.joined())))
        }
        let mixed = try der(ES256PrivateKey().pem()).dropLast(65) + der(ES256PrivateKey().pem()).suffix(65)
        let text = Data(mixed).base64EncodedString(options: .lineLength64Characters)
        let pem = Array("-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n".utf8)
        #expect(message(for: pem).contains("damaged"))
    }

    @Test("A public key of another kind is called by its kind")
    func otherPublicKeys() throws {
        let p384 = try OpenSSLCommand.output(["ecparam", "-name", "secp384r1", "-genkey", "-noout"])
        let pem = try OpenSSLCommand.output(["pkey", "-in", "key.pem", "-pubout"], files: ["key.pem": p384])
        let error = #expect(throws: OpenSSLError.self) { try ES256PublicKey(pem: pem) }
        #expect(error?.what.contains("P-384 EC public key") == true)
        let privateKey = try ES256PrivateKey().pem()
        let other = #expect(throws: OpenSSLError.self) { try ES256PublicKey(pem: privateKey) }
        #expect(other?.what.contains("private key") == true)
    }

    private func message(for pem: [UInt8]) -> String {
        do {
            _ = try ES256PrivateKey(pem: pem)
            return "accepted"
        } catch {
            return error.description
        }
    }
}

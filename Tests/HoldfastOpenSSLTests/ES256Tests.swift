import HoldfastOpenSSL
import Testing

@Suite("ES256")
struct ES256Tests {
    @Test("The openssl command accepts our signatures, and refuses them for another message")
    func foreignVerification() throws {
        let key = try ES256PrivateKey()
        for length in [0, 1, 200, 100_000] {
            let message = [UInt8](repeating: 0x5a, count: length)
            let signature = try key.sign(message.span)
            #expect(signature.count == 64)
            var files = ["key.pem": try key.publicKey.pem(), "signature": derSignature(signature), "message": message]
            let arguments = ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "message"]
            #expect(try OpenSSLCommand.run(arguments, files: files).text == "Verified OK\n")
            files["message"] = message + [0]
            #expect(try OpenSSLCommand.run(arguments, files: files).status == 1)
        }
    }

    @Test("Halves with leading zero bytes keep their 32 bytes, which the openssl command confirms")
    func shortHalves() throws {
        let key = try ES256PrivateKey()
        var seen = 0
        for number in UInt32(0)..<20_000 where seen < 2 {
            let message = Array("\(number)".utf8)
            let signature = try key.sign(message.span)
            guard signature[0] == 0 || signature[32] == 0 else { continue }
            seen += 1
            #expect(key.publicKey.accepts(signature, for: message))
            let files = ["key.pem": try key.publicKey.pem(), "signature": derSignature(signature), "message": message]
            let arguments = ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "message"]
            #expect(try OpenSSLCommand.run(arguments, files: files).text == "Verified OK\n")
        }
        #expect(seen == 2)
    }

    @Test("The signature of RFC 7515 appendix A.3 verifies, and not once a bit of it is turned")
    func rfc7515() throws {
        let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        let key = try ES256PublicKey(pem: publicKeyPEM(x: x, y: y))
        let message = Array(
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
                .utf8)
        let encoded = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        let signature = try #require(Base64URL.decode(encoded))
        #expect(key.accepts(signature, for: message))
        for bit in stride(from: 0, to: 512, by: 7) {
            var damaged = signature
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.accepts(damaged, for: message))
        }
    }

    @Test("The signature of RFC 6979 appendix A.2.5 verifies")
    func rfc6979() throws {
        let key = try ES256PublicKey(
            pem: publicKeyPEM(
                x: bytes(hex: "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"),
                y: bytes(hex: "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
            ))
        let signature = bytes(
            hex: "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
                + "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8")
        #expect(key.accepts(signature, for: Array("sample".utf8)))
        #expect(!key.accepts(signature, for: Array("test".utf8)))
    }

    @Test("A signature of another length, of zeros, or by another key is refused")
    func refusedSignatures() throws {
        let key = try ES256PrivateKey()
        let message = Array("message".utf8)
        let signature = try key.sign(message.span)
        #expect(key.publicKey.accepts(signature, for: message))
        #expect(try !ES256PrivateKey().publicKey.accepts(signature, for: message))
        #expect(!key.publicKey.accepts([UInt8](repeating: 0, count: 64), for: message))
        #expect(!key.publicKey.accepts([UInt8](repeating: 255, count: 64), for: message))
        for count in [0, 1, 63] {
            #expect(!key.publicKey.accepts(Array(signature.prefix(count)), for: message))
        }
        #expect(!key.publicKey.accepts(signature + [0], for: message))
    }

    @Test("A signature written as DER is taken, in the one way that DER has") func derSignatures() throws {
        let key = try ES256PrivateKey()
        let message = Array("message".utf8)
        for _ in 0..<20 {
            let der = derSignature(try key.sign(message.span))
            #expect(key.publicKey.accepts(der, for: message))
            #expect(try !ES256PrivateKey().publicKey.accepts(der, for: message))
            #expect(!key.publicKey.accepts(der, for: Array("another".utf8)))
            #expect(!key.publicKey.accepts(der + [0], for: message))
            #expect(!key.publicKey.accepts(Array(der.dropLast()), for: message))
            // Its length in two bytes, as BER allows.
            #expect(!key.publicKey.accepts([der[0], 0x81] + der[1...], for: message))
        }
    }

    @Test("A key survives export and import, private and public")
    func roundTrip() throws {
        let key = try ES256PrivateKey()
        let exported = try key.pem()
        #expect(String(decoding: exported, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let again = try ES256PrivateKey(pem: exported)
        let message = Array("message".utf8)
        let publicKey = try ES256PublicKey(pem: key.publicKey.pem())
        #expect(publicKey.accepts(try again.sign(message.span), for: message))
    }

    @Test("One key signs and verifies on many threads at a time")
    func manyThreads() async throws {
        let key = try ES256PrivateKey()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let message = Array("message \(task)".utf8)
                    return try (0..<100).allSatisfy { _ in
                        key.publicKey.accepts(try key.sign(message.span), for: message)
                    }
                }
            }
            for try await allVerified in group { #expect(allVerified) }
        }
    }
}

import Foundation
import HoldfastOpenSSL
import Testing

@Suite("RS256")
struct RS256Tests {
    /// One for all: making a key takes a tenth of a second.
    private static let key = Result { try RS256PrivateKey() }

    @Test("A signature is byte for byte the one of the openssl command, which accepts it")
    func foreignSignature() throws {
        let key = try Self.key.get()
        for length in [0, 1, 200, 100_000] {
            let message = [UInt8](repeating: 0x5a, count: length)
            let signature = try key.sign(message.span)
            #expect(signature.count == 256)
            let theirs = try OpenSSLCommand.outputFile(
                ["dgst", "-sha256", "-sign", "key.pem", "-out", "out", "message"],
                files: ["key.pem": try key.pem(), "message": message])
            #expect(signature == theirs)
            var files = ["key.pem": try key.publicKey.pem(), "signature": signature, "message": message]
            let arguments = ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "message"]
            #expect(try OpenSSLCommand.run(arguments, files: files).text == "Verified OK\n")
            files["message"] = message + [0]
            #expect(try OpenSSLCommand.run(arguments, files: files).status == 1)
        }
    }

    /// The public key of RFC 7515 appendix A.2.
    private static let publicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJj
        NiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEz
        P1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo
        9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTB
        EMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxX
        FvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp
        oQIDAQAB
        -----END PUBLIC KEY-----
        """

    @Test("The signature of RFC 7515 appendix A.2 verifies, and not once a bit of it is turned")
    func rfc7515() throws {
        let key = try RS256PublicKey(pem: Array(Self.publicPEM.utf8))
        let message = Array(
            "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
                .utf8)
        let encoded =
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CU"
            + "Ar7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_d"
            + "O--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0ig"
            + "cN_IoypGlUPQGe77Rw"
        let signature = try #require(Base64URL.decode(encoded))
        #expect(key.accepts(signature, for: message))
        #expect(!key.accepts(signature, for: message + [0]))
        for bit in stride(from: 0, to: 2048, by: 31) {
            var damaged = signature
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.accepts(damaged, for: message))
        }
    }

    @Test("A signature of another length, of zeros, or by another key is refused")
    func refusedSignatures() throws {
        let key = try Self.key.get()
        let message = Array("message".utf8)
        let signature = try key.sign(message.span)
        #expect(key.publicKey.accepts(signature, for: message))
        #expect(try !RS256PrivateKey().publicKey.accepts(signature, for: message))
        for forged in [[UInt8](repeating: 0, count: 256), [UInt8](repeating: 255, count: 256), [], signature + [0]] {
            #expect(!key.publicKey.accepts(forged, for: message))
        }
        #expect(!key.publicKey.accepts(signature.dropLast(), for: message))
    }

    @Test("A key made by the openssl command is read, in PKCS#8 and in PKCS#1")
    func foreignKeys() throws {
        let pem = try OpenSSLCommand.output([
            "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048",
        ])
        let old = try OpenSSLCommand.output(["rsa", "-traditional", "-in", "key.pem"], files: ["key.pem": pem])
            .drop { $0 != UInt8(ascii: "-") }
        let publicPEM = try OpenSSLCommand.output(["pkey", "-in", "key.pem", "-pubout"], files: ["key.pem": pem])
        for file in [pem, Array(old)] {
            let key = try RS256PrivateKey(pem: file)
            #expect(try key.publicKey.pem() == publicPEM)
            #expect(try key.publicKey.fingerprint() == RS256PublicKey(pem: publicPEM).fingerprint())
        }
    }

    @Test("A key of another kind, or one that is too short, is called what it is")
    func wrongKeys() throws {
        let curve = try ES256PrivateKey()
        #expect(message { _ = try RS256PrivateKey(pem: try curve.pem()) }.contains("P-256 EC private key"))
        #expect(message { _ = try RS256PublicKey(pem: try curve.publicKey.pem()) }.contains("P-256 EC public key"))
        let short = try OpenSSLCommand.output([
            "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024",
        ])
        #expect(message { _ = try RS256PrivateKey(pem: short) }.contains("1024 bits is too short"))
        #expect(message { _ = try RS256PrivateKey(bits: 1024) }.contains("1024 bits is too short"))
        #expect(message { _ = try RS256PrivateKey(pem: Array("{}".utf8)) }.contains("this is not PEM"))
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }
}

extension RS256PublicKey {
    fileprivate func accepts(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        verify(signature: signature.span, of: message.span)
    }
}

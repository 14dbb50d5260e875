private import CHoldfastOpenSSL

/// A private RSA key for RS256 (RSASSA-PKCS1-v1_5 with SHA-256, RFC 7518 section 3.3), as in Google's service-account files.
package struct RS256PrivateKey: Sendable {
    /// The least bits of a modulus that RS256 allows (RFC 7518 section 3.3).
    package static let leastBits = 2048

    let handle: KeyHandle

    /// A new random key.
    ///
    /// - Parameter bits: of the modulus, at least ``leastBits``.
    package init(bits: Int = leastBits) throws(OpenSSLError) {
        guard bits >= Self.leastBits else { throw OpenSSLError(Self.tooShort(bits)) }
        handle = try .generateRSA(bits: bits)
    }

    /// Reads a PEM file: PKCS#8 (`PRIVATE KEY`, the `private_key` of a service account) or PKCS#1 (`RSA PRIVATE KEY`).
    ///
    /// - Parameter passphrase: for an encrypted key; nil where there is none. Google's are not encrypted.
    /// - Throws: an error that names the actual content when it is no RSA private key of enough bits.
    package init(pem: [UInt8], passphrase: [UInt8]? = nil) throws(OpenSSLError) {
        let wanted = "an RSA private key in PEM"
        let key = try PrivateKey(pem: pem, passphrase: passphrase, wanted: wanted).handle
        guard let bits = key.rsaBits else {
            throw OpenSSLError("this is a \(key.kind) private key; \(wanted) is needed")
        }
        guard bits >= Self.leastBits else { throw OpenSSLError(Self.tooShort(bits)) }
        try key.checkPair()
        handle = key
    }

    private static func tooShort(_ bits: Int) -> String {
        "an RSA key of \(bits) bits is too short: RS256 needs \(leastBits) at least"
    }

    package var publicKey: RS256PublicKey { RS256PublicKey(handle) }

    /// Signs `message` (not its digest).
    ///
    /// - Returns: as many bytes as the modulus has. Two signatures of one message are equal.
    package func sign(_ message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let what = "cannot sign"
        let context = unsafe try check(EVP_MD_CTX_new(), what)
        defer { unsafe EVP_MD_CTX_free(context) }
        unsafe try check(EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer), what)
        var signature = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(handle.pointer)))
        var count = signature.count
        try check(
            unsafe message.withUnsafeBufferPointer { buffer in
                unsafe EVP_DigestSign(context, &signature, &count, buffer.baseAddress, buffer.count)
            }, what)
        return Array(signature.prefix(count))
    }

    /// The key as PKCS#8 PEM, not encrypted: a secret. Write it to files of mode 0600 only.
    package func pem() throws(OpenSSLError) -> [UInt8] { try handle.pem() }
}

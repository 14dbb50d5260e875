private import CHoldfastOpenSSL

/// A private key on P-256 for ES256 (ECDSA with SHA-256, RFC 7518 section 3.4), the content of Apple's `.p8` files.
package struct ES256PrivateKey: Sendable {
    let handle: KeyHandle

    /// A new random key.
    package init() throws(OpenSSLError) {
        handle = try .generateP256()
    }

    /// Reads a PEM file: PKCS#8 (`PRIVATE KEY`, Apple's `.p8`) or SEC1 (`EC PRIVATE KEY`).
    ///
    /// - Parameter passphrase: for an encrypted key; nil where there is none. Apple's are not encrypted.
    /// - Throws: an error that names the actual content when it is no P-256 private key.
    package init(pem: [UInt8], passphrase: [UInt8]? = nil) throws(OpenSSLError) {
        let wanted = "a P-256 private key (a .p8 file) in PEM"
        let key = try PrivateKey(pem: pem, passphrase: passphrase, wanted: wanted).handle
        guard key.isP256 else { throw OpenSSLError("this is a \(key.kind) private key; \(wanted) is needed") }
        try key.checkPair()
        handle = key
    }

    package var publicKey: ES256PublicKey { ES256PublicKey(handle) }

    /// Signs `message` (not its digest).
    ///
    /// - Returns: the 64 bytes r‖s of JOSE (RFC 7515 appendix A.3), each half 32 bytes big-endian. Two signatures of one
    ///   message differ.
    package func sign(_ message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let what = "cannot sign"
        let context = unsafe try check(EVP_MD_CTX_new(), what)
        defer { unsafe EVP_MD_CTX_free(context) }
        unsafe try check(EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer), what)
        // At most 72 bytes for P-256: two integers of at most 33 bytes with 2 bytes before each, and 2 for the sequence.
        var der = [UInt8](repeating: 0, count: 80)
        var count = der.count
        try check(
            unsafe message.withUnsafeBufferPointer { buffer in
                unsafe EVP_DigestSign(context, &der, &count, buffer.baseAddress, buffer.count)
            }, what)
        return try ECDSASignature(der: der.span.extracting(first: count)).jose()
    }

    /// The key as PKCS#8 PEM, not encrypted: a secret. Write it to files of mode 0600 only.
    package func pem() throws(OpenSSLError) -> [UInt8] { try handle.pem() }
}

private import CHoldfastOpenSSL

/// A public RSA key, to verify RS256 signatures with.
package struct RS256PublicKey: Sendable {
    /// May hold the private half as well; nothing here gives that away.
    private let handle: KeyHandle

    init(_ handle: KeyHandle) {
        self.handle = handle
    }

    /// Reads a PEM file (`PUBLIC KEY`).
    ///
    /// - Throws: an error that names the actual content when it is no RSA public key of enough bits.
    package init(pem: [UInt8]) throws(OpenSSLError) {
        let wanted = "an RSA public key in PEM"
        let key = try KeyHandle.publicKey(pem: pem, wanted: wanted)
        guard let bits = key.rsaBits else {
            throw OpenSSLError("this is a \(key.kind) public key; \(wanted) is needed")
        }
        guard bits >= RS256PrivateKey.leastBits else {
            throw OpenSSLError(
                "an RSA key of \(bits) bits is too short: RS256 needs \(RS256PrivateKey.leastBits) at least")
        }
        handle = key
    }

    /// Whether `signature` is the one of `message` by this key. Anything else is false, never an error: the bytes are a
    /// stranger's.
    package func verify(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        // Another party's bytes must leave nothing in the error queue that a later error would report as its own.
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1 else { return false }
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }

    /// SHA-256 of the key's SubjectPublicKeyInfo: 32 bytes that tell one key from all others.
    package func fingerprint() throws(OpenSSLError) -> [UInt8] { try handle.fingerprint() }

    /// The key as SubjectPublicKeyInfo PEM (`PUBLIC KEY`).
    package func pem() throws(OpenSSLError) -> [UInt8] { try handle.publicPEM() }
}

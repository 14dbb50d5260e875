private import CHoldfastOpenSSL

/// A public key on P-256, to verify ES256 signatures with.
package struct ES256PublicKey: Sendable {
    /// May hold the private half as well; nothing here gives that away.
    private let handle: KeyHandle

    init(_ handle: KeyHandle) {
        self.handle = handle
    }

    /// Reads a PEM file (`PUBLIC KEY`).
    ///
    /// - Throws: an error that names the actual content when it is no P-256 public key.
    package init(pem: [UInt8]) throws(OpenSSLError) {
        let wanted = "a P-256 public key in PEM"
        let key = try KeyHandle.publicKey(pem: pem, wanted: wanted)
        guard key.isP256 else { throw OpenSSLError("this is a \(key.kind) public key; \(wanted) is needed") }
        handle = key
    }

    /// Whether `signature` is one of `message` by this key: the 64 bytes r‖s of JOSE, or a DER sequence of both, which some
    /// senders write into their provider tokens (pushy: Java's own signatures). Anything else is false, never an error: the
    /// bytes are a stranger's.
    package func verify(signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        // Another party's bytes must leave nothing in the error queue that a later error would report as its own.
        defer { ERR_clear_error() }
        guard let der = ECDSASignature.der(of: signature),
            let context = unsafe EVP_MD_CTX_new()
        else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1 else { return false }
        return unsafe message.withUnsafeBufferPointer { buffer in
            unsafe EVP_DigestVerify(context, der, der.count, buffer.baseAddress, buffer.count) == 1
        }
    }

    /// SHA-256 of the key's SubjectPublicKeyInfo: 32 bytes that tell one key from all others.
    package func fingerprint() throws(OpenSSLError) -> [UInt8] { try handle.fingerprint() }

    /// The key as SubjectPublicKeyInfo PEM (`PUBLIC KEY`).
    package func pem() throws(OpenSSLError) -> [UInt8] { try handle.publicPEM() }
}

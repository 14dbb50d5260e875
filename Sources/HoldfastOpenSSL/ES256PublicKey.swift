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
        let text = try PEMText(pem.span, expecting: wanted)
        guard text.labels.contains("PUBLIC KEY") else {
            throw OpenSSLError("this PEM holds no public key but: \(text.contents); \(wanted) is needed")
        }
        ERR_clear_error()
        let bio = try MemoryBIO(pem.span.extracting(text.start...))
        let key = unsafe KeyHandle(
            owning: try check(
                PEM_read_bio_PUBKEY(bio.pointer, nil, { _, _, _, _ in -1 }, nil),
                "this PEM block \u{22}PUBLIC KEY\u{22} is damaged; \(wanted) is needed"))
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
    package func fingerprint() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let what = "cannot encode a public key"
        let count = unsafe i2d_PUBKEY(handle.pointer, nil)
        guard count > 0 else { throw .taking(what) }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe i2d_PUBKEY(handle.pointer, &next)
        }
        guard written == count else { throw .taking(what) }
        return try SHA256.digest(bytes.span)
    }

    /// The key as SubjectPublicKeyInfo PEM (`PUBLIC KEY`).
    package func pem() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let bio = try MemoryBIO()
        unsafe try check(PEM_write_bio_PUBKEY(bio.pointer, handle.pointer), "cannot write a public key as PEM")
        return bio.contents()
    }
}

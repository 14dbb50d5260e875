internal import CHoldfastOpenSSL

/// Owns one `EVP_PKEY`.
///
/// Sendable although it holds a pointer: nothing changes the key after `init`, and OpenSSL 3 allows any number of threads
/// to use one unchanging `EVP_PKEY` at a time, each with a context of its own (openssl-threads(7)).
@safe
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// A new random key pair on P-256.
    static func generateP256() throws(OpenSSLError) -> KeyHandle {
        ERR_clear_error()
        let what = "cannot generate a P-256 key"
        let context = unsafe try check(EVP_PKEY_CTX_new_from_name(nil, "EC", nil), what)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe try check(EVP_PKEY_keygen_init(context), what)
        unsafe try check(EVP_PKEY_CTX_set_group_name(context, "P-256"), what)
        var key: OpaquePointer?
        unsafe try check(EVP_PKEY_generate(context, &key), what)
        return unsafe KeyHandle(owning: try check(key, what))
    }

    /// A new random RSA key pair.
    ///
    /// - Parameter bits: of the modulus; 2048 takes some 0.1 s.
    static func generateRSA(bits: Int) throws(OpenSSLError) -> KeyHandle {
        ERR_clear_error()
        let what = "cannot generate an RSA key"
        let context = unsafe try check(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil), what)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe try check(EVP_PKEY_keygen_init(context), what)
        unsafe try check(EVP_PKEY_CTX_set_rsa_keygen_bits(context, CInt(bits)), what)
        var key: OpaquePointer?
        unsafe try check(EVP_PKEY_generate(context, &key), what)
        return unsafe KeyHandle(owning: try check(key, what))
    }

    /// Reads the public key of a PEM file (`PUBLIC KEY`), of any kind.
    static func publicKey(pem: [UInt8], wanted: String) throws(OpenSSLError) -> KeyHandle {
        let text = try PEMText(pem.span, expecting: wanted)
        guard text.labels.contains("PUBLIC KEY") else {
            throw OpenSSLError("this PEM holds no public key but: \(text.contents); \(wanted) is needed")
        }
        ERR_clear_error()
        let bio = try MemoryBIO(pem.span.extracting(text.start...))
        return unsafe KeyHandle(
            owning: try check(
                PEM_read_bio_PUBKEY(bio.pointer, nil, { _, _, _, _ in -1 }, nil),
                "this PEM block \u{22}PUBLIC KEY\u{22} is damaged; \(wanted) is needed"))
    }

    /// Checks that both halves of a private key belong together.
    func checkPair() throws(OpenSSLError) {
        let what = "this \(kind) private key is damaged: its halves do not belong together"
        let context = unsafe try check(EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil), what)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe try check(EVP_PKEY_check(context), what)
    }

    /// SHA-256 of the public half's SubjectPublicKeyInfo: 32 bytes that tell one key from all others.
    func fingerprint() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let what = "cannot encode a public key"
        let count = unsafe i2d_PUBKEY(pointer, nil)
        guard count > 0 else { throw .taking(what) }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe i2d_PUBKEY(pointer, &next)
        }
        guard written == count else { throw .taking(what) }
        return try SHA256.digest(bytes.span)
    }

    /// The public half as SubjectPublicKeyInfo PEM (`PUBLIC KEY`).
    func publicPEM() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let bio = try MemoryBIO()
        unsafe try check(PEM_write_bio_PUBKEY(bio.pointer, pointer), "cannot write a public key as PEM")
        return bio.contents()
    }

    /// OpenSSL's name of the kind: `RSA`, `EC`, `ED25519`.
    var type: String {
        unsafe EVP_PKEY_get0_type_name(pointer).map { name in unsafe String(cString: name) } ?? "unknown"
    }

    /// The key as PKCS#8 PEM, not encrypted: a secret.
    func pem() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let bio = try MemoryBIO()
        unsafe try check(
            PEM_write_bio_PKCS8PrivateKey(bio.pointer, pointer, nil, nil, 0, nil, nil), "cannot write a key as PEM")
        return bio.contents()
    }

    /// `P-256 EC`, `P-384 EC`, `2048-bit RSA`, for messages.
    var kind: String {
        if type == "EC" { return "\(Self.commonName(ofCurve: curve)) EC" }
        return "\(unsafe EVP_PKEY_get_bits(pointer))-bit \(type)"
    }

    /// The bits of an RSA key's modulus; nil for a key of another kind.
    var rsaBits: Int? { unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 ? Int(EVP_PKEY_get_bits(pointer)) : nil }

    var isP256: Bool { unsafe EVP_PKEY_is_a(pointer, "EC") == 1 && curve == "prime256v1" }

    /// OpenSSL's name of the curve; empty when it has none (explicit parameters, or not an EC key).
    private var curve: String {
        var name = [CChar](repeating: 0, count: 80)
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func commonName(ofCurve name: String) -> String {
        switch name {
        case "prime256v1": "P-256"
        case "secp384r1": "P-384"
        case "secp521r1": "P-521"
        case "": "unnamed-curve"
        default: name
        }
    }
}

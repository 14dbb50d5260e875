internal import CHoldfastOpenSSL

/// A private key of any kind, which belongs to a certificate.
package struct PrivateKey: Sendable {
    let handle: KeyHandle

    init(_ handle: KeyHandle) {
        self.handle = handle
    }

    /// The kinds that TLS can sign with here.
    private static let usable: Set = ["RSA", "EC", "ED25519"]

    /// Reads the first private key of a PEM file: PKCS#8, or the traditional forms of RSA and EC keys, encrypted or
    /// not.
    ///
    /// - Parameter passphrase: UTF-8; nil where there is none. Ignored for a key that is not encrypted.
    /// - Throws: an error that names the actual content when it is no private key, or says whether the passphrase is
    ///   wrong or missing.
    package init(pem: [UInt8], passphrase: [UInt8]?) throws(OpenSSLError) {
        try self.init(pem: pem, passphrase: passphrase, wanted: "a private key in PEM")
        let type = handle.type
        guard Self.usable.contains(type) else {
            throw OpenSSLError("this is a \(handle.kind) private key; an RSA, EC or ED25519 one is needed")
        }
    }

    init(pem: [UInt8], passphrase: [UInt8]?, wanted: String) throws(OpenSSLError) {
        let text = try PEMText(pem.span, expecting: wanted)
        guard let block = text.blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
            throw OpenSSLError("this PEM holds no private key but: \(text.contents); \(wanted) is needed")
        }
        var prompt = PassphrasePrompt(passphrase: passphrase)
        if let key = unsafe try Self.read(pem.span.extracting(block.start...), &prompt, in: nil) {
            handle = key
            return
        }
        let failure = OpenSSLError.taking(
            "this PEM block \u{22}\(block.label)\u{22} is damaged; \(wanted) is needed")
        guard prompt.wasAsked || block.label.contains("ENCRYPTED") else { throw failure }
        guard passphrase != nil else {
            throw OpenSSLError(
                "this private key is encrypted; \(wanted), with its passphrase or without one, is needed")
        }
        // Ciphers that OpenSSL's default context lacks: RC2, single DES.
        let old = unsafe try? LegacyContext.with { library throws(OpenSSLError) in
            let key = unsafe try Self.read(pem.span.extracting(block.start...), &prompt, in: library)
            return try key.map { key throws(OpenSSLError) in try PrivateKey(key).copied() }
        }
        ERR_clear_error()
        guard let key = old else {
            throw OpenSSLError("the passphrase is not that of this private key, or the key is damaged")
        }
        self = key
    }

    /// - Parameter library: nil for OpenSSL's usual repertoire.
    /// - Returns: nil where it can't be read; why is in OpenSSL's queue of errors.
    private static func read(
        _ pem: Span<UInt8>, _ prompt: inout PassphrasePrompt, in library: OpaquePointer?
    ) throws(OpenSSLError) -> KeyHandle? {
        ERR_clear_error()
        let bio = try MemoryBIO(pem)
        let read = unsafe withUnsafeMutablePointer(to: &prompt) { prompt in
            unsafe PEM_read_bio_PrivateKey_ex(
                bio.pointer, nil,
                { buffer, size, _, prompt in
                    guard let prompt = unsafe prompt?.assumingMemoryBound(to: PassphrasePrompt.self) else { return -1 }
                    return unsafe prompt.pointee.answer(buffer, size)
                }, prompt, library, nil)
        }
        guard let pointer = unsafe read else { return nil }
        return unsafe KeyHandle(owning: pointer)
    }

    /// The same key, apart from the context that it was read in.
    func copied() throws(OpenSSLError) -> PrivateKey {
        try PrivateKey(pem: try pem(), passphrase: nil, wanted: "a private key")
    }

    /// `P-256 EC`, `2048-bit RSA`, for messages.
    package var kind: String { handle.kind }

    /// The key as PKCS#8 PEM, not encrypted: a secret, for the memory of this process only.
    package func pem() throws(OpenSSLError) -> [UInt8] { try handle.pem() }
}

/// Answers OpenSSL when it asks for a passphrase. Without a callback of ours it would ask on the terminal.
struct PassphrasePrompt {
    let passphrase: [UInt8]?
    private(set) var wasAsked = false

    init(passphrase: [UInt8]?) {
        self.passphrase = passphrase
    }

    mutating func answer(_ buffer: UnsafeMutablePointer<CChar>?, _ size: CInt) -> CInt {
        wasAsked = true
        // -1 is no answer; OpenSSL's buffer has 1024 bytes.
        guard let passphrase, let buffer = unsafe buffer, passphrase.count <= Int(size) else { return -1 }
        for (index, byte) in passphrase.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
        return CInt(passphrase.count)
    }
}

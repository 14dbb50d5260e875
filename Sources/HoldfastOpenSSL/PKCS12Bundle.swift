private import CHoldfastOpenSSL

/// The content of a PKCS#12 file (`.p12`): a private key, its certificate, and the intermediate ones.
package struct PKCS12Bundle: Sendable {
    package let key: PrivateKey
    /// The key's own first, the others in the file's order.
    package let certificates: [Certificate]

    /// The most bytes that are looked at. A bundle has a few thousand.
    static let maximumByteCount = 1 << 20

    /// Reads a file's bytes, whether it is encrypted as today (AES) or as of old (RC2-40, 3DES).
    ///
    /// - Parameter passphrase: UTF-8; nil where there is none.
    /// - Throws: an error that says whether it is no such file, the passphrase is wrong, or something is missing in it.
    package init(_ bytes: [UInt8], passphrase: [UInt8]?) throws(OpenSSLError) {
        guard !bytes.isEmpty else { throw OpenSSLError("the file is empty; a PKCS#12 file (.p12) is needed") }
        guard bytes.count <= Self.maximumByteCount else {
            throw OpenSSLError("\(bytes.count) bytes are too many for a PKCS#12 file (.p12)")
        }
        if let text = try? PEMText(bytes.span, expecting: "") {
            throw OpenSSLError("this is PEM and holds: \(text.contents); a PKCS#12 file (.p12) is needed")
        }
        guard passphrase?.contains(0) != true else { throw OpenSSLError("a passphrase can't have a zero byte") }
        if let parsed = unsafe try Self.parse(bytes, passphrase: passphrase, in: nil) {
            self = parsed
            return
        }
        self = unsafe try LegacyContext.with { library throws(OpenSSLError) in
            guard let parsed = unsafe try Self.parse(bytes, passphrase: passphrase, in: library) else {
                throw .taking("this .p12 file is damaged, or encrypted in an unknown way")
            }
            return try PKCS12Bundle(copying: parsed)
        }
    }

    fileprivate init(key: PrivateKey, certificates: [Certificate]) {
        (self.key, self.certificates) = (key, certificates)
    }

    /// Apart from the context that it was read in.
    private init(copying bundle: PKCS12Bundle) throws(OpenSSLError) {
        key = try bundle.key.copied()
        var certificates: [Certificate] = []
        for certificate in bundle.certificates {
            let der = try certificate.der()
            certificates.append(try Certificate(der: der.span, from: "a certificate of this .p12 file"))
        }
        self.certificates = certificates
    }

    /// - Parameter library: nil for OpenSSL's default context.
    /// - Returns: nil where the content can't be decrypted; OpenSSL's error queue has the reason.
    private static func parse(
        _ bytes: [UInt8], passphrase: [UInt8]?, in library: OpaquePointer?
    ) throws(OpenSSLError) -> PKCS12Bundle? {
        ERR_clear_error()
        let empty = unsafe try check(
            PKCS12_init_ex(NID_pkcs7_data, library, nil), "cannot allocate a PKCS#12 structure")
        let file = unsafe try PKCS12File(bytes.span, into: empty)
        return try file.contents(try file.opening(passphrase))
    }
}

/// Owns one `PKCS12`.
@safe
private struct PKCS12File: ~Copyable {
    private let pointer: OpaquePointer

    /// - Parameter empty: taken over. Its content keeps the context that it was made in.
    init(_ bytes: Span<UInt8>, into empty: OpaquePointer) throws(OpenSSLError) {
        var target: OpaquePointer? = unsafe empty
        let read = unsafe bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe d2i_PKCS12(&target, &next, buffer.count)
        }
        guard let read = unsafe read else {
            // d2i has freed the empty one.
            throw .taking("this is no PKCS#12 file (.p12), or a damaged one")
        }
        unsafe pointer = unsafe read
    }

    deinit { unsafe PKCS12_free(pointer) }

    /// The passphrase in the form that opens the file, with a zero behind it: nothing and the empty one differ here.
    func opening(_ passphrase: [UInt8]?) throws(OpenSSLError) -> [CChar]? {
        let text = (passphrase ?? []).map { CChar(bitPattern: $0) } + [0]
        // Without a checksum of the file, the content decides.
        guard unsafe PKCS12_mac_present(pointer) == 1 else { return text }
        if unsafe PKCS12_verify_mac(pointer, text, CInt(text.count - 1)) == 1 { return text }
        if text.count == 1, unsafe PKCS12_verify_mac(pointer, nil, 0) == 1 { return nil }
        let failure = OpenSSLError.taking("this .p12 file can't be checked")
        guard failure.openSSL.isEmpty || failure.openSSL.contains("mac verify") else { throw failure }
        throw OpenSSLError(
            passphrase == nil
                ? "this .p12 file has a passphrase, and none is given" : "the passphrase is not that of this .p12 file")
    }

    func contents(_ passphrase: [CChar]?) throws(OpenSSLError) -> PKCS12Bundle? {
        ERR_clear_error()
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let result =
            if let passphrase {
                unsafe PKCS12_parse(pointer, passphrase, &key, &certificate, &others)
            } else {
                unsafe PKCS12_parse(pointer, nil, &key, &certificate, &others)
            }
        guard result == 1 else { return nil }
        let handle = unsafe key.map { unsafe KeyHandle(owning: $0) }
        var certificates = unsafe certificate.map { [unsafe Certificate(CertificateHandle(owning: $0))] } ?? []
        let isCertified = !certificates.isEmpty
        unsafe Self.take(others, into: &certificates)
        guard let handle else {
            throw OpenSSLError(
                certificates.isEmpty
                    ? "this .p12 file is empty"
                    : "this .p12 file holds no private key; export the certificate with its key")
        }
        guard isCertified else {
            throw OpenSSLError(
                certificates.isEmpty
                    ? "this .p12 file holds a private key and no certificate"
                    : "no certificate of this .p12 file is that of its private key")
        }
        return PKCS12Bundle(key: PrivateKey(handle), certificates: certificates)
    }

    private static func take(_ stack: OpaquePointer?, into certificates: inout [Certificate]) {
        guard let stack = unsafe stack else { return }
        while let next = unsafe OPENSSL_sk_shift(stack) {
            certificates.append(Certificate(unsafe CertificateHandle(owning: OpaquePointer(next))))
        }
        unsafe OPENSSL_sk_free(stack)
    }
}

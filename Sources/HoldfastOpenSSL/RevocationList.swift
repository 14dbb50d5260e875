private import CHoldfastOpenSSL

/// The certificates that an authority has revoked, as of a day: a CRL of RFC 5280.
package struct RevocationList: Sendable {
    let handle: RevocationListHandle

    /// Unix seconds: when a newer one is due; nil where it does not say.
    package let end: Int64?

    init(_ handle: RevocationListHandle) throws(OpenSSLError) {
        self.handle = handle
        guard unsafe X509_CRL_get_ext_by_NID(handle.pointer, NID_delta_crl, -1) < 0 else {
            throw OpenSSLError(
                """
                it holds a delta list (Delta CRL Indicator), which says only what has changed since another list; whole \
                lists are needed
                """)
        }
        let next = unsafe X509_CRL_get0_nextUpdate(handle.pointer)
        end =
            if unsafe next == nil { nil } else {
                unsafe try unixSeconds(next, "the date of its next update can't be read")
            }
    }

    /// All lists of a PEM file, in its order, or the one of a DER file; at least one.
    package static func all(_ bytes: [UInt8]) throws(OpenSSLError) -> [RevocationList] {
        ERR_clear_error()
        defer { ERR_clear_error() }
        if bytes.first == DERReader.sequence { return [try RevocationList(read(der: bytes.span))] }
        let bio = try MemoryBIO(bytes.span)
        var lists: [RevocationList] = []
        while let list = unsafe PEM_read_bio_X509_CRL(bio.pointer, nil, { _, _, _, _ in -1 }, nil) {
            lists.append(try RevocationList(unsafe RevocationListHandle(owning: list)))
        }
        let isEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        guard isEnd else { throw .taking("a revocation list in it is damaged") }
        guard !lists.isEmpty else { throw OpenSSLError("it holds no revocation list (`X509 CRL`), in PEM or DER") }
        return lists
    }

    private static func read(der: Span<UInt8>) throws(OpenSSLError) -> RevocationListHandle {
        var count = 0
        let handle = unsafe RevocationListHandle(
            owning: try check(
                der.withUnsafeBufferPointer { buffer in
                    var next = buffer.baseAddress
                    let list = unsafe d2i_X509_CRL(nil, &next, buffer.count)
                    if let next = unsafe next, let start = buffer.baseAddress { count = unsafe next - start }
                    return unsafe list
                }, "it is no revocation list, in PEM or DER"))
        guard count == der.count else {
            throw OpenSSLError("more follows a revocation list in DER: several lists have to be in PEM")
        }
        return handle
    }

    /// The name of the authority that has made it, as RFC 2253 writes names.
    package var issuer: String { unsafe Certificate.text(X509_CRL_get_issuer(handle.pointer)) }

    /// Whether it is under the name of the authority that has signed the certificate.
    func isOfIssuer(of certificate: Certificate) -> Bool {
        unsafe X509_NAME_cmp(
            X509_CRL_get_issuer(handle.pointer), X509_get_issuer_name(certificate.handle.pointer)) == 0
    }

    package func pem() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let bio = try MemoryBIO()
        unsafe try check(PEM_write_bio_X509_CRL(bio.pointer, handle.pointer), "cannot write a revocation list as PEM")
        return bio.contents()
    }
}

extension CertificateAuthority {
    /// Takes certificates back: the whole list, good from yesterday.
    ///
    /// - Parameter lifetime: from now on; after it a newer list is wanted.
    package func revoke(
        _ certificates: [Certificate], lifetime: Duration = .seconds(30 * 86_400)
    ) throws(OpenSSLError) -> RevocationList {
        ERR_clear_error()
        let what = "cannot make a revocation list"
        let handle = unsafe RevocationListHandle(owning: try check(X509_CRL_new(), what))
        let list = unsafe handle.pointer
        // 1 stands for version 2.
        unsafe try check(X509_CRL_set_version(list, 1), what)
        unsafe try check(
            X509_CRL_set_issuer_name(list, X509_get_subject_name(certificate.handle.pointer)), what)
        let start = unsafe X509_gmtime_adj(nil, -86_400)
        defer { unsafe ASN1_STRING_free(start) }
        let end = unsafe X509_gmtime_adj(nil, Int(lifetime.components.seconds))
        defer { unsafe ASN1_STRING_free(end) }
        unsafe try check(X509_CRL_set1_lastUpdate(list, start), what)
        unsafe try check(X509_CRL_set1_nextUpdate(list, end), what)
        for revoked in certificates {
            let entry = unsafe try check(X509_REVOKED_new(), what)
            unsafe try check(X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked.handle.pointer)), what)
            unsafe try check(X509_REVOKED_set_revocationDate(entry, start), what)
            unsafe try check(X509_CRL_add0_revoked(list, entry), what)
        }
        guard unsafe X509_CRL_sign(list, key.handle.pointer, EVP_sha256()) > 0 else { throw .taking(what) }
        // Parsed again: libcrypto tells lists apart by data that it notes when it parses them.
        return try RevocationList.all(RevocationList(handle).pem())[0]
    }
}

/// Owns one `X509_CRL`.
///
/// Sendable although it holds a pointer: once built it is only read, which OpenSSL 3 allows from any number of threads.
@safe
final class RevocationListHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe X509_CRL_free(pointer) }
}

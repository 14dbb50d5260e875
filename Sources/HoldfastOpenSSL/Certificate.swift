internal import CHoldfastOpenSSL

/// An X.509 certificate.
package struct Certificate: Sendable {
    let handle: CertificateHandle

    init(_ handle: CertificateHandle) {
        self.handle = handle
    }

    /// Takes a reference of its own.
    init(sharing pointer: OpaquePointer) {
        unsafe X509_up_ref(pointer)
        unsafe handle = CertificateHandle(owning: pointer)
    }

    /// Reads the first certificate of a PEM file.
    package init(pem: [UInt8]) throws(OpenSSLError) {
        handle = try Self.read(pem, atMost: 1)[0].handle
    }

    /// Reads the DER of one certificate; `from` says where it comes from, for messages.
    package init(der: Span<UInt8>, from: String) throws(OpenSSLError) {
        ERR_clear_error()
        handle = unsafe CertificateHandle(
            owning: try check(
                der.withUnsafeBufferPointer { buffer in
                    var next = buffer.baseAddress
                    return unsafe d2i_X509(nil, &next, buffer.count)
                }, "\(from) is damaged"))
    }

    /// The same of an array.
    package init(der: [UInt8], from: String) throws(OpenSSLError) { try self.init(der: der.span, from: from) }

    /// The most certificates that are taken from one file. A chain has two or three.
    package static let greatestChain = 32

    /// All certificates of a PEM file, in its order; at least one.
    package static func chain(pem: [UInt8]) throws(OpenSSLError) -> [Certificate] {
        try read(pem, atMost: greatestChain)
    }

    /// All certificates of a PEM file with authorities, however many; at least one.
    package static func all(pem: [UInt8]) throws(OpenSSLError) -> [Certificate] { try read(pem, atMost: .max) }

    private static func read(_ pem: [UInt8], atMost count: Int) throws(OpenSSLError) -> [Certificate] {
        let wanted = "a certificate in PEM"
        let text = try PEMText(pem.span, expecting: wanted)
        let blocks = text.blocks.filter {
            ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains($0.label)
        }
        guard !blocks.isEmpty else {
            throw OpenSSLError("this PEM holds no certificate but: \(text.contents); \(wanted) is needed")
        }
        var certificates: [Certificate] = []
        for block in blocks.prefix(count) {
            ERR_clear_error()
            let bio = try MemoryBIO(pem.span.extracting(block.start...))
            let handle = unsafe CertificateHandle(
                owning: try check(
                    PEM_read_bio_X509(bio.pointer, nil, { _, _, _, _ in -1 }, nil),
                    "this PEM block \u{22}\(block.label)\u{22} is damaged; \(wanted) is needed"))
            certificates.append(Certificate(handle))
        }
        return certificates
    }

    package func der() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let what = "cannot encode a certificate"
        let count = unsafe i2d_X509(handle.pointer, nil)
        guard count > 0 else { throw .taking(what) }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe i2d_X509(handle.pointer, &next)
        }
        guard written == count else { throw .taking(what) }
        return bytes
    }

    package func pem() throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let bio = try MemoryBIO()
        unsafe try check(PEM_write_bio_X509(bio.pointer, handle.pointer), "cannot write a certificate as PEM")
        return bio.contents()
    }

    /// Whether it is valid now, and will be after `duration` more.
    package func isValid(for duration: Duration = .zero) -> Bool {
        // 0 is an error: a date that cannot be read.
        let started = unsafe X509_cmp_time(X509_get0_notBefore(handle.pointer), nil)
        var until = time(nil) + Int(duration.components.seconds)
        let ends = unsafe X509_cmp_time(X509_get0_notAfter(handle.pointer), &until)
        return started < 0 && ends > 0
    }

    /// Whether `key` is the private half of the key it certifies.
    package func certifies(_ key: ES256PrivateKey) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_private_key(handle.pointer, key.handle.pointer) == 1
    }

    /// Whether `key` is the private half of the key it certifies.
    package func certifies(_ key: PrivateKey) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_private_key(handle.pointer, key.handle.pointer) == 1
    }

    /// Whether `authority` signed it.
    package func isIssued(by authority: Certificate) -> Bool {
        defer { ERR_clear_error() }
        guard unsafe X509_check_issued(authority.handle.pointer, handle.pointer) == X509_V_OK,
            let key = unsafe X509_get0_pubkey(authority.handle.pointer)
        else { return false }
        return unsafe X509_verify(handle.pointer, key) == 1
    }

    /// Whether its subject alternative names contain this host name, or this IP address in text.
    package func names(_ name: SubjectName) -> Bool {
        defer { ERR_clear_error() }
        switch name {
        case .dns(let host):
            return unsafe X509_check_host(
                handle.pointer, host, host.utf8.count, CUnsignedInt(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT), nil) == 1
        case .ip(let address):
            return unsafe X509_check_ip_asc(handle.pointer, address, 0) == 1
        }
    }
}

/// A name that a certificate is issued for: an entry of its subject alternative names.
package enum SubjectName: Hashable, Sendable {
    case dns(String)
    /// IPv4 with dots, or IPv6 with colons.
    case ip(String)

    /// The form of OpenSSL's configuration language. That language has commas and sections, hence the check.
    func configurationValue() throws(OpenSSLError) -> String {
        switch self {
        case .dns(let host):
            let isName = host.utf8.allSatisfy { byte in
                Character(UnicodeScalar(byte)).isLetter && byte < 128 || (48...57).contains(byte)
                    || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "*")
            }
            guard isName, (1...253).contains(host.utf8.count) else {
                throw OpenSSLError("\u{22}\(host)\u{22} is not a host name")
            }
            return "DNS:\(host)"
        case .ip(let address):
            let isAddress = address.utf8.allSatisfy { byte in
                Character(UnicodeScalar(byte)).isHexDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
            }
            guard isAddress, !address.isEmpty else { throw OpenSSLError("\u{22}\(address)\u{22} is not an IP address") }
            return "IP:\(address)"
        }
    }
}

/// Owns one `X509`.
///
/// Sendable although it holds a pointer: once built it is only read, which OpenSSL 3 allows from any number of threads
/// (its caches inside are locked).
@safe
final class CertificateHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe X509_free(pointer) }
}

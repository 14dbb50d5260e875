private import CHoldfastOpenSSL
private import HoldfastPlatform

/// The subject of a certificate, and its issuer.
extension Certificate {
    /// The subject, as RFC 2253 writes names: `CN=api.push.apple.com,O=Apple Inc.`
    package var subject: String { unsafe Self.text(X509_get_subject_name(handle.pointer)) }

    /// The issuer, in the same form as the subject.
    package var issuer: String { unsafe Self.text(X509_get_issuer_name(handle.pointer)) }

    /// The first common name of the subject; nil where it has none.
    package var commonName: String? { subjectText(NID_commonName) }

    static func text(_ name: OpaquePointer?) -> String {
        defer { ERR_clear_error() }
        guard let bio = try? MemoryBIO() else { return "" }
        guard unsafe X509_NAME_print_ex(bio.pointer, name, 0, HoldfastNameFormat) >= 0 else { return "" }
        return String(decoding: bio.contents(), as: UTF8.self)
    }

    /// The host names and addresses among its subject alternative names, in its order.
    package var subjectNames: [SubjectName] {
        defer { ERR_clear_error() }
        guard let list = unsafe X509_get_ext_d2i(handle.pointer, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(list)
        defer { unsafe GENERAL_NAMES_free(names) }
        var found: [SubjectName] = []
        for index in 0..<max(unsafe OPENSSL_sk_num(names), 0) {
            guard let item = unsafe OPENSSL_sk_value(names, index) else { continue }
            var kind: CInt = 0
            guard
                let value = unsafe GENERAL_NAME_get0_value(
                    item.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
            else { continue }
            let bytes = unsafe Self.bytes(value.assumingMemoryBound(to: ASN1_STRING.self), isString: kind)
            switch kind {
            case GEN_DNS: found.append(.dns(String(decoding: bytes, as: UTF8.self)))
            case GEN_IPADD: if let address = Self.address(bytes) { found.append(.ip(address)) }
            default: break
            }
        }
        return found
    }

    /// The names that are strings; empty for the others.
    private static func bytes(_ value: UnsafePointer<ASN1_STRING>, isString kind: CInt) -> [UInt8] {
        guard [GEN_DNS, GEN_IPADD].contains(kind), let start = unsafe ASN1_STRING_get0_data(value) else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(value))))
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        let family =
            switch bytes.count {
            case 4: AF_INET
            case 16: AF_INET6
            default: AF_UNSPEC
            }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard family != AF_UNSPEC, unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else {
            return nil
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SubjectName: CustomStringConvertible {
    package var description: String {
        switch self {
        case .dns(let name): name
        case .ip(let address): address
        }
    }
}

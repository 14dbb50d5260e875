internal import CHoldfastOpenSSL

/// The facts in an Apple push certificate.
package struct CertificateFacts: Hashable, Sendable {
    /// The subject's user identifier: the app's topic.
    package var userID: String?
    /// Apple's extension 1.2.840.113635.100.6.3.6: all topics that it is good for, in its order.
    package var listedTopics: [String]
    /// Apple's extension 1.2.840.113635.100.6.3.1: good for the sandbox.
    package var isForSandbox: Bool
    /// Apple's extension 1.2.840.113635.100.6.3.2: good for production.
    package var isForProduction: Bool
    /// Unix seconds.
    package var notBefore: Int64
    /// Unix seconds: the last second at which it is good.
    package var notAfter: Int64

    /// The topics that it is good for; nil where it does not say, as certificates that are not Apple's.
    package var topics: Set<String>? {
        guard listedTopics.isEmpty else { return Set(listedTopics).union(userID.map { [$0] } ?? []) }
        return userID.map { [$0] }
    }
}

extension Certificate {
    private enum AppleExtension {
        static let sandbox = "1.2.840.113635.100.6.3.1"
        static let production = "1.2.840.113635.100.6.3.2"
        static let topics = "1.2.840.113635.100.6.3.6"
    }

    /// - Throws: where a date can't be read.
    package func facts() throws(OpenSSLError) -> CertificateFacts {
        defer { ERR_clear_error() }
        let date = "a date of this certificate can't be read"
        let topics = extensionValue(AppleExtension.topics).map { Self.topics(inExtension: $0) } ?? []
        return CertificateFacts(
            userID: subjectText(NID_userId), listedTopics: topics,
            isForSandbox: extensionValue(AppleExtension.sandbox) != nil,
            isForProduction: extensionValue(AppleExtension.production) != nil,
            notBefore: unsafe try unixSeconds(X509_get0_notBefore(handle.pointer), date),
            notAfter: unsafe try unixSeconds(X509_get0_notAfter(handle.pointer), date))
    }

    /// The first value of this kind in the subject's name, as UTF-8.
    func subjectText(_ nid: CInt) -> String? {
        let name = unsafe X509_get_subject_name(handle.pointer)
        let index = unsafe X509_NAME_get_index_by_NID(name, nid, -1)
        guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index) else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let count = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
        guard count >= 0, let text = unsafe text else { return nil }
        defer { unsafe CRYPTO_free(text, #file, 0) }
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
    }

    /// The content of the extension with this object identifier; nil where there is none.
    private func extensionValue(_ identifier: String) -> [UInt8]? {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        let index = unsafe X509_get_ext_by_OBJ(handle.pointer, object, -1)
        guard index >= 0, let found = unsafe X509_get_ext(handle.pointer, index),
            let value = unsafe X509_EXTENSION_get_data(found)
        else { return nil }
        let count = Int(unsafe ASN1_STRING_length(value))
        guard count > 0, let bytes = unsafe ASN1_STRING_get0_data(value) else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Apple's list of topics: a SEQUENCE in which texts (a topic) and SEQUENCEs (its uses: `app`, `voip`,
    /// `complication`) alternate. Any other element ends the list.
    static func topics(inExtension value: [UInt8]) -> [String] {
        var outer = DERReader(value[...])
        guard let list = outer.next(), list.tag == DERReader.sequence else { return [] }
        var topics: [String] = []
        var items = DERReader(list.content)
        while let item = items.next() {
            if DERReader.texts.contains(item.tag) { topics.append(String(decoding: item.content, as: UTF8.self)) }
        }
        return topics
    }
}

/// - Parameter what: the name of the date, for the error where it can't be read.
func unixSeconds(_ date: UnsafePointer<ASN1_TIME>?, _ what: String) throws(OpenSSLError) -> Int64 {
    var parts = unsafe tm()
    try check(unsafe ASN1_TIME_to_tm(date, &parts), what)
    return Int64(unsafe timegm(&parts))
}

/// The elements of a piece of DER (X.690), one after the other. Bytes that are none end it.
struct DERReader {
    static let sequence: UInt8 = 0x30
    /// UTF8String, PrintableString, IA5String.
    static let texts: Set<UInt8> = [0x0c, 0x13, 0x16]

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func next() -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            let digits = Int(first & 0x7f)
            // Four bytes of length are four gigabytes.
            guard (1...4).contains(digits), rest.count >= digits else { return nil }
            count = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(digits)
        }
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return (tag, rest.prefix(count))
    }
}

import HoldfastOpenSSL

// `#expect` cannot take a span apart, so the tests call the same with arrays.

extension ES256PublicKey {
    func accepts(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        verify(signature: signature.span, of: message.span)
    }
}

extension Base64URL {
    static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }

    static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        return decode(digits.span)
    }
}

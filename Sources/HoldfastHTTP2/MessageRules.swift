/// Checks whether a message of valid fields (``HeaderField/Kind``) is well-formed (RFC 9113 §8.1.1, §8.3).
enum MessageRules {
    struct ResponseHead {
        var status: Int
        var contentLength: Int?
    }

    struct RequestHead {
        var contentLength: Int?
    }

    /// - Returns: nil when the fields do not make a response.
    static func responseHead(_ headers: HeaderList) -> ResponseHead? {
        var status: Int?
        var contentLength: Int?
        var isRegular = false
        let bytes = headers.bytes.span
        for field in headers.fields {
            switch field.kind {
            case .status:
                guard !isRegular, status == nil, field.value.count == 3 else { return nil }
                status = number(bytes.extracting(field.value))
                if status == nil { return nil }
            case .contentLength:
                isRegular = true
                guard take(bytes.extracting(field.value), &contentLength) else { return nil }
            case .regular: isRegular = true
            case .method, .scheme, .path, .authority, .unknownPseudo, .malformed: return nil
            }
        }
        guard let status, status >= 100 else { return nil }
        return ResponseHead(status: status, contentLength: contentLength)
    }

    /// - Returns: nil when the fields do not make a request. CONNECT is none here.
    static func requestHead(_ headers: HeaderList) -> RequestHead? {
        var seen = 0
        var contentLength: Int?
        var isRegular = false
        let bytes = headers.bytes.span
        let fields = headers.fields.span
        for index in fields.indices {
            let field = fields[index]
            let bit: Int
            switch field.kind {
            case .method: bit = 1
            case .scheme: bit = 2
            case .path: bit = 4
            case .authority: bit = 8
            case .contentLength:
                isRegular = true
                guard take(bytes.extracting(field.value), &contentLength) else { return nil }
                continue
            case .regular:
                isRegular = true
                continue
            case .status, .unknownPseudo, .malformed: return nil
            }
            guard !isRegular, seen & bit == 0, field.kind == .authority || !field.value.isEmpty else { return nil }
            seen |= bit
        }
        return seen & 7 == 7 ? RequestHead(contentLength: contentLength) : nil
    }

    static func areTrailers(_ headers: HeaderList) -> Bool {
        headers.fields.allSatisfy { $0.kind == .regular || $0.kind == .contentLength }
    }

    /// Takes over a `content-length`; several must agree.
    private static func take(_ value: Span<UInt8>, _ contentLength: inout Int?) -> Bool {
        guard let length = number(value), contentLength == nil || contentLength == length else { return false }
        contentLength = length
        return true
    }

    /// Decimal digits and nothing else.
    private static func number(_ digits: Span<UInt8>) -> Int? {
        guard (1...18).contains(digits.count) else { return nil }
        var number = 0
        for index in digits.indices {
            let digit = digits[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            number = number &* 10 &+ Int(digit)
        }
        return number
    }
}

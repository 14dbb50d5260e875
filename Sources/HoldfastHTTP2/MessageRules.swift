import NIOHPACK

/// What makes a message well-formed (RFC 9113 §8.1.1, §8.2, §8.3).
enum MessageRules {
    struct ResponseHead {
        var status: Int
        var contentLength: Int?
    }

    struct RequestHead {
        var contentLength: Int?
    }

    /// - Returns: nil when the fields do not make a response.
    static func responseHead(_ headers: HPACKHeaders) -> ResponseHead? {
        var status: Int?
        var contentLength: Int?
        var isRegular = false
        for (name, value, _) in headers {
            switch kind(of: name, value) {
            case .malformed: return nil
            case .pseudo:
                guard !isRegular, name == ":status", status == nil, value.utf8.count == 3 else { return nil }
                status = number(value)
                if status == nil { return nil }
            case .contentLength:
                isRegular = true
                guard take(value, &contentLength) else { return nil }
            case .regular: isRegular = true
            }
        }
        guard let status, status >= 100 else { return nil }
        return ResponseHead(status: status, contentLength: contentLength)
    }

    /// - Returns: nil when the fields do not make a request. CONNECT is none here.
    static func requestHead(_ headers: HPACKHeaders) -> RequestHead? {
        var seen = 0
        var contentLength: Int?
        var isRegular = false
        for (name, value, _) in headers {
            switch kind(of: name, value) {
            case .malformed: return nil
            case .pseudo:
                guard !isRegular, let bit = requestPseudoHeader(name), seen & bit == 0 else { return nil }
                if name != ":authority", value.isEmpty { return nil }
                seen |= bit
            case .contentLength:
                isRegular = true
                guard take(value, &contentLength) else { return nil }
            case .regular: isRegular = true
            }
        }
        return seen & 7 == 7 ? RequestHead(contentLength: contentLength) : nil
    }

    private static func requestPseudoHeader(_ name: String) -> Int? {
        switch name {
        case ":method": 1
        case ":scheme": 2
        case ":path": 4
        case ":authority": 8
        default: nil
        }
    }

    static func areTrailers(_ headers: HPACKHeaders) -> Bool {
        headers.allSatisfy { name, value, _ in
            switch kind(of: name, value) {
            case .regular, .contentLength: true
            case .pseudo, .malformed: false
            }
        }
    }

    private enum Kind { case pseudo, contentLength, regular, malformed }

    private static func kind(of name: String, _ value: String) -> Kind {
        guard isValue(value.utf8.span) else { return .malformed }
        let bytes = name.utf8.span
        guard !bytes.isEmpty else { return .malformed }
        if bytes[0] == UInt8(ascii: ":") { return .pseudo }
        guard isName(bytes) else { return .malformed }
        switch bytes.count {
        case 2: return name == "te" && value != "trailers" ? .malformed : .regular
        case 7: return name == "upgrade" ? .malformed : .regular
        case 10: return name == "connection" || name == "keep-alive" ? .malformed : .regular
        case 14: return name == "content-length" ? .contentLength : .regular
        case 16: return name == "proxy-connection" ? .malformed : .regular
        case 17: return name == "transfer-encoding" ? .malformed : .regular
        default: return .regular
        }
    }

    /// Lower case, and none of what §8.2.1 forbids in a name.
    private static func isName(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte <= 0x20 || byte >= 0x7f || byte == UInt8(ascii: ":") || (byte >= 0x41 && byte <= 0x5a) {
                return false
            }
        }
        return true
    }

    /// No NUL, LF or CR anywhere, no blank at either end (§8.2.1).
    private static func isValue(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return true }
        // The smallest byte tells for nearly all values, and is found many bytes at a time.
        var smallest = UInt8.max
        for index in bytes.indices { smallest = min(smallest, bytes[index]) }
        if smallest <= 13 {
            for index in bytes.indices where bytes[index] == 0 || bytes[index] == 10 || bytes[index] == 13 {
                return false
            }
        }
        return !isBlank(bytes[0]) && !isBlank(bytes[bytes.count - 1])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Takes over a `content-length`; several must agree.
    private static func take(_ value: String, _ contentLength: inout Int?) -> Bool {
        guard let length = number(value), contentLength == nil || contentLength == length else { return false }
        contentLength = length
        return true
    }

    /// Decimal digits and nothing else.
    private static func number(_ digits: String) -> Int? {
        guard (1...18).contains(digits.utf8.count) else { return nil }
        var number = 0
        for digit in digits.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

/// A place in JSON text. The bytes come in with each call, so that nothing borrowed is kept.
struct JSONCursor {
    var position: Int
    let end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    func fault(_ reason: JSONFault.Reason) -> JSONFault { JSONFault(reason, at: position) }

    @inline(__always)
    mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < end {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
            default: return
            }
        }
    }

    mutating func expectEnd(_ bytes: Span<UInt8>) throws(JSONFault) {
        skipSpace(bytes)
        guard position == end else { throw fault(.trailingBytes) }
    }

    /// Moves past one value, checking all of it.
    ///
    /// - Parameter depth: how many arrays and objects are open around it.
    mutating func skipValue(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        // One bit for each open container, the innermost lowest: 1 for an object.
        var isObject: UInt128 = 0
        var open = 0
        while true {
            skipSpace(bytes)
            guard position < end else { throw fault(.endOfInput) }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                try skipString(bytes)
            case UInt8(ascii: "{"):
                guard depth + open < JSONScanner.maximumDepth else { throw fault(.tooDeep) }
                position &+= 1
                if try !skipClose(bytes, UInt8(ascii: "}")) {
                    isObject = isObject &<< 1 | 1
                    open &+= 1
                    try skipName(bytes)
                    continue
                }
            case UInt8(ascii: "["):
                guard depth + open < JSONScanner.maximumDepth else { throw fault(.tooDeep) }
                position &+= 1
                if try !skipClose(bytes, UInt8(ascii: "]")) {
                    isObject = isObject &<< 1
                    open &+= 1
                    continue
                }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try skipNumber(bytes)
            case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
                try skipLiteral(bytes)
            default:
                throw fault(.unexpectedByte)
            }
            // A value has ended: close what ends here, up to a comma or the outermost value.
            while true {
                if open == 0 { return }
                skipSpace(bytes)
                guard position < end else { throw fault(.endOfInput) }
                let byte = bytes[position]
                if byte == UInt8(ascii: ",") {
                    position &+= 1
                    if isObject & 1 == 1 { try skipName(bytes) }
                    break
                }
                guard byte == (isObject & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw fault(.expectedCommaOrEnd)
                }
                position &+= 1
                isObject = isObject &>> 1
                open &-= 1
            }
        }
    }

    /// Moves past `close` if it comes next.
    private mutating func skipClose(_ bytes: Span<UInt8>, _ close: UInt8) throws(JSONFault) -> Bool {
        skipSpace(bytes)
        guard position < end else { throw fault(.endOfInput) }
        guard bytes[position] == close else { return false }
        position &+= 1
        return true
    }

    /// Moves past a name and its colon.
    ///
    /// - Returns: where the name is written, with its quotation marks.
    @discardableResult
    mutating func skipName(_ bytes: Span<UInt8>) throws(JSONFault) -> Range<Int> {
        skipSpace(bytes)
        guard position < end else { throw fault(.endOfInput) }
        guard bytes[position] == UInt8(ascii: "\"") else { throw fault(.expectedName) }
        let start = position
        try skipString(bytes)
        let name = start..<position
        skipSpace(bytes)
        guard position < end else { throw fault(.endOfInput) }
        guard bytes[position] == UInt8(ascii: ":") else { throw fault(.expectedColon) }
        position &+= 1
        return name
    }

    private mutating func skipLiteral(_ bytes: Span<UInt8>) throws(JSONFault) {
        switch bytes[position] {
        case UInt8(ascii: "t"): try skip("true", bytes)
        case UInt8(ascii: "f"): try skip("false", bytes)
        default: try skip("null", bytes)
        }
    }

    private mutating func skip(_ literal: String, _ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        for expected in literal.utf8 {
            guard position < end else { throw fault(.endOfInput) }
            guard bytes[position] == expected else { throw JSONFault(.invalidLiteral, at: start) }
            position &+= 1
        }
    }

    private mutating func skipNumber(_ bytes: Span<UInt8>) throws(JSONFault) {
        if bytes[position] == UInt8(ascii: "-") { position &+= 1 }
        if position < end, bytes[position] == UInt8(ascii: "0") {
            position &+= 1
            if position < end, Self.isDigit(bytes[position]) { throw fault(.invalidNumber) }
        } else {
            try skipDigits(bytes)
        }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position &+= 1
            try skipDigits(bytes)
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            if position < end, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position &+= 1
            }
            try skipDigits(bytes)
        }
    }

    /// Moves past one digit or more.
    private mutating func skipDigits(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        while position < end, Self.isDigit(bytes[position]) { position &+= 1 }
        guard position > start else { throw fault(position < end ? .invalidNumber : .endOfInput) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

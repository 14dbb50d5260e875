/// The `apns-id` of a notification: a UUID that the service echoes in its answer.
///
/// Every attempt to send a notification carries the same one. It serves to correlate; nothing promises that the service
/// drops duplicates by it.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    package let high: UInt64
    /// The last eight bytes, big-endian.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A random (version 4) UUID.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// A random (version 4) UUID from a generator of your choice.
    public init(using generator: inout some RandomNumberGenerator) {
        high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Parses the canonical form, `123e4567-e89b-12d3-a456-4266554400a0`, in either case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var position = 0
        for byte in text.utf8 {
            switch position {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard position < 36, let digit = Hex.value(of: byte) else { return nil }
                if position < 18 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
            }
            position += 1
        }
        guard position == 36 else { return nil }
        self.high = high
        self.low = low
    }

    /// The canonical form, in lower case, 36 characters.
    public var description: String {
        String(expectedByteCount: 36) { output in appendCanonical(to: &output) }
    }

    /// Appends the 36 bytes of the canonical form.
    package func appendCanonical(to output: inout [UInt8]) {
        let (first, second) = (Hex.digits(of: UInt32(high &>> 32)), Hex.digits(of: UInt32(truncatingIfNeeded: high)))
        let (third, last) = (Hex.digits(of: UInt32(low &>> 32)), Hex.digits(of: UInt32(truncatingIfNeeded: low)))
        output.append(addingCapacity: 36) { text in
            Hex.append(first, to: &text)
            text.append(UInt8(ascii: "-"))
            Hex.append(second, count: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            Hex.append(second &<< 32, count: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            Hex.append(third, count: 4, to: &text)
            text.append(UInt8(ascii: "-"))
            Hex.append(third &<< 32, count: 4, to: &text)
            Hex.append(last, to: &text)
        }
    }
}

extension String {
    /// A string of what `body` appends.
    init(expectedByteCount capacity: Int, _ body: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(capacity)
        body(&bytes)
        self.init(decoding: bytes, as: UTF8.self)
    }
}
